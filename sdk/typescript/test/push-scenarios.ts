/** The scenario of handlers that the server calls. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { workflow } from "../src/index.js";
import { type ServeOptions, serve, toNode } from "../src/push.js";
import { TestServer } from "../src/testing.js";
import type { Scenario } from "./scenarios.js";

export const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Handlers behind a URL, and a server that knows them by it. Its clock is not ours, so signatures may be of any time. */
export async function behindUrl(options: Omit<ServeOptions, "signingKey">): Promise<{
  server: TestServer;
  requests: () => number;
  close: () => Promise<void>;
}> {
  let requests = 0;
  const answer = toNode(serve({ signingKey: KEY, tolerance: "3650d", log: () => {}, ...options }));
  const receiver = createServer((incoming, outgoing) => {
    requests += 1;
    void answer(incoming, outgoing);
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const names = Object.keys(options.handlers);
  const urls = names.flatMap((name) => ["--handler-url", `${name}=http://127.0.0.1:${port}/abide`]);
  const env = { ABIDE_SECRET_SIGNING_KEY: KEY };
  const server = await TestServer.start({ args: ["--allow-address", "127.0.0.1", ...urls], env });
  const close = async () => {
    await server.close();
    receiver.closeAllConnections();
    receiver.close();
  };
  return { server, requests: () => requests, close };
}

export const scenarios: Record<string, Scenario> = {
  "durable code behind a URL": async () => {
    const counts = { one: 0, two: 0 };
    const { server, requests, close } = await behindUrl({
      handlers: {
        desk: async (ctx) => {
          await ctx.run("one", () => (counts.one += 1));
          await ctx.sleep("nap", "1h");
          await ctx.waitForSignal("go", "go");
          await ctx.run("two", () => (counts.two += 1));
        },
      },
    });
    try {
      await server.client.deploy(workflow("desk").task("desk", "desk"));
      const run = await server.client.start("desk");
      await server.advance("1h");
      await run.signal("go");
      await run.result();
      const { status } = await run.get();
      return { status, ...counts, requests: requests() };
    } finally {
      await close();
    }
  },
};
