// An app as users of the SDK write it: an Express server with workflows. `effects` counts what step functions did.
import express from "express";
import { WorkflowNonRetryableError, WorkflowRetryAfterError } from "@upstash/workflow";
import { createWorkflow, serve, serveMany } from "@upstash/workflow/express";

export const effects = new Map();
export const failures = new Map();
const did = (context, name) => {
  const key = `${context.workflowRunId} ${name}`;
  effects.set(key, (effects.get(key) ?? 0) + 1);
};

export const workflows = {
  basic: async (context) => {
    const { text } = context.requestPayload;
    const one = await context.run("step1", () => (did(context, "step1"), `one ${text}`));
    const two = await context.run("step2", () => (did(context, "step2"), { a: one, n: 2 }));
    await context.run("undef", () => void did(context, "undef"));
    return { final: two, header: context.headers.get("x-user-header"), label: context.label };
  },
  naps: async (context) => {
    const before = await context.run("before", () => Date.now());
    await context.sleep("nap", 1);
    await context.sleepUntil("until", Math.floor(Date.now() / 1000) + 1);
    return await context.run("after", () => Date.now() - before);
  },
  parallel: async (context) => {
    const [a, b, c] = await Promise.all([
      context.run("a", () => (did(context, "a"), "A")),
      context.run("b", () => (did(context, "b"), "B")),
      context.sleep("zz", 1),
    ]);
    const last = await context.run("last", () => (did(context, "last"), `${a}${b}${c === undefined}`));
    const more = await Promise.all([1, 2, 3].map((n) => context.run(`m${n}`, () => (did(context, `m${n}`), n * 10))));
    return { last, more };
  },
  call: async (context) => {
    const { base } = context.requestPayload;
    const ok = await context.call("ok", { url: `${base}/ext/json/7`, method: "GET" });
    const posted = await context.call("posted", { url: `${base}/ext/echo`, method: "POST", body: { hi: "ü" }, headers: { "x-call": "c" } });
    const flaky = await context.call("flaky", { url: `${base}/ext/flaky/${context.workflowRunId}`, method: "GET", retries: 2, retryDelay: "50" });
    const bad = await context.call("bad", { url: `${base}/ext/status/418`, method: "GET" });
    return { ok: ok.body, posted: posted.body, flaky: [flaky.status, flaky.body], bad: bad.status, type: ok.header["Content-Type"][0] };
  },
  parcall: async (context) => {
    const { base } = context.requestPayload;
    const calls = [1, 2, 3].map((n) => context.call(`c${n}`, { url: `${base}/ext/json/${n}`, method: "GET" }));
    const all = await Promise.all([...calls, context.run("beside", () => "b")]);
    return all.map((one) => one.body ?? one);
  },
  waiter: async (context) => {
    const { event, timeout } = context.requestPayload;
    const { eventData, timeout: timedOut } = await context.waitForEvent("wait", event, { timeout: timeout ?? "20s" });
    return { eventData: eventData ?? null, timedOut };
  },
  both: async (context) => {
    const { event } = context.requestPayload;
    const [one, two] = await Promise.all(["one", "two"].map((name) => context.waitForEvent(name, event, { timeout: "20s" })));
    return [one.eventData, two.eventData];
  },
  large: async (context) => {
    let last = "";
    for (const name of ["a", "b", "c"]) last = await context.run(name, () => (did(context, name), name.repeat(100_000)));
    const [one, two] = await Promise.all(["d", "e"].map((name) => context.run(name, () => (did(context, name), name))));
    return [last.length, one, two];
  },
  order: async (context) => {
    const { orderId } = context.requestPayload;
    const { eventData, timeout } = await context.waitForEvent("wait for payment", `order-${orderId}-paid`, { timeout: "1h" });
    if (timeout) return { orderId, paid: false };
    await context.run("ship", () => did(context, "ship"));
    return { orderId, paid: true, amount: eventData.amount };
  },
  twice: async (context) => {
    const { event } = context.requestPayload;
    await context.run("slow", () => new Promise((done) => setTimeout(done, 300)));
    const first = await context.waitForEvent("first", event, { timeout: "20s" });
    const second = await context.waitForEvent("second", event, { timeout: "20s" });
    return [first.eventData, second.eventData];
  },
  notifier: async (context) => {
    const { event } = context.requestPayload;
    const { notifyResponse } = await context.notify("tell", event, { from: "workflow" });
    return notifyResponse.length;
  },
  webhook: async (context) => {
    const hook = await context.createWebhook("hook");
    await context.run("tell", () => void failures.set(`hook ${context.workflowRunId}`, hook.webhookUrl));
    const called = await context.waitForWebhook("called", hook, "20s");
    const again = await context.waitForWebhook("again", hook, "1s");
    return { timeout: called.timeout, method: called.request?.method, header: called.request?.headers.get("x-hook"), again: again.timeout };
  },
  failing: async (context) => {
    await context.run("fine", () => did(context, "fine"));
    await context.run("boom", () => {
      did(context, "boom");
      throw new Error("my-error ✓");
    });
  },
  recovers: async (context) => {
    await context.run("fine", () => did(context, "fine"));
    return await context.run("flaky", () => {
      did(context, "flaky");
      if (!failures.get(`healed ${context.workflowRunId}`)) throw new Error("not yet");
      return "healed";
    });
  },
  nonretryable: async (context) => {
    await context.run("stop", () => {
      did(context, "stop");
      throw new WorkflowNonRetryableError("stop now");
    });
  },
  retryafter: async (context) => {
    return await context.run("later", () => {
      did(context, "later");
      if (effects.get(`${context.workflowRunId} later`) < 2) throw new WorkflowRetryAfterError("later", 1);
      return context.retried ?? "done";
    });
  },
  retries: async (context) => {
    return await context.run("third", () => {
      did(context, "third");
      if (effects.get(`${context.workflowRunId} third`) < 3) throw new Error("again");
      return "third time";
    });
  },
  cancels: async (context) => {
    await context.run("before", () => did(context, "before"));
    await context.cancel();
    await context.run("never", () => did(context, "never"));
  },
  busy: async (context) => {
    const { base, parallelism } = context.requestPayload;
    const flowControl = { key: `busy-${context.workflowRunId}`, parallelism };
    const calls = [1, 2, 3, 4].map((n) => context.call(`b${n}`, { url: `${base}/ext/busy/${context.workflowRunId}`, method: "GET", flowControl }));
    return Math.max(...(await Promise.all(calls)).map((one) => one.body.atOnce));
  },
  secretive: async (context) => {
    const { base, pin } = context.requestPayload;
    const header = context.headers.get("authorization");
    const call = await context.call("told", { url: `${base}/ext/authorized`, method: "GET", headers: { authorization: "Bearer very-secret", "x-any": "hide-me" } });
    const kept = await context.run("keep", () => `${pin} kept`);
    const echoed = await context.call("echoed", { url: `${base}/ext/echo`, method: "POST", body: { hi: pin } });
    return { pin: pin === "pin-1234", header: header === "Bearer very-secret", called: call.body.authorized, kept: kept === "pin-1234 kept", echoed: echoed.body.got.hi === pin };
  },
  sleeper: async (context) => {
    await context.sleep("long", "1h");
    return "awake";
  },
};

