// The example app of the repository, in a process of its own, as the guide says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { Abide, freePort } from "./server.mjs";
import { until } from "./until.mjs";

test("the example app takes an order, is told of the payment, and ships", { timeout: 60_000 }, async () => {
  const abide = await Abide.start();
  abide.useCredentials();
  const port = await freePort();
  const app = spawn(process.execPath, ["app.mjs"], {
    cwd: new URL("../../examples/upstash", import.meta.url),
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  try {
    const base = `http://127.0.0.1:${port}`;
    const post = (path, body) =>
      fetch(`${base}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    await until(() => fetch(base).then(() => true, () => false));
    const order = { orderId: "1", items: [{ price: 5 }, { price: 7 }] };
    const [first, again] = [await post("/orders", order), await post("/orders", order)];
    assert.equal(first.status, 202);
    assert.deepEqual(await again.json(), await first.json());
    assert.equal((await post("/orders/1/paid", { by: "Ada" })).status, 202);
    const shipped = await until(async () => {
      const found = await fetch(`${base}/orders/1`).then((answer) => answer.json());
      return found.state === "RUN_SUCCESS" && found.result;
    });
    assert.deepEqual(shipped, { orderId: "1", state: "shipped", total: 12, parcel: "parcel of 1 from B7" });
  } finally {
    app.kill();
    await abide.stop();
  }
});
