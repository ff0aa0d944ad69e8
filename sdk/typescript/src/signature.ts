/** Signatures of Standard Webhooks, as the server makes them. */
import { createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = "whsec_";
const VERSION = "v1,";
/** The server makes keys of 24 to 64 bytes. */
const KEY_BYTES = [24, 64] as const;

/** Keys as they are given: one, several with spaces between them, or a list. */
export function keysOf(given: string | readonly string[]): Buffer[] {
  const words = [given].flat().flatMap((text) => text.split(/\s+/)).filter((text) => text !== "");
  if (words.length === 0) throw new Error("there is no signing key");
  return words.map((word) => {
    const key = Buffer.from(word.startsWith(PREFIX) ? word.slice(PREFIX.length) : "", "base64");
    const [least, most] = KEY_BYTES;
    if (key.length < least || key.length > most) {
      throw new Error(`a signing key is \`${PREFIX}\` and ${least} to ${most} bytes in base64`);
    }
    return key;
  });
}

/** Why a request was not signed by the holder of one of the keys, or nothing. */
export function refusal(headers: Headers, body: Uint8Array, keys: readonly Buffer[], toleranceMs: number): string | undefined {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature");
  if (id === null || timestamp === null || signatures === null) return "it is not signed";
  const age = Math.abs(Date.now() - Number(timestamp) * 1_000);
  if (!(age <= toleranceMs)) return "it was signed at another time";
  const given = signatures.split(" ").flatMap((one) => (one.startsWith(VERSION) ? [Buffer.from(one.slice(VERSION.length), "base64")] : []));
  const isGood = keys.some((key) => {
    const right = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
    return given.some((one) => one.length === right.length && timingSafeEqual(one, right));
  });
  return isGood ? undefined : "it was signed with another key";
}
