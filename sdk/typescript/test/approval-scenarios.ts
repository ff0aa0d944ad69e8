/** The scenarios of people, and the links that they decide by. */
import { type Scenario, one } from "./scenarios.js";

const REFUND = {
  type: "object",
  required: ["cents"],
  properties: { cents: { type: "integer", maximum: 4900 }, note: { type: "string" } },
};

export const scenarios: Record<string, Scenario> = {
  "an approval that is edited by link": async (server) => {
    const links: string[] = [];
    await one(server, async (ctx) => {
      const options = { content: { cents: 4900 }, contentSchema: REFUND, approvers: ["ana"], timeout: "2d" };
      const review = await ctx.requestApproval("review", options);
      links.push(review.links["ana"] ?? "");
      const { decision, content, votes } = await ctx.waitForApproval(review);
      return { decision, content, by: votes[0]?.by };
    });
    const run = await server.client.start<object>("one");
    await server.settle(run);
    const [link = ""] = links;
    const page = await (await fetch(link)).text();
    const edit = (cents: string) => {
      const body = new URLSearchParams({ decision: "edit", "edit/cents": cents, "edit/note": "sorry" });
      return fetch(link, { method: "POST", body, redirect: "manual" });
    };
    const refused = await edit("5000");
    const place = (await refused.text()).includes("/editedContent/cents");
    await edit("4200");
    const output = await run.result();
    const sameLink = links.length === 2 && links[0] === links[1];
    return { form: page.includes('name="edit/cents"'), refused: refused.status, place, ...output, sameLink };
  },
};
