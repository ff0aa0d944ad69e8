// abide under test: one server on a file that is thrown away, or two nodes on a private PostgreSQL, and the credentials
// that it gives out.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "./postgres.mjs";

const bin = process.env.ABIDE_BIN;
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

class Node {
  constructor(store, port, own) {
    Object.assign(this, { store, port, own, url: `http://127.0.0.1:${port}` });
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

  async end(signal) {
    this.process.kill(signal);
    await this.gone;
  }
}

export class Abide {
  /** `own` are flags of the server; `store` is a file of its own, and `port` where it is served. */
  static async start({ own = ["--upstash", "--allow-address", "127.0.0.1"], store, port } = {}) {
    const abide = new Abide();
    abide.folder = mkdtempSync(join(tmpdir(), "abide-upstash-"));
    const isShared = !store && process.env.ABIDE_TEST_STORE === "postgres";
    if (isShared) abide.postgres = await startPostgres();
    abide.store = store ?? (isShared ? abide.postgres.address : `sqlite:${join(abide.folder, "abide.db")}`);
    abide.nodes = [];
    for (let count = isShared ? 2 : 1; count > 0; count--) {
      const node = new Node(abide.store, port ?? (await freePort()), own);
      await node.up();
      abide.nodes.push(node);
    }
    return abide;
  }

  /** Where the app's own requests go. */
  get url() {
    return this.nodes[0].url;
  }

  /** Where somebody else's requests go: to another node, if there is one. */
  get otherUrl() {
    return this.nodes.at(-1).url;
  }

  /** Puts the credentials where the SDK looks for them. */
  useCredentials() {
    const shown = execFileSync(bin, ["upstash", "keys", "--store", this.store], { encoding: "utf8" });
    for (const line of shown.trim().split("\n")) {
      const at = line.indexOf("=");
      process.env[line.slice(0, at)] = line.slice(at + 1);
    }
    process.env.QSTASH_URL = this.url;
  }

  /** Kills one node after the other, again and again, and starts it again each time. */
  killEvery(ms, killed) {
    let stopped = false;
    const turns = (async () => {
      for (let turn = 0; !stopped; turn++) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        const node = this.nodes[turn % this.nodes.length];
        await node.end("SIGKILL");
        killed();
        await node.up();
      }
    })();
    return { stop: () => ((stopped = true), turns) };
  }

  async stop() {
    for (const node of this.nodes) await node.end("SIGTERM");
    await this.postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Of abide's own API. */
  async api(path, init) {
    let answer;
    while (!answer) answer = await fetch(`${this.otherUrl}/api/v1${path}`, init).catch(() => undefined);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}
