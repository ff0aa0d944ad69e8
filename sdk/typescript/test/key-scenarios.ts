/** The scenario of a worker whose key is for work alone. */
import { Client, type Context, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";
import { type Scenario, codeOf } from "./scenarios.js";

export const scenarios: Record<string, Scenario> = {
  "a worker's own key": async () => {
    const leases: string[] = [];
    const work = async (ctx: Context) => {
      leases.push(ctx.task.leaseToken);
      await ctx.checkpoint({ page: 1 });
      ctx.log("begun");
      const count = await ctx.run("count", () => 1);
      await ctx.sleep("nap", "1h");
      await ctx.pause("rest", "1m");
      await ctx.notify("tell", "told", { n: 1 });
      const told = await ctx.waitForEvent("hear", "told");
      const reply = await ctx.waitForSignal("reply", "reply");
      const link = await ctx.createWaitpoint("link");
      await ctx.http("call", { url: link.resumeUrl, method: "POST", body: { n: 2 } });
      const call = await ctx.waitForWaitpoint(link);
      const child = await ctx.child("tea", "restock", "tea");
      const started = await ctx.startChild("more", "restock", "more");
      const asked = await ctx.requestApproval("ask", { prompt: "Is it good?" });
      const { approved } = await ctx.waitForApproval(asked);
      const { name: first } = await ctx.any([ctx.sleep("long", "2h"), ctx.sleep("short", "1h")]);
      ctx.setState({ done: true });
      const { page } = ctx.lastCheckpoint as { page: number };
      return { page, count, told, reply, link: call?.body, child, started: started.id.startsWith("run_"), approved, first };
    };
    const restock = async (ctx: Context, input: string): Promise<string> => {
      await ctx.sleep("nap", "1h");
      return input;
    };
    const server = await TestServer.start({ args: ["--auth", "required", "--allow-address", "127.0.0.1"] });
    try {
      const { secret } = await server.client.admin.createKey({ name: "hand", scopes: ["worker"] });
      const hand = new Client({ url: server.url, apiKey: secret });
      server.worker({ client: hand, handlers: { work, restock } });
      await server.client.deploy(workflow("restock", { output: "{{ steps.restock.output }}" }).task("restock", "restock"));
      await server.client.deploy(workflow("one").task("work", "work"));
      const run = await server.client.start<object>("one");
      await server.skipWaits(run);
      const withoutLease = await codeOf(hand.notify("told", { n: 2 }));
      const withStaleLease = await codeOf(hand.events.send("told", { n: 2 }, { leaseToken: leases[0] ?? "" }));
      await run.signal("reply", "yes");
      await server.skipWaits(run);
      const page = await server.client.approvals.list({ pending: true, runId: run.id }).page();
      await server.client.approvals.decide(page.data[0]?.id ?? "", { decision: "approve" });
      await server.skipWaits(run);
      let events = 0;
      for await (const _ of server.client.events.list({ eventId: "told" })) events += 1;
      const sent = (await server.history(run)).filter(({ type }) => type === "EVENT_SENT");
      const sentBy = sent.map(({ stepName }) => stepName);
      return { output: await run.result(), events, sentBy, withoutLease, withStaleLease };
    } finally {
      await server.close();
    }
  },
};
