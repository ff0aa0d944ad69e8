/** Schedules and webhooks, made, steered and removed by the client. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { NotFound, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start({ args: ["--allow-address", "127.0.0.1"] });
  await server.client.deploy(workflow("report").sleep("moment", "1m"));
});
after(() => server.close());

test("a schedule is a wait of no run, and starts runs until it is paused", async () => {
  const { runs, schedules, waitpoints } = server.client;
  const { id, waitpointId } = await schedules.create({ name: "hourly", definition: "report", every: "1h" });
  const wait = await waitpoints.find(waitpointId ?? "");
  assert.deepEqual([wait.kind, wait.runId, wait.definition, wait.scheduleId], ["SCHEDULE", null, undefined, id]);

  await server.advance("1h");
  const { lastRunId } = await schedules.find(id);
  assert.equal((await runs.find(lastRunId ?? "")).definition.name, "report");

  assert.equal((await schedules.change(id, { overlap: "allow" })).overlap, "allow");
  const first = await schedules.trigger(id, { idempotencyKey: "once" });
  assert.equal(first.outcome, "started");
  assert.deepEqual(await schedules.trigger(id, { idempotencyKey: "once" }), first);

  assert.equal((await schedules.pause(id)).nextAt, null);
  assert.notEqual((await schedules.unpause(id)).nextAt, null);
  assert.deepEqual((await schedules.list()).data.map(({ name }) => name), ["hourly"]);
  await schedules.remove(id);
  await assert.rejects(schedules.find(id), NotFound);
});

test("a webhook is told of a run, and told again under the same id", async () => {
  const { webhooks } = server.client;
  const receiver = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { id, secret } = await webhooks.create({ url, events: ["workflow.cancelled"] });

  let told = once(receiver, "request");
  const run = await server.client.start("report");
  await run.cancel();
  const deliveryId: string = (await told)[0].headers["webhook-id"];
  const delivery = await webhooks.findDelivery(id, deliveryId);
  assert.deepEqual([delivery.event, delivery.runId], ["workflow.cancelled", run.id]);
  assert.deepEqual((await webhooks.deliveries(id)).data.map(({ id }) => id), [deliveryId]);

  told = once(receiver, "request");
  // Until the first answer is on record, there is nothing to send again.
  while ((await webhooks.replay(id, deliveryId)).replayed === 0);
  assert.equal((await told)[0].headers["webhook-id"], deliveryId);
  assert.equal((await webhooks.replayFailed(id)).replayed, 0);

  assert.notEqual((await webhooks.rotateSecret(id, { overlapMs: 1_000 })).secret, secret);
  assert.equal((await webhooks.change(id, { enabled: false })).status, "DISABLED");
  assert.equal((await webhooks.enable(id)).status, "ENABLED");
  assert.deepEqual((await webhooks.list()).data.map(({ url }) => url), [url]);
  await webhooks.remove(id);
  await assert.rejects(webhooks.find(id), NotFound);
  receiver.close();
});

test("a list is iterated, read as a whole or page by page, and is never cut off in silence", async () => {
  const server = await TestServer.start();
  try {
    const { client } = server;
    for (const eventId of ["a", "b", "c"]) await client.notify(eventId, {});
    const list = () => client.events.list({ limit: 2 });
    const iterated: string[] = [];
    for await (const { eventId } of list()) iterated.push(eventId);
    assert.deepEqual(iterated.sort(), ["a", "b", "c"]);
    assert.equal((await list().all()).length, 3);
    const sizes: number[] = [];
    for await (const { data } of list().pages()) sizes.push(data.length);
    assert.deepEqual(sizes, [2, 1]);
    const { data, nextCursor } = await list().page();
    assert.equal(data.length, 2);
    assert.equal((await list().page(nextCursor ?? "")).data.length, 1);
    await assert.rejects(list().all({ most: 2 }), RangeError);
  } finally {
    await server.close();
  }
});
