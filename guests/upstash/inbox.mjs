// Endpoints of somebody who uses plain QStash: each keeps what it was sent, after the real receiver has verified it.
import { Receiver } from "@upstash/qstash";
import express from "express";

export const startInbox = () =>
  new Promise((resolve) => {
    const app = express();
    const received = new Map();
    const failing = new Map();
    const held = new Map();
    let current = 0;
    const most = { atOnce: 0 };
    app.use(express.text({ type: () => true, limit: "8mb" }));
    app.all("/in/:name", async (request, response) => {
      const { name } = request.params;
      const body = typeof request.body === "string" ? request.body : "";
      const receiver = new Receiver({
        currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY,
        nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY,
      });
      await receiver.verify({ signature: request.get("upstash-signature"), body, url: `${base}${request.originalUrl}` });
      const list = received.get(name) ?? [];
      received.set(name, list);
      list.push({ body, method: request.method, headers: request.headers, at: Date.now() });
      current += 1;
      most.atOnce = Math.max(most.atOnce, current);
      await held.get(name);
      current -= 1;
      const left = failing.get(name) ?? 0;
      if (left > 0) failing.set(name, left - 1);
      response.status(left > 0 ? 500 : 200).json({ left, name });
    });
    let base;
    const listener = app.listen(0, "127.0.0.1", () => {
      base = `http://127.0.0.1:${listener.address().port}`;
      resolve({
        base,
        most,
        url: (name) => `${base}/in/${name}`,
        got: (name) => received.get(name) ?? [],
        /** Fails the next deliveries to an endpoint. */
        fail: (name, times) => failing.set(name, times),
        /** Keeps deliveries to an endpoint open until the function that it returns is called. */
        hold: (name) => {
          let release;
          held.set(name, new Promise((done) => (release = done)));
          return release;
        },
        close: () => listener.close(),
      });
    });
  });
