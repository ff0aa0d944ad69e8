// An app that knows of no server: `QSTASH_DEV=true` is all that is set.
import { Client } from "@upstash/workflow";
import { serve } from "@upstash/workflow/express";
import express from "express";

const app = express();
app.use(express.json());
app.use("/wf", serve(async (context) => {
  const said = await context.run("say", () => "dev works");
  console.log(`result: ${JSON.stringify(said)}`);
  await context.run("stop", () => void setTimeout(() => process.exit(0), 200));
}));
const listener = app.listen(0, "127.0.0.1", async () => {
  await new Client().trigger({ url: `http://127.0.0.1:${listener.address().port}/wf`, retries: 0 });
});
setTimeout(() => process.exit(1), 20_000).unref();
