// Orders, as an app of the Upstash Workflow SDK. Nothing here knows of abide: the SDK finds it by QSTASH_URL.
import { Client } from "@upstash/workflow";
import { serve } from "@upstash/workflow/express";
import express from "express";

const port = Number(process.env.PORT ?? 3000);
const base = process.env.APP_URL ?? `http://127.0.0.1:${port}`;
const client = new Client();
const app = express();
app.use(express.json());

app.use(
  "/workflows/order",
  serve(
    async (context) => {
      const { orderId, items } = context.requestPayload;
      const total = await context.run("price", () => items.reduce((sum, item) => sum + item.price, 0));
      const stock = await context.call("stock", { url: `${base}/stock`, method: "POST", body: { items: items.length } });
      const { eventData, timeout } = await context.waitForEvent("payment", `order-${orderId}-paid`, { timeout: "3d" });
      if (timeout) return { orderId, state: "never paid" };
      await context.sleep("cool down", 1);
      const [parcel] = await Promise.all([
        context.run("ship", () => `parcel of ${orderId} from ${stock.body.shelf}`),
        context.run("thank", () => console.log(`thank you, ${eventData.by}`)),
      ]);
      return { orderId, state: "shipped", total, parcel };
    },
    { failureFunction: async ({ failResponse }) => console.log(`an order failed: ${failResponse}`) },
  ),
);

app.post("/stock", (_, response) => response.json({ shelf: "B7" }));

app.post("/orders", async (request, response) => {
  const { orderId, items } = request.body;
  const started = await client.trigger({
    url: `${base}/workflows/order`,
    body: { orderId, items },
    workflowRunId: `order-${orderId}`,
    label: "orders",
  });
  response.status(202).json(started);
});

// Whether the workflow waits already or not: an event to a run is kept for it.
app.post("/orders/:orderId/paid", async (request, response) => {
  const { orderId } = request.params;
  await client.notify({ eventId: `order-${orderId}-paid`, eventData: request.body, workflowRunId: `wfr_order-${orderId}` });
  response.status(202).json({});
});

app.get("/orders/:orderId", async (request, response) => {
  const { runs } = await client.logs({ workflowRunId: `wfr_order-${request.params.orderId}` });
  response.json({ state: runs[0]?.workflowState, result: JSON.parse(runs[0]?.workflowRunResponse ?? "null") });
});

app.listen(port, "127.0.0.1", () => console.log(`the shop is open on ${base}`));
