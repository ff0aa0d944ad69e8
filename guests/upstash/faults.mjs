// Faults between the SDK and the server: answers that are lost after the work was done.
import { createHash } from "node:crypto";
import { createServer, request as send } from "node:http";

/** A proxy in front of a server that loses the first answer to each distinct request that submits something. */
export const losing = (target) =>
  new Promise((resolve) => {
    const seen = new Set();
    const lost = { count: 0 };
    const proxy = createServer((request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks);
        const key = createHash("sha256").update(`${request.method} ${request.url} `).update(body).digest("hex");
        // What has no key of its own would be done twice, by any server.
        const submits = /^\/v2\/(batch|publish|wait|workflows\/runs\/)/.test(request.url) && request.method !== "GET";
        const loses = submits && !seen.has(key);
        seen.add(key);
        const { port } = new URL(target());
        const headers = { ...request.headers, host: `127.0.0.1:${port}` };
        const forwarded = send({ host: "127.0.0.1", port, method: request.method, path: request.url, headers }, (answer) => {
          const parts = [];
          answer.on("data", (part) => parts.push(part));
          answer.on("end", () => {
            if (loses && answer.statusCode < 300) {
              lost.count += 1;
              request.socket.destroy();
              return;
            }
            response.writeHead(answer.statusCode, { ...answer.headers, connection: "close" });
            response.end(Buffer.concat(parts));
          });
        });
        forwarded.on("error", () => request.socket.destroy());
        forwarded.end(body);
      });
    });
    proxy.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${proxy.address().port}`, lost, close: () => proxy.close() });
    });
  });

/** Makes an app cut off every second answer to a delivery that it would have answered with success. */
export const cutOff = (app) => {
  const cut = { count: 0 };
  let answers = 0;
  app.before = (request, response, next) => {
    if (request.get("upstash-workflow-sdk-version")) {
      const end = response.end;
      response.end = function (...given) {
        if (response.statusCode === 200 && ++answers % 2 === 0) {
          cut.count += 1;
          return request.socket.destroy();
        }
        return end.apply(this, given);
      };
    }
    next();
  };
  return cut;
};

/** A proxy in front of an app that cuts off every second 200 to a step, after the app has done its work. */
export const cutting = (target) =>
  new Promise((resolve) => {
    const cut = { count: 0 };
    let answers = 0;
    const proxy = createServer((request, response) => {
      const { port } = new URL(target);
      const forwarded = send({ host: "127.0.0.1", port, method: request.method, path: request.url, headers: request.headers }, (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => {
          const cuts = request.headers["upstash-workflow-sdk-version"] && answer.statusCode === 200 && ++answers % 2 === 0;
          if (cuts) {
            cut.count += 1;
            request.socket.destroy();
            return;
          }
          response.writeHead(answer.statusCode, answer.headers);
          response.end(Buffer.concat(parts));
        });
      });
      forwarded.on("error", () => request.socket.destroy());
      request.pipe(forwarded);
    });
    proxy.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${proxy.address().port}`, cut, close: () => proxy.close() });
    });
  });
