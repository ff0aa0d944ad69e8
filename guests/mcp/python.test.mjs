// The official Python client, and both clients on the same task, against a server that is killed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Abide } from "./abide.mjs";
import { connect, startTask, task } from "./clients.mjs";

const python = process.env.ABIDE_PYTHON;
if (!python) throw new Error("ABIDE_PYTHON must name a Python that has python/requirements.txt");
const run = async (...args) => JSON.parse((await promisify(execFile)(python, ["python/tasks.py", ...args])).stdout);

let abide;
let key;
before(async () => {
  abide = await Abide.start({ own: ["--auth", "required"] });
  key = abide.adminKey();
  await abide.deploy(key);
  abide.work(key);
});
after(() => abide.end());

test("a task that Python starts outlives a kill, and another Python client answers it", async () => {
  const { taskId, version } = await run("start", abide.mcp, key, "book_trip", '{"city": "Rome"}');
  assert.equal(version, "2026-07-28");
  await abide.kill();
  await abide.up();
  const done = await run("answer", abide.mcp, key, taskId);
  assert.equal(done.status, "completed");
  assert.equal(done.result.content[0].text, "Ada travels to Rome: true");
});

test("a task that TypeScript starts outlives a kill, and Python answers it", async () => {
  const client = await connect(abide.mcp, { key, tasks: true });
  const id = await startTask(client, "book_trip", { city: "Oslo" });
  await abide.kill();
  await abide.up();
  await run("answer", abide.mcp, key, id);
  const again = await connect(abide.mcp, { key, tasks: true });
  assert.equal((await task(again, id)).result.content[0].text, "Ada travels to Oslo: true");
});

for (const mode of ["auto", "legacy"]) {
  test(`a Python client without tasks is asked what the run waits for: ${mode}`, async () => {
    const result = await run("call", abide.mcp, key, "book_trip", '{"city": "Kyiv"}', mode);
    assert.equal(result.content[0].text, "Ada travels to Kyiv: true");
  });
}
