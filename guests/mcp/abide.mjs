// abide under test: a server on a file that is thrown away, the fixtures, and a worker that does their work.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workflows } from "./fixtures.mjs";

export const bin = process.env.ABIDE_BIN;
if (!bin) throw new Error("ABIDE_BIN must name the abide binary to test against");

export const freePort = () =>
  new Promise((resolve, reject) => {
    const taken = createServer();
    taken.on("error", reject);
    taken.listen(0, "127.0.0.1", () => {
      const { port } = taken.address();
      taken.close(() => resolve(port));
    });
  });

export class Abide {
  /** `own` are flags of the server. */
  static async start({ own = [] } = {}) {
    const abide = new Abide();
    abide.folder = mkdtempSync(join(tmpdir(), "abide-mcp-"));
    abide.store = `sqlite:${join(abide.folder, "abide.db")}`;
    abide.port = await freePort();
    abide.url = `http://127.0.0.1:${abide.port}`;
    abide.mcp = `${abide.url}/mcp`;
    abide.own = own;
    await abide.up();
    return abide;
  }

  async up() {
    const flags = ["serve", "--store", this.store, "--listen", `127.0.0.1:${this.port}`, ...this.own];
    flags.push("--log", process.env.ABIDE_TEST_LOG ?? "error");
    this.process = spawn(bin, flags, { stdio: ["ignore", "ignore", "inherit"] });
    this.gone = new Promise((resolve) => this.process.once("exit", resolve));
    for (;;) {
      const ready = await fetch(`${this.url}/ready`).then((answer) => answer.ok, () => false);
      if (ready) return;
      if (this.process.exitCode !== null) throw new Error("abide serve has ended");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill(signal = "SIGKILL") {
    this.process.kill(signal);
    await this.gone;
  }

  async end() {
    this.worker?.stop();
    await this.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async api(method, path, body, key) {
    const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
    const answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    const value = await answer.json().catch(() => null);
    if (!answer.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(value)}`), { status: answer.status });
    return value;
  }

  /** Of a server with `--auth required`: the first key is in a file beside its store. */
  adminKey() {
    return readFileSync(`${this.store.replace("sqlite:", "")}.admin-key`, "utf8").match(/abk_[0-9a-f]+/)[0];
  }

  async deploy(key) {
    for (const workflow of workflows) await this.api("POST", "/workflow-definitions", workflow, key);
  }

  work(key) {
    this.worker = new Worker(this, key);
  }
}

const handlers = {
  greet: ({ input }) => ({ content: [{ type: "text", text: `Hello, ${input.name}!` }] }),
  draft: ({ input }) => ({ title: input.title, body: "…" }),
  fail: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  async log(task, { log }) {
    for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) await log(message);
    return "logged";
  },
  "deploy-tool": (task, { deploy }) => deploy({ name: `late_tool_${task.runId}`, mcp: {} }),
  "deploy-prompt": (task, { deploy }) => deploy({ name: `late_prompt_${task.runId}`, mcp: { kind: "prompt" } }),
};

/** A worker that polls, in a few lines. */
class Worker {
  constructor(abide, key) {
    Object.assign(this, { abide, key, stopped: false });
    this.polling = this.poll();
  }

  stop() {
    this.stopped = true;
  }

  async poll() {
    const ask = { handlers: Object.keys(handlers), maxTasks: 10, waitMs: 1000, workerId: "mcp-fixtures" };
    while (!this.stopped) {
      const polled = await this.abide.api("POST", "/tasks/poll", ask, this.key).catch(() => null);
      if (!polled) await new Promise((resolve) => setTimeout(resolve, 50));
      for (const task of polled?.tasks ?? []) this.perform(task).catch(() => {});
    }
  }

  async perform(task) {
    const { abide, key } = this;
    const report = (what, body) => abide.api("POST", `/tasks/${task.id}/${what}`, { leaseToken: task.leaseToken, ...body }, key);
    const helpers = {
      log: (message) => report("log", { lines: [{ level: "info", message }] }),
      deploy: async (workflow) => {
        await abide.api("POST", "/workflow-definitions", { ...workflow, steps: [{ name: "begin", type: "wait", durationMs: 0 }] }, key);
        return "deployed";
      },
    };
    const input = task.input ?? {};
    try {
      await report("complete", { output: await handlers[task.handler]({ ...task, input }, helpers) });
    } catch (error) {
      await report("fail", { message: error.message, retryable: false });
    }
  }
}
