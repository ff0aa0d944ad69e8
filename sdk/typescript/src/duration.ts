/** Lengths of time, as users write them and as the API takes them. */

/** Milliseconds, or text such as `30s`, `2d 4h` or `PT30M`. */
export type Duration = number | string;

/** `durationMs` or `duration`, whichever fits what was given. A time that is past, such as `due - now`, is over at once. */
export function field(name: string, value: Duration | undefined): Record<string, Duration> {
  if (value === undefined) return {};
  return typeof value === "number" ? { [`${name}Ms`]: Math.max(0, Math.round(value)) } : { [name]: value };
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** How long that is, for what is timed here and not by the server. */
export function milliseconds(value: Duration): number {
  if (typeof value === "number") return value;
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(value.trim());
  if (iso && iso.slice(1).some((part) => part !== undefined)) {
    const [days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0));
    return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1_000;
  }
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g)];
  const rest = value.replace(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g, "").trim();
  if (parts.length === 0 || rest !== "") throw new RangeError(`\`${value}\` is not a duration; it would look like \`30s\` or \`2d 4h\``);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0), 0);
}

export function instant(at: Date | string): string {
  return typeof at === "string" ? at : at.toISOString();
}

/** A real pause, ended early by the signal. */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/** How long to wait before another try: doubling, at most `most`, with full jitter. */
export function backoff(attempt: number, first: number, most: number): number {
  return Math.random() * Math.min(most, first * 2 ** attempt);
}
