// `abide mcp` on the standard streams: to a server, and to a file.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Abide, bin } from "./abide.mjs";
import { connect } from "./clients.mjs";

const answer = (form) => ({ action: "accept", content: form.message.startsWith("Who") ? { name: "Ada" } : { ok: true } });
const transport = (...args) => new StdioClientTransport({ command: bin, args: ["mcp", ...args], stderr: "ignore" });

test("a client that starts a program speaks to a server", async () => {
  const abide = await Abide.start({ own: ["--auth", "required"] });
  const key = abide.adminKey();
  await abide.deploy(key);
  abide.work(key);
  for (const mode of [{ pin: "2026-07-28" }, "legacy"]) {
    const client = await connect(undefined, { answer, mode, transport: transport("--server", abide.url, "--key", key) });
    const greeted = await client.callTool({ name: "greet", arguments: { name: "stdio" } });
    assert.equal(greeted.content[0].text, "Hello, stdio!");
    const booked = await client.callTool({ name: "book_trip", arguments: { city: "Bern" } });
    assert.equal(booked.content[0].text, "Ada travels to Bern: true");
    const marked = await client.callTool({ name: "test_custom_header", arguments: { region: "eu" } });
    assert.equal(marked.content[0].text, "eu");
    await client.close();
  }
  const nobody = connect(undefined, { transport: transport("--server", abide.url) });
  await assert.rejects(nobody);
  await abide.end();
});

test("a client that starts a program has a file of its own, and finds its runs there again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "abide-mcp-"));
  const store = `sqlite:${join(folder, "abide.db")}`;
  const abide = await Abide.start({ store });
  await abide.deploy();
  await abide.kill("SIGTERM");
  const ids = [];
  for (let times = 0; times < 2; times++) {
    const client = await connect(undefined, { answer, transport: transport("--store", abide.store) });
    const booked = await client.callTool({ name: "book_trip", arguments: { city: "Bern" } });
    assert.equal(booked.content[0].text, "Ada travels to Bern: true");
    const runs = await client.callTool({ name: "abide_list_runs", arguments: { definition: "book_trip" } });
    ids.push(runs.structuredContent.data.map(({ id }) => id));
    await client.close();
  }
  assert.equal(ids[0].length, 1);
  assert.deepEqual(ids[1].slice(-1), ids[0]);
  rmSync(folder, { recursive: true, force: true });
  rmSync(abide.folder, { recursive: true, force: true });
});
