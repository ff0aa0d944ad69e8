// Plain QStash, as users of workflows use it beside them: the unmodified @upstash/qstash client is the judge.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@upstash/qstash";
import { Client as WorkflowClient } from "@upstash/workflow";
import * as application from "./app.mjs";
import { startInbox } from "./inbox.mjs";
import { Abide } from "./server.mjs";
import { until } from "./until.mjs";

// A message without a deduplication id that is sent again is another message: only kills are a fair fault here.
const kills = (process.env.ABIDE_FAULTS ?? "").includes("kills");
const retry = kills ? { retries: 20, backoff: () => 250 } : undefined;
let abide, app, inbox, client, workflows, killing;

before(async () => {
  abide = await Abide.start();
  abide.useCredentials();
  app = await application.start();
  inbox = await startInbox();
  if (kills) killing = abide.killEvery(1_000, () => {});
  client = new Client({ baseUrl: abide.otherUrl, token: process.env.QSTASH_TOKEN, retry });
  workflows = new WorkflowClient({ baseUrl: abide.otherUrl, token: process.env.QSTASH_TOKEN, retry });
});
after(async () => {
  await killing?.stop();
  app.close();
  inbox.close();
  await abide.stop();
});

const got = (name, count = 1) => until(() => inbox.got(name).length >= count && inbox.got(name));
const states = async (messageId) => (await client.logs({ filter: { messageId } })).logs.map((log) => log.state);
/** The runs of abide that deliver the messages with a tag. */
const runs = async (tag, query = "") => (await abide.api(`/workflow-runs?tag=${encodeURIComponent(tag)}${query}`)).data;
const waits = async (run, kind) => (await abide.api(`/waitpoints?runId=${run}&status=PENDING`)).data.filter((wait) => wait.kind === kind);
const post = (path, body = {}) => abide.api(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

test("a message is delivered with its headers, method and body, and its log says so", async () => {
  const { messageId } = await client.publishJSON({ url: inbox.url("plain"), method: "PUT", body: { a: "ß" }, headers: { "x-own": "o" }, label: "lab" });
  const [first] = await got("plain");
  assert.deepEqual([first.body, first.method, first.headers["x-own"], first.headers["upstash-message-id"]], ['{"a":"ß"}', "PUT", "o", messageId]);
  await until(async () => (await states(messageId)).includes("DELIVERED"));
  assert.deepEqual((await states(messageId)).at(-1), "CREATED");
  const { logs } = await client.logs({ filter: { label: "lab" } });
  assert.equal(logs[0].messageId, messageId);
});

test("a delayed message waits, can be looked at, and can be cancelled", async () => {
  const { messageId } = await client.publish({ url: inbox.url("later"), body: "x", delay: "1h" });
  const message = await client.messages.get(messageId);
  assert.deepEqual([message.url, message.body, message.maxRetries], [inbox.url("later"), "x", 3]);
  assert.ok(message.notBefore > Date.now() + 3_000_000);
  await client.messages.delete(messageId);
  assert.deepEqual((await states(messageId))[0], "CANCELED");
  const soon = Date.now();
  await client.publish({ url: inbox.url("soon"), body: "x", delay: 1 });
  const [first] = await got("soon");
  assert.ok(first.at - soon >= 1_000, `${first.at - soon}`);
});

test("messages are cancelled many at once", async () => {
  const sent = await client.batchJSON([1, 2, 3].map((n) => ({ url: inbox.url("never"), body: n, delay: "1h", label: "bulk" })));
  const ids = sent.map((one) => one.messageId);
  assert.deepEqual(await client.messages.cancel(ids.slice(0, 1)), { cancelled: 1 });
  assert.deepEqual(await client.messages.cancel({ filter: { label: "bulk" } }), { cancelled: 2 });
});

test("a message is retried as often as was asked for, and its callback is told", async () => {
  inbox.fail("flaky", 2);
  const { messageId } = await client.publishJSON({
    url: inbox.url("flaky"), body: { f: 1 }, retries: 3, retryDelay: "20", callback: inbox.url("called"),
    headers: { "Upstash-Callback-Forward-X-Cb": "cb" },
  });
  const [told] = await got("called");
  const body = JSON.parse(told.body);
  assert.equal(told.headers["x-cb"], "cb");
  assert.deepEqual([body.status, body.retried, body.maxRetries, body.sourceMessageId, body.url], [200, 2, 3, messageId, inbox.url("flaky")]);
  assert.deepEqual(JSON.parse(Buffer.from(body.body, "base64")), { left: 0, name: "flaky" });
  assert.deepEqual(Buffer.from(body.sourceBody, "base64").toString(), '{"f":1}');
  const attempts = await until(async () => (await states(messageId)).includes("DELIVERED") && states(messageId));
  assert.equal(attempts.filter((state) => state === "RETRY").length, 2);
});

test("a message that is given up tells its failure callback, and is retried and deleted from the dead letter queue", async () => {
  inbox.fail("broken", 3);
  const { messageId } = await client.publishJSON({ url: inbox.url("broken"), body: { b: 1 }, retries: 1, retryDelay: "20", failureCallback: inbox.url("gave-up") });
  const [told] = await got("gave-up");
  const body = JSON.parse(told.body);
  assert.deepEqual([body.status, body.sourceMessageId, body.retried], [500, messageId, 1]);
  const [letter] = await until(async () => {
    const { messages } = await client.dlq.listMessages({ filter: { messageId } });
    return messages.length === 1 && messages;
  });
  assert.deepEqual([letter.dlqId, letter.responseStatus, letter.body], [body.dlqId, 500, '{"b":1}']);
  inbox.fail("broken", 0);
  const { responses } = await client.dlq.retry(letter.dlqId);
  assert.equal(responses.length, 1);
  await until(async () => (await states(responses[0].messageId)).includes("DELIVERED"));
  assert.equal((await client.dlq.listMessages({ filter: { messageId } })).messages.length, 0);
  inbox.fail("gone", 5);
  await client.publish({ url: inbox.url("gone"), retries: 0, label: "gone" });
  await until(async () => (await client.dlq.listMessages({ filter: { label: "gone" } })).messages.length === 1);
  assert.equal((await client.dlq.delete({ filter: { label: "gone" } })).deleted, 1);
  assert.equal((await client.dlq.listMessages({ filter: { label: "gone" } })).messages.length, 0);
});

test("a message is published once under its deduplication id, and once for its content", async () => {
  const first = await client.publish({ url: inbox.url("once"), body: "a", deduplicationId: "d1", delay: 3600 });
  const second = await client.publish({ url: inbox.url("once"), body: "a", deduplicationId: "d1", delay: 3600 });
  assert.deepEqual([second.messageId, second.deduplicated], [first.messageId, true]);
  const one = await client.publish({ url: inbox.url("content"), body: "a", contentBasedDeduplication: true, delay: 3600 });
  const same = await client.publish({ url: inbox.url("content"), body: "a", contentBasedDeduplication: true, delay: 3600 });
  const other = await client.publish({ url: inbox.url("content"), body: "b", contentBasedDeduplication: true, delay: 3600 });
  assert.equal(same.messageId, one.messageId);
  assert.notEqual(other.messageId, one.messageId);
});

test("a URL group hands a message to each of its endpoints", async () => {
  const endpoints = [{ name: "one", url: inbox.url("g1") }, { url: inbox.url("g2") }, { name: "three", url: inbox.url("g3") }];
  await client.urlGroups.addEndpoints({ name: "group", endpoints });
  await client.urlGroups.removeEndpoints({ name: "group", endpoints: [{ name: "three" }] });
  assert.deepEqual((await client.urlGroups.get("group")).endpoints, endpoints.slice(0, 2));
  const sent = await client.publishJSON({ urlGroup: "group", body: { g: 1 } });
  assert.deepEqual(sent.map((one) => one.url), [inbox.url("g1"), inbox.url("g2")]);
  for (const name of ["g1", "g2"]) assert.equal((await got(name))[0].body, '{"g":1}');
  assert.equal((await client.urlGroups.list()).length, 1);
  await client.urlGroups.delete("group");
  await assert.rejects(client.publishJSON({ urlGroup: "group", body: {} }), /neither a URL nor a URL group/);
});

test("a queue delivers its messages in order, as many at a time as it says, and can be paused", async () => {
  const queue = client.queue({ queueName: "line" });
  await queue.upsert({ parallelism: 1 });
  const release = inbox.hold("q1");
  for (const n of [1, 2, 3]) await queue.enqueueJSON({ url: inbox.url(`q${n}`), body: n });
  await got("q1");
  assert.deepEqual(await queue.get().then(({ name, parallelism, lag, paused }) => [name, parallelism, lag, paused]), ["line", 1, 3, false]);
  const behind = await until(async () => {
    const found = (await runs("queue:line", "&waitsFor=CAPACITY"));
    return found.length === 2 && found;
  });
  assert.equal((await waits(behind[0].id, "CAPACITY")).length, 1);
  assert.equal(inbox.got("q2").length, 0);
  await queue.pause();
  assert.equal((await queue.get()).paused, true);
  release();
  const [paused] = await until(async () => {
    const found = (await runs("queue:line", "&waitsFor=EVENT"));
    return found.length === 1 && found;
  });
  assert.equal((await waits(paused.id, "EVENT")).length, 1);
  assert.equal(inbox.got("q2").length, 0);
  await queue.resume();
  const [third] = await got("q3");
  assert.ok(inbox.got("q2")[0].at <= third.at);
  await until(async () => (await queue.get()).lag === 0);
  assert.equal((await client.queue().list()).length, 1);
  await queue.delete();
  await assert.rejects(queue.get(), /there is no queue/);
});

test("flow control bounds how many messages are under way", async () => {
  const release = inbox.hold("flow");
  inbox.most.atOnce = 0;
  const flowControl = { key: "fk", parallelism: 2 };
  for (let n = 0; n < 5; n++) await client.publishJSON({ url: inbox.url("flow"), body: n, flowControl });
  await got("flow", 2);
  await until(async () => (await runs("flow:fk", "&waitsFor=CAPACITY")).length === 3);
  release();
  await got("flow", 5);
  // What is under way when a server is killed is delivered again, beside itself.
  assert.ok(kills ? inbox.most.atOnce >= 2 : inbox.most.atOnce === 2);
  const begun = Date.now();
  for (let n = 0; n < 3; n++) await client.publishJSON({ url: inbox.url("rate"), body: n, flowControl: { key: "rk", rate: 2, period: "1s" } });
  const firsts = await until(() => {
    const first = new Map();
    for (const { body, at } of inbox.got("rate")) if (!first.has(body)) first.set(body, at - begun);
    return first.size === 3 && [...first.values()];
  });
  assert.ok(firsts[2] >= 1_000, `${firsts}`);
});

test("flow control bounds the deliveries of workflows, and the wait for room is on the Waits page", async () => {
  const flowControl = { key: "wk", parallelism: 1 };
  const ids = [];
  for (let n = 0; n < 3; n++) {
    const { workflowRunId } = await workflows.trigger({ url: `${app.base}/wf/parallel`, body: {}, retries: 0, flowControl });
    ids.push(workflowRunId);
  }
  for (const id of ids) {
    const found = await until(async () => {
      const [run] = (await workflows.logs({ workflowRunId: id })).runs;
      return run && run.workflowState !== "RUN_STARTED" && run;
    });
    assert.deepEqual(JSON.parse(found.workflowRunResponse), { last: "ABtrue", more: [10, 20, 30] });
  }
  const [run] = await runs(`upstash:${ids[2]}`);
  const { data } = await abide.api(`/waitpoints?runId=${run.id}`);
  assert.ok(data.some((wait) => wait.kind === "CAPACITY"), JSON.stringify(data.map((wait) => wait.kind)));
});

test("a flow control key is looked at, paused, resumed, pinned and unpinned", async () => {
  const release = inbox.hold("looked");
  const flowControl = { key: "looked at", parallelism: 2, rate: 100, period: "10s" };
  for (let n = 0; n < 5; n++) await client.publishJSON({ url: inbox.url("looked"), body: n, flowControl });
  await got("looked", 2);
  const info = await until(async () => {
    const found = await client.flowControl.get("looked at");
    return found.waitListSize === 3 && found;
  });
  assert.deepEqual([info.flowControlKey, info.parallelismMax, info.parallelismCount, info.rateMax, info.ratePeriod, info.isPaused], ["looked at", 2, 2, 100, 10, false]);
  const headers = { authorization: `Bearer ${process.env.QSTASH_TOKEN}` };
  const listed = await fetch(`${abide.otherUrl}/v2/flowControl`, { headers }).then((answer) => answer.json());
  assert.ok(listed.some((one) => one.flowControlKey === "looked at" && one.waitListSize === 3));
  assert.ok((await client.flowControl.getGlobalParallelism()).parallelismMax >= 2);
  await client.flowControl.pause("looked at");
  assert.equal((await client.flowControl.get("looked at")).isPaused, true);
  release();
  await until(async () => (await client.flowControl.get("looked at")).parallelismCount === 0);
  // What is under way when a server is killed is delivered again.
  assert.ok(kills ? inbox.got("looked").length >= 2 : inbox.got("looked").length === 2);
  await client.flowControl.pin("looked at", { parallelism: 1, rate: 50, period: 5 });
  const pinned = await client.flowControl.get("looked at");
  assert.deepEqual([pinned.parallelismMax, pinned.rateMax, pinned.ratePeriod, pinned.isPinnedParallelism, pinned.isPinnedRate], [1, 50, 5, true, true]);
  await client.flowControl.unpin("looked at", { rate: true });
  const half = await client.flowControl.get("looked at");
  assert.deepEqual([half.parallelismMax, half.rateMax, half.isPinnedParallelism, half.isPinnedRate], [1, 100, true, false]);
  await client.flowControl.resume("looked at");
  await got("looked", 5);
  await client.flowControl.unpin("looked at", { parallelism: true });
  const over = await client.flowControl.get("looked at");
  assert.deepEqual([over.waitListSize, over.isPaused, over.isPinnedParallelism], [0, false, false]);
});

test("a batch with a message that is refused is refused whole", async () => {
  const bad = [{ url: inbox.url("half"), body: "1" }, { url: "http://10.0.0.1/not-allowed", body: "2" }];
  await assert.rejects(client.batch(bad), /allow.address/i);
  await client.publish({ url: inbox.url("after"), body: "3" });
  await got("after");
  assert.equal(inbox.got("half").length, 0);
});

test("a schedule publishes its message, is listed, paused, resumed, changed and deleted", async () => {
  const { scheduleId } = await client.schedules.create({
    scheduleId: "mine", destination: inbox.url("cron"), cron: "CRON_TZ=Europe/Berlin 0 4 1 1 *", body: "tick", retries: 1, headers: { "x-cron": "c" },
  });
  assert.equal(scheduleId, "mine");
  const schedule = await client.schedules.get("mine");
  assert.deepEqual([schedule.cron, schedule.destination, schedule.retries, schedule.isPaused, schedule.body], ["CRON_TZ=Europe/Berlin 0 4 1 1 *", inbox.url("cron"), 1, false, "tick"]);
  const own = async () => (await abide.api("/waitpoints?kind=SCHEDULE&status=PENDING")).data;
  const [wait] = await own();
  await post(`/waitpoints/${wait.id}/complete`);
  const [tick] = await got("cron");
  assert.deepEqual([tick.body, tick.headers["x-cron"], tick.headers["upstash-schedule-id"]], ["tick", "c", "mine"]);
  await client.schedules.pause({ schedule: "mine" });
  assert.equal((await client.schedules.get("mine")).isPaused, true);
  assert.equal((await own()).length, 0);
  await client.schedules.resume({ schedule: "mine" });
  await client.schedules.create({ scheduleId: "mine", destination: inbox.url("cron"), cron: "0 5 1 1 *" });
  assert.deepEqual((await client.schedules.list()).map((one) => one.cron), ["0 5 1 1 *"]);
  await client.schedules.delete("mine");
  await assert.rejects(client.schedules.get("mine"), /there is no schedule/);
  await assert.rejects(client.schedules.create({ destination: inbox.url("cron"), cron: "often" }), /cron/);
});

test("a schedule starts a workflow, and one into a queue or a group goes the way of both", async () => {
  await client.schedules.create({ scheduleId: "wf", destination: `${app.base}/wf/basic`, cron: "0 4 1 1 *", body: JSON.stringify({ text: "cron" }) });
  await client.urlGroups.addEndpoints({ name: "cron-group", endpoints: [{ url: inbox.url("cg1") }, { url: inbox.url("cg2") }] });
  await client.schedules.create({ scheduleId: "relay", destination: "cron-group", cron: "0 4 1 1 *", queueName: "cron-line", body: "both" });
  for (const wait of (await abide.api("/waitpoints?kind=SCHEDULE&status=PENDING")).data) await post(`/waitpoints/${wait.id}/complete`);
  const run = await until(async () => {
    const found = (await workflows.logs({ workflowUrl: `${app.base}/wf/basic` })).runs?.[0];
    return found?.workflowState === "RUN_SUCCESS" && found;
  });
  assert.equal(JSON.parse(run.workflowRunResponse).final.a, "one cron");
  for (const name of ["cg1", "cg2"]) assert.equal((await got(name))[0].body, "both");
  for (const id of ["wf", "relay"]) await client.schedules.delete(id);
});

test("what a client asks to redact, and credentials, are readable nowhere and delivered everywhere", async () => {
  const { messageId } = await client.publishJSON({
    url: inbox.url("secret"), body: { pin: "pin-1234" }, headers: { authorization: "Bearer very-secret", "x-hidden": "hide-me", "x-shown": "see" },
    redact: { body: true, header: ["X-Hidden"] },
  });
  const [first] = await got("secret");
  assert.deepEqual([first.body, first.headers.authorization, first.headers["x-hidden"]], ['{"pin":"pin-1234"}', "Bearer very-secret", "hide-me"]);
  const { workflowRunId } = await workflows.trigger({
    url: `${app.base}/wf/secretive`, body: { base: app.base, pin: "pin-1234" }, headers: { authorization: "Bearer very-secret" }, retries: 0, redact: { body: true },
  });
  const found = await until(async () => {
    const [run] = (await workflows.logs({ workflowRunId })).runs;
    return run && run.workflowState !== "RUN_STARTED" && run;
  });
  assert.deepEqual(JSON.parse(found.workflowRunResponse), { pin: true, header: true, called: true, kept: true, echoed: true });
  const shown = [
    await client.messages.get(messageId), (await client.logs({ filter: { messageId } })).logs, found,
    ...(await Promise.all([...(await runs(`url:${inbox.url("secret")}`)), ...(await runs(`upstash:${workflowRunId}`))].flatMap(({ id }) => [
      abide.api(`/workflow-runs/${id}`), abide.api(`/workflow-runs/${id}/events`), abide.api(`/waitpoints?runId=${id}`),
    ]))),
  ];
  const text = JSON.stringify(shown);
  assert.ok(text.includes("REDACTED") && text.includes('"see"'));
  for (const secret of ["pin-1234", "very-secret", "hide-me", Buffer.from('"pin-1234 kept"').toString("base64"), Buffer.from('{"got":{"hi":"pin-1234"}').toString("base64").slice(0, 20), Buffer.from('{"pin":"pin-1234"}').toString("base64")]) {
    assert.ok(!text.includes(secret), `${secret} is readable`);
  }
});

test("keys are shown and rotated, and deliveries signed with the next key are taken", async () => {
  const headers = { authorization: `Bearer ${process.env.QSTASH_TOKEN}` };
  const before = await fetch(`${abide.otherUrl}/v2/keys`, { headers }).then((answer) => answer.json());
  assert.equal(before.current, process.env.QSTASH_CURRENT_SIGNING_KEY);
  const rotated = await fetch(`${abide.otherUrl}/v2/keys/rotate`, { method: "POST", headers }).then((answer) => answer.json());
  assert.equal(rotated.current, before.next);
  await client.publish({ url: inbox.url("rotated"), body: "r" });
  await got("rotated");
});
