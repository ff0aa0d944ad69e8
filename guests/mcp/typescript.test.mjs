// The official TypeScript client against a server that is killed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Abide } from "./abide.mjs";
import { anything, connect, startTask, task, update } from "./clients.mjs";
import { until } from "./until.mjs";

let abide;
let key;
before(async () => {
  abide = await Abide.start({ own: ["--auth", "required"] });
  key = abide.adminKey();
  await abide.deploy(key);
  abide.work(key);
});
after(() => abide.end());

const answerOf = (form) => ({ action: "accept", content: form.message.startsWith("Who") ? { name: "Ada" } : { ok: true } });

test("a task outlives a kill, and another client of the same key answers it", async () => {
  const first = await connect(abide.mcp, { key, tasks: true });
  const id = await startTask(first, "book_trip", { city: "Rome" });
  await abide.kill();
  await abide.up();

  const second = await connect(abide.mcp, { key, tasks: true });
  const asked = await until(async () => {
    const found = await task(second, id);
    return found.status === "input_required" && found;
  });
  const [[question, request]] = Object.entries(asked.inputRequests);
  assert.equal(request.params.message, "Who travels to Rome?");
  await update(second, id, { [question]: answerOf(request.params) });
  await abide.kill();
  await abide.up();

  const third = await connect(abide.mcp, { key, tasks: true });
  const again = await until(async () => {
    const found = await task(third, id);
    return found.status === "input_required" && !found.inputRequests[question] && found;
  });
  const [[next, { params }]] = Object.entries(again.inputRequests);
  assert.equal(params.message, "Book it for Ada?");
  // The same again, as a client does that lost the answer.
  for (let times = 0; times < 2; times++) await update(third, id, { [next]: answerOf(params) });
  const done = await until(async () => {
    const found = await task(third, id);
    return found.status === "completed" && found;
  });
  assert.equal(done.result.content[0].text, "Ada travels to Rome: true");
});

test("a client without tasks is asked by results, and each call goes on with the same run", async () => {
  const messages = [];
  const client = await connect(abide.mcp, {
    key,
    answer: (form) => {
      messages.push(form.message);
      return answerOf(form);
    },
  });
  const result = await client.callTool({ name: "book_trip", arguments: { city: "Oslo" } });
  assert.deepEqual(messages, ["Who travels to Oslo?", "Book it for Ada?"]);
  assert.equal(result.content[0].text, "Ada travels to Oslo: true");
  const runs = await abide.api("GET", "/workflow-runs?definition=book_trip&limit=50", undefined, key);
  const ofThis = await Promise.all(runs.data.map(({ id }) => abide.api("GET", `/workflow-runs/${id}`, undefined, key)));
  assert.equal(ofThis.filter((run) => run.input.city === "Oslo").length, 1);
});

test("a client of an earlier version is asked on its stream", async () => {
  const client = await connect(abide.mcp, { key, answer: answerOf, mode: "legacy" });
  const result = await client.callTool({ name: "book_trip", arguments: { city: "Kyiv" } });
  assert.equal(result.content[0].text, "Ada travels to Kyiv: true");
  assert.ok((await client.listTools()).tools.some((tool) => tool.name === "abide_list_waits"));
});

test("a question that was answered elsewhere is gone, and a declined one is told to the run", async () => {
  const client = await connect(abide.mcp, { key, tasks: true });
  const id = await startTask(client, "book_trip", { city: "Lima" });
  const asked = await until(async () => {
    const found = await task(client, id);
    return found.status === "input_required" && found;
  });
  await abide.api("POST", `/workflow-runs/${id}/resume`, { signalType: "traveller", payload: { name: "Bob" } }, key);
  const next = await until(async () => {
    const found = await task(client, id);
    return found.inputRequests && !found.inputRequests[Object.keys(asked.inputRequests)[0]] && found;
  });
  const [question] = Object.keys(next.inputRequests);
  await update(client, id, { [question]: { action: "decline" } });
  const run = await until(async () => {
    const found = await abide.api("GET", `/workflow-runs/${id}`, undefined, key);
    return found.state.confirm && found;
  });
  assert.deepEqual(run.state.confirm, { action: "decline" });
});

test("an approval is a form for those who may decide, and for nobody else", async () => {
  const made = await abide.api("POST", "/keys", { name: "agent", scopes: ["run"] }, key);
  const agent = await connect(abide.mcp, { key: made.secret, tasks: true });
  const id = await startTask(agent, "publish", { title: "Tea" });
  const waiting = await until(async () => {
    const found = await task(agent, id);
    return found.statusMessage?.includes("review") && found;
  });
  assert.equal(waiting.status, "working");
  const person = await connect(abide.mcp, { key, tasks: true });
  const asked = await until(async () => {
    const found = await task(person, id);
    return found.status === "input_required" && found;
  });
  const [[question, { params }]] = Object.entries(asked.inputRequests);
  assert.match(params.message, /^Publish Tea\?/);
  await update(person, id, { [question]: { action: "accept", content: { decision: "approve" } } });
  const done = await until(async () => {
    const found = await task(agent, id);
    return found.status === "completed" && found;
  });
  assert.equal(done.result.content[0].text, "approve");
});

