import { handler, workflow } from "abide-sdk";
import { TestServer } from "abide-sdk/testing";

const remind = handler<{ days: number }, string>("remind", async (ctx, { days }) => {
  await ctx.sleep("rest", `${days}d`);
  return (await ctx.waitForSignal<string>("answer", "answer")) ?? "";
});
const reminders = workflow<{ days: number }, string>("reminders").task("remind", remind);

const server = await TestServer.start(); // ABIDE_BIN, or `abide` from the path
server.worker({ handlers: [remind] });
await server.client.deploy(reminders);
const run = await server.client.start(reminders, { days: 30 });
await server.advance("30d");
await run.signal("answer", "done");
console.log(await run.result(), (await server.history(run)).length > 0);
await server.close();