const child = createWorkflow(async (context) => {
  const n = context.requestPayload;
  if (n < 0) await context.run("no", () => { throw new WorkflowNonRetryableError("negative"); });
  return await context.run("double", () => ({ doubled: n * 2 }));
});
const parent = createWorkflow(async (context) => {
  const fine = await context.invoke("inv", { workflow: child, body: 21, retries: 0 });
  const broken = await context.invoke("bad", { workflow: child, body: -1, retries: 0 });
  return { fine: fine.body, isFailed: fine.isFailed, broken: broken.isFailed };
});

export const start = () =>
  new Promise((resolve) => {
    const app = express();
    const flaky = new Map();
    app.use((request, response, next) => {
      const isEmpty = request.get("upstash-workflow-sdk-version") && !Number(request.get("content-length")) && !request.get("transfer-encoding");
      if (isEmpty) failures.set(`fetched ${request.get("upstash-workflow-runid")}`, true);
      next();
    });
    app.use((request, response, next) => (app.before ? app.before(request, response, next) : next()));
    app.use(express.json({ limit: "8mb" }));
    app.get("/ext/json/:n", (request, response) => response.json({ n: Number(request.params.n) }));
    app.post("/ext/echo", (request, response) => response.json({ got: request.body, header: request.get("x-call"), leaked: request.get("upstash-workflow-runid") ?? null }));
    app.get("/ext/authorized", (request, response) => response.json({ authorized: request.get("authorization") === "Bearer very-secret" && request.get("x-any") === "hide-me" }));
    app.get("/ext/busy/:id", async (request, response) => {
      const key = `busy ${request.params.id}`;
      flaky.set(key, (flaky.get(key) ?? 0) + 1);
      const atOnce = flaky.get(key);
      await new Promise((done) => setTimeout(done, 100));
      flaky.set(key, flaky.get(key) - 1);
      response.json({ atOnce });
    });
    app.get("/ext/status/:code", (request, response) => response.status(Number(request.params.code)).json({ no: true }));
    app.get("/ext/flaky/:id", (request, response) => {
      const count = (flaky.get(request.params.id) ?? 0) + 1;
      flaky.set(request.params.id, count);
      response.status(count < 3 ? 500 : 200).json({ count });
    });
    app.post("/plain", (request, response) => response.json({ plain: true }));
    for (const [name, workflow] of Object.entries(workflows)) {
      const failureFunction = async ({ context, failStatus, failResponse }) => {
        failures.set(context.workflowRunId, { failStatus, failResponse, header: context.headers.get("x-user-header") });
        return "failure handled";
      };
      const options = name === "nonretryable" ? {} : { failureFunction };
      app.use(`/wf/${name}`, serve(workflow, options));
    }
    app.use("/many", serveMany({ parent, child }));
    const listener = app.listen(0, "127.0.0.1", () => {
      const base = `http://127.0.0.1:${listener.address().port}`;
      resolve({ app, base, close: () => listener.close() });
    });
  });
