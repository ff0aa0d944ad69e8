/** The declarations that users get. What they must say is in `types.ts`, which the compiler checks with every strict flag. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

test("nothing that a user gets is `any`", () => {
  const directory = new URL("../src/", import.meta.url);
  const found = readdirSync(directory)
    .filter((file) => file.endsWith(".d.ts"))
    .flatMap((file) => {
      const text = readFileSync(new URL(file, directory), "utf8").replace(/\/\*[^]*?\*\//g, "");
      return text.split("\n").filter((line) => /\bany\b(?!<|\()/.test(line.replace(/"[^"]*"/g, ""))).map((line) => `${file}: ${line.trim()}`);
    });
  assert.deepEqual(found, []);
});
