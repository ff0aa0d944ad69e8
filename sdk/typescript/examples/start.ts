import { Client } from "abide-sdk";

import { orders } from "./order.js";

const client = new Client();
await client.deploy(orders);
const run = await client.start(orders, { id: 7, amount: 42 });
await client.notify("order.paid", { order: 7 });
for await (const record of run.follow()) {
  if (record.type === "APPROVAL_REQUESTED") await client.approvals.decide(record.waitpointId ?? "", { decision: "approve" });
}
console.log(await run.result());
