// An agent proposes an action; nothing is done before a person has approved it, or what they made of it.
import { handler, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

interface Ticket {
  id: number;
  text: string;
}
interface Action {
  tool: "refund";
  cents: number;
}
const done: string[] = [];
const links: string[] = [];
/** Stands for your model and your tools. */
const model = { propose: async (ticket: Ticket): Promise<Action> => ({ tool: "refund", cents: ticket.text.length * 100 }) };
const tools = { refund: async (cents: number, key: string) => done.push(`refund of ${cents} as ${key.slice(0, 4)}…`) };
const chat = { send: async (_who: string, link: string) => links.push(link) };

const schema = { type: "object", required: ["tool", "cents"], properties: { tool: { const: "refund" }, cents: { type: "integer", maximum: 5000 } } };

const agent = handler<Ticket, string>("agent", async (ctx, ticket) => {
  const action = await ctx.run("propose", () => model.propose(ticket)); // paid for once, whatever crashes
  const asked = await ctx.requestApproval("review", { prompt: `Ticket ${ticket.id}: do this?`, content: action, contentSchema: schema, approvers: ["ana"], timeout: "2d" });
  await ctx.run("ask", () => chat.send("ana", asked.links["ana"] ?? ""));
  const decided = await ctx.waitForApproval(asked);
  if (!decided.approved) return decided.decision === "timeout" ? "nobody answered; nothing was done" : "rejected; nothing was done";
  const { cents } = decided.content; // what was approved, not what was proposed
  await ctx.run("act", (call) => tools.refund(cents, call.idempotencyKey), { retry: 5 });
  return `refunded ${cents}`;
});
const tickets = workflow<Ticket, string>("tickets").task("agent", agent);

const server = await TestServer.start();
server.worker({ handlers: [agent] });
await server.client.deploy(tickets);
const run = await server.client.start(tickets, { id: 7, text: "The cup was broken." });
await server.settle(run);
await server.crash(); // the question stands
const form = new URLSearchParams({ decision: "edit", "edit/tool": "refund", "edit/cents": "900" }); // what the page behind the link sends
await fetch(links[0]!, { method: "POST", body: form, redirect: "manual" });
console.log(await run.result(), "-", done.length, "action");
const unanswered = await server.client.start(tickets, { id: 8, text: "Hello?" });
await server.skipWaits(unanswered);
console.log(await unanswered.result());
await server.close();
