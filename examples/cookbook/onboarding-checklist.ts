// A new colleague: three things have to happen within two weeks, in any order. Who is missing one is reminded once a week.
import { handler, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

interface Colleague {
  name: string;
}
const LIST = ["contract.signed", "laptop.received", "training.done"];
const reminders: string[] = [];

const onboard = handler<Colleague, string>("onboard", async (ctx, { name }) => {
  const item = (what: string) =>
    ctx.branch(what, async () => {
      for (const week of [1, 2]) {
        const done = await ctx.waitForEvent(`${what}-${week}`, what, { where: { name }, timeout: "7d" });
        if (done !== undefined) return `${what} in week ${week}`;
        await ctx.run(`remind-${what}-${week}`, () => void reminders.push(`${name}: ${what}`));
      }
      return `${what} is missing`;
    });
  const all = await ctx.all(LIST.map(item));
  return all.join("; ");
});
const colleagues = workflow<Colleague, string>("onboarding").task("onboard", onboard);

const server = await TestServer.start();
server.worker({ handlers: [onboard] });
await server.client.deploy(colleagues);
const run = await server.client.start(colleagues, { name: "cleo" });
await server.advance("1d");
await server.client.notify("laptop.received", { name: "cleo" });
await server.advance("8d");
await server.client.notify("contract.signed", { name: "cleo" });
await server.skipWaits(run);
console.log(await run.result());
console.log(reminders.join(", "));
await server.close();