test("what waits is listed and steered, when a person has confirmed it", async () => {
  const client = await connect(abide.mcp, { key, tasks: true, answer: () => ({ action: "accept", content: { confirmed: true } }) });
  const id = await startTask(client, "slow_compute", { seconds: 3000, label: "steered" });
  const waits = await client.callTool({ name: "abide_list_waits", arguments: { runId: id } });
  const [wait] = waits.structuredContent.data;
  assert.equal(wait.kind, "DELAY");
  await client.callTool({ name: "abide_steer_wait", arguments: { waitpointId: wait.id, action: "complete" } });
  const done = await until(async () => {
    const found = await task(client, id);
    return found.status === "completed" && found;
  });
  assert.match(done.result.content[0].text, /3000/);

  const silent = await connect(abide.mcp, { key });
  const refused = await silent.callTool({ name: "abide_cancel_run", arguments: { runId: id } });
  assert.ok(refused.isError && /confirmed/.test(refused.content[0].text));
});

test("runs, waits and docs are resources", async () => {
  const client = await connect(abide.mcp, { key });
  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri }) => uri === "abide://waits"));
  assert.ok(resources.some(({ uri }) => uri === "abide://docs/guides/mcp.md"));
  const page = await client.readResource({ uri: "abide://docs/guides/mcp.md" });
  assert.match(page.contents[0].text, /^# abide as an MCP server/);
  const runs = JSON.parse((await client.readResource({ uri: "abide://runs" })).contents[0].text);
  const run = JSON.parse((await client.readResource({ uri: `abide://runs/${runs.data[0].id}` })).contents[0].text);
  assert.equal(run.id, runs.data[0].id);
  await assert.rejects(client.readResource({ uri: "abide://runs/run_nobody" }));
});

/** The messages of a stream, until one of them is the last that is wanted. */
const listen = async (notifications, isLast) => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  const answer = await fetch(abide.mcp, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: "listening", method: "subscriptions/listen", params: { _meta: meta, notifications } }),
  });
  const messages = [];
  let text = "";
  for await (const bytes of answer.body) {
    text += Buffer.from(bytes);
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data:"))) messages.push(JSON.parse(line.slice(5)));
    if (messages.some(isLast)) return messages;
  }
  return messages;
};

test("who listens is told what becomes of a task and of a resource, and of nothing else", async () => {
  const client = await connect(abide.mcp, { key, tasks: true });
  const id = await startTask(client, "book_trip", { city: "Baku" });
  const uri = `abide://runs/${id}`;
  const isLast = ({ method, params }) => method === "notifications/tasks" && params.status === "cancelled";
  const told = listen({ taskIds: [id, "run_nobody"], resourceSubscriptions: [uri, "abide://waits"] }, isLast);
  const asked = await until(async () => {
    const found = await task(client, id);
    return found.status === "input_required" && found;
  });
  await update(client, id, { [Object.keys(asked.inputRequests)[0]]: { action: "accept", content: { name: "Ada" } } });
  await client.request({ method: "tasks/cancel", params: { taskId: id } }, anything);
  const messages = await told;
  assert.equal(messages[0].method, "notifications/subscriptions/acknowledged");
  assert.deepEqual(messages[0].params.notifications, { taskIds: [id], resourceSubscriptions: [uri] });
  const kinds = new Set(messages.slice(1).map(({ method }) => method));
  assert.deepEqual([...kinds].sort(), ["notifications/resources/updated", "notifications/tasks"]);
  assert.ok(messages.every(({ params }) => params._meta["io.modelcontextprotocol/subscriptionId"] === "listening"));
});

test("who listens is told that the server stops", async () => {
  const own = await Abide.start();
  const open = await fetch(own.mcp, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "subscriptions/listen",
      params: {
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
        notifications: { toolsListChanged: true },
      },
    }),
  });
  own.process.kill("SIGTERM");
  const text = await open.text();
  assert.match(text, /"id":7,"jsonrpc":"2.0","result":/);
  await own.end();
});

test("without a key nobody gets in, and the answer says where to read how", async () => {
  const answer = await fetch(abide.mcp, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.equal(answer.status, 401);
  const [, url] = answer.headers.get("www-authenticate").match(/resource_metadata="([^"]+)"/);
  const metadata = await (await fetch(url)).json();
  assert.equal(metadata.resource, abide.mcp);
  assert.equal((await answer.json()).error.data.code, "UNAUTHENTICATED");
});

test("another workspace's task is not there, and a key without the scope may not call", async () => {
  const client = await connect(abide.mcp, { key, tasks: true });
  const id = await startTask(client, "slow_compute", { seconds: 3000 });
  const workspace = await abide.api("POST", "/workspaces", { name: "other" }, key);
  const other = await abide.api("POST", "/keys", { name: "stranger", scopes: ["admin"], workspace: workspace.id }, key);
  const stranger = await connect(abide.mcp, { key: other.secret, tasks: true });
  await assert.rejects(task(stranger, id), (error) => error.code === -32602);
  assert.ok(!(await stranger.listTools()).tools.some((tool) => tool.name === "greet"));
  const reader = await abide.api("POST", "/keys", { name: "reader", scopes: ["read"] }, key);
  const reading = await connect(abide.mcp, { key: reader.secret });
  await assert.rejects(reading.request({ method: "tools/call", params: { name: "greet", arguments: { name: "x" } } }, anything));
});
