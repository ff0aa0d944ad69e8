/** The refund desk, in virtual time: every way through it, and a payment that fails twice. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { type Shop, desk, refunds, restock } from "../examples/refund-desk.js";
import type { RunHandle } from "../src/index.js";
import { TestServer } from "../src/testing.js";

interface Told {
  links: string[];
  paid: [number, string][];
  asked: number;
}

async function open(): Promise<{ server: TestServer; told: Told }> {
  const told: Told = { links: [], paid: [], asked: 0 };
  const shop: Shop = {
    order: async (id) => ({
      id,
      lines: [
        { sku: "tea", cents: 4000 },
        { sku: "cup", cents: 900 },
      ],
    }),
    pay: async (_, cents, key) => {
      told.asked += 1;
      if (told.asked < 3) throw new Error("the bank does not answer");
      told.paid.push([cents, key]);
      return `${cents} cents paid`;
    },
    tell: async (_, link) => void told.links.push(link),
  };
  const server = await TestServer.start();
  server.worker({ handlers: [refunds(shop)], log: () => {} });
  await server.client.deploy(restock);
  await server.client.deploy(desk);
  return { server, told };
}

async function asked(server: TestServer, order = 7): Promise<RunHandle<string>> {
  const run = await server.client.start(desk, { order });
  await server.settle(run);
  await server.client.notify("refund.requested", { order: order + 1 });
  await server.client.notify("refund.requested", { order });
  await server.advance("2d");
  return run;
}

test("an order is returned, the refund is edited by link, paid at the third try, and every line is back", async () => {
  const { server, told } = await open();
  try {
    const run = await asked(server);
    await server.client.notify("parcel.returned", { order: 7 });
    await server.settle(run);
    const [link = ""] = told.links;
    const edit = (cents: string) =>
      fetch(link, { method: "POST", body: new URLSearchParams({ decision: "edit", "edit/cents": cents }), redirect: "manual" });
    assert.equal((await edit("lots")).status, 422);
    assert.equal((await edit("4200")).status, 303);
    await server.skipWaits(run);
    assert.equal(await run.result(), "4200 cents paid; tea and cup back on the shelf");
    assert.deepEqual(told.paid, [[4200, "refund-7"]]);
    assert.equal(told.links.length, 1);
    const logged = (await server.history(run)).filter(({ type }) => type === "TASK_LOGGED");
    assert.ok(logged.length >= 1);
  } finally {
    await server.close();
  }
});

test("a withdrawal ends it, and so do a parcel that does not come and a review that nobody gives", async () => {
  const { server } = await open();
  try {
    const withdrawn = await asked(server);
    await server.client.notify("refund.withdrawn", { order: 7 });
    assert.equal(await withdrawn.result(), "withdrawn");
    const late = await asked(server, 17);
    await server.skipWaits(late);
    assert.equal(await late.result(), "not returned");
    const unseen = await asked(server, 27);
    await server.client.notify("parcel.returned", { order: 27 });
    await server.skipWaits(unseen);
    assert.equal(await unseen.result(), "nobody decided");
  } finally {
    await server.close();
  }
});

test("the desk has at most 60 lines", () => {
  const lines = readFileSync(new URL("../../examples/refund-desk.ts", import.meta.url), "utf8").split("\n");
  assert.ok(lines.filter((line) => line.trim() !== "").length <= 60);
});
