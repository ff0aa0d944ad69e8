/** New code against recorded journals, without a server. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import type { AnyHandlerFunction, wire } from "../src/index.js";
import { type ExportedJournal, assertReplays, replayCheck } from "../src/testing.js";

const ended = (name: string, asked: string, kind: wire.JournalWait["kind"], payload: wire.Json = null): wire.JournalEntry => ({
  name,
  wait: { asked, kind, payload, status: "COMPLETED", waitpointId: "wp_1" },
});

const journal = (runId: string, entries: wire.JournalEntry[], handler = "desk"): ExportedJournal => ({
  runId,
  workflow: "orders",
  version: "1",
  step: "desk",
  handler,
  attempt: 1,
  input: { id: 7 },
  state: {},
  config: null,
  checkpoint: null,
  journal: entries,
});

const slept = journal("run_a", [{ name: "fetch", result: { cents: 5 } }, ended("nap", "a sleep", "DELAY")]);
const fast = { graceMs: 50 };

test("a mismatch names what was recorded and what the code came to", async () => {
  const desk: AnyHandlerFunction = async (ctx) => {
    await ctx.run("fetch", () => 1);
    await ctx.sleep("rest", "1h");
  };
  const [verdict] = await replayCheck({ desk }, [slept], fast);
  assert.deepEqual(verdict, {
    runId: "run_a",
    step: "desk",
    handler: "desk",
    verdict: "mismatch",
    recorded: "`nap`",
    cameTo: "`rest`",
    message: "the journal holds `nap`, and the code comes to `rest`",
  });
});

test("a handler that throws at its replay fails, one that is missing is missed, one that ends fits", async () => {
  const desk: AnyHandlerFunction = async (ctx) => {
    const { lines } = (await ctx.run("fetch", () => ({ lines: [1] }))) as { lines: number[] };
    return lines.length;
  };
  const other = journal("run_b", [], "gone");
  const end = journal("run_c", [{ name: "fetch", result: { lines: [] } }]);
  const verdicts = await replayCheck({ desk }, [journal("run_a", [{ name: "fetch", result: {} }]), other, end], fast);
  assert.deepEqual(
    verdicts.map(({ verdict }) => verdict),
    ["failed", "noHandler", "fits"],
  );
  assert.match(verdicts[0]?.message ?? "", /length/);
});

test("nothing is done beyond the journal, in no branch, and links are not asked for", async () => {
  let done = 0;
  const desk: AnyHandlerFunction = async (ctx) => {
    const review = await ctx.requestApproval("review", { content: 1 });
    const link = await ctx.createWaitpoint("link");
    await Promise.all([
      ctx.run("fetch", () => (done += 1)),
      ctx.waitForApproval(review),
      ctx.waitForWaitpoint(link),
      ctx.checkpoint(1),
      ctx.notify("tell", "told"),
    ]);
    done += 1;
  };
  const digest = "6b86b273ff34fce1";
  const entries = [ended("review", `approval of ${digest}`, "APPROVAL"), ended("link", "a call", "WEBHOOK")];
  const [verdict] = await replayCheck({ desk }, [journal("run_a", entries)], fast);
  assert.equal(verdict?.verdict, "fits", verdict?.message);
  assert.equal(done, 0);
});

test("an exported file is read line by line, and the assertion lists what does not fit", async () => {
  const directory = mkdtempSync(join(tmpdir(), "abide-journals-"));
  try {
    const path = join(directory, "journals.jsonl");
    writeFileSync(path, `${JSON.stringify(slept)}\n${JSON.stringify({ ...slept, runId: "run_b" })}\n`);
    const good: AnyHandlerFunction = async (ctx) => {
      await ctx.run("fetch", () => 1);
      await ctx.sleep("nap", "1h");
      await ctx.sleep("more", "1h");
    };
    await assertReplays({ desk: good }, path, fast);
    const bad: AnyHandlerFunction = async (ctx) => ctx.waitForEvent("nap", "woken");
    await assert.rejects(assertReplays({ desk: bad }, path, fast), (error: Error) => {
      assert.match(error.message, /^2 of 2 journals do not fit the code:\n  run_a desk \(desk\): mismatch: .*`nap` as a sleep.*`nap` as event woken/);
      return true;
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
