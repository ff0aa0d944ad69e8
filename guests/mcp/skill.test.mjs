// The page for coding agents, followed to the letter by one that does nothing else.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { bin, freePort } from "./abide.mjs";

const page = readFileSync(new URL("../../docs/skill.md", import.meta.url), "utf8");
const block = (language) => page.match(new RegExp("```" + language + "\\n([\\s\\S]*?)```"))[1];

test("whoever follows the page has a run that has completed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "abide-skill-"));
  symlinkSync(bin, join(folder, "abide"));
  writeFileSync(join(folder, "hello.yaml"), block("yaml"));
  const address = `127.0.0.1:${await freePort()}`;
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, ABIDE_LISTEN: address, ABIDE_SERVER: `http://${address}`, ABIDE_LOG: "error" };
  const rest = `
for i in $(seq 3000); do
  if abide show latest --json | grep -q '^{"id":"run_[^"]*","status":"COMPLETED"'; then break; fi
  sleep 0.1
done
abide show latest --json >&3
kill $(jobs -p)
wait`;
  const script = `set -eu\nexec 3>&1 >&2\n${block("sh")}\n${rest} || true`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: folder, env });
  const run = JSON.parse(stdout);
  assert.equal(run.status, "COMPLETED");
  assert.deepEqual(run.output, { greeting: "hello", agreed: true });
  rmSync(folder, { recursive: true, force: true });
});

test("the page begins as skills do", () => {
  assert.match(page, /^---\nname: abide\ndescription: .{40,1024}\n---\n/);
  assert.ok(page.split("\n").length < 120, "one page");
});
