/** The scenario of calls that the engine makes. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { TestServer } from "../src/testing.js";
import { type Scenario, one } from "./scenarios.js";

/** A service that answers with these, one after the other, and with the last from then on. */
export async function service(...answers: { status: number; body: unknown }[]) {
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    const { status, body } = answers[Math.min(requests, answers.length - 1)] ?? { status: 500, body: null };
    requests += 1;
    incoming.resume();
    outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests: () => requests, close };
}

export const scenarios: Record<string, Scenario> = {
  "the engine makes the call": async () => {
    const rates = await service({ status: 503, body: {} }, { status: 200, body: { rate: 3 } });
    const server = await TestServer.start({ args: ["--allow-address", "127.0.0.1"] });
    try {
      await one(server, async (ctx) => {
        const { status, body } = await ctx.http("rate", { url: rates.url, retry: 3 });
        return { status, body };
      });
      const run = await server.client.start<object>("one");
      const { status } = await server.skipWaits(run);
      return { ...(await run.result()), requests: rates.requests(), run: status };
    } finally {
      await server.close();
      rates.close();
    }
  },
};
