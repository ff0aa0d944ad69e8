/** What is repeated, and what is not, when a server is busy, gone, or something between answers. */
import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { Busy, Client, Unreachable } from "../src/index.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that gives these answers, one after the other. */
async function scripted(answers: Answer[], use: (client: Client, asked: IncomingMessage[]) => Promise<void>): Promise<void> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume().on("end", () => answers.shift()?.(request, response));
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  try {
    const { port } = server.address() as AddressInfo;
    await use(new Client({ url: `http://127.0.0.1:${port}`, retries: 2 }), asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const yes: Answer = (_, response) => response.end('{"id": "run_1"}');
const hangUp: Answer = (request) => request.socket.destroy();
const busy: Answer = (_, response) => {
  response.writeHead(503, { "content-type": "application/problem+json", "retry-after": "0" });
  response.end('{"type": "", "title": "", "status": 503, "code": "OVERLOADED", "detail": "later"}');
};
const noKey: Answer = (_, response) => {
  response.writeHead(401, { "content-type": "application/problem+json" });
  response.end('{"type": "", "title": "", "status": 401, "code": "UNAUTHENTICATED", "detail": "this needs an API key"}');
};
const proxy: Answer = (_, response) => response.writeHead(502).end("<html>");

test("who has no key is told where one is read from", () =>
  scripted([noKey], async (client) => {
    await assert.rejects(client.start("order"), { message: /needs an API key; give a key as `apiKey`, or in ABIDE_API_KEY$/ });
  }));

test("a start is repeated with the same key until it is answered", () =>
  scripted([busy, hangUp, yes], async (client, asked) => {
    assert.equal((await client.start("order")).id, "run_1");
    const keys = new Set(asked.map(({ headers }) => headers["idempotency-key"]));
    assert.deepEqual([asked.length, keys.size, keys.has(undefined)], [3, 1, false]);
  }));

test("a busy server is given up after the retries, with its code", () =>
  scripted([busy, busy, busy], async (client, asked) => {
    await assert.rejects(client.start("order"), (error) => error instanceof Busy && error.code === "OVERLOADED");
    assert.equal(asked.length, 3);
  }));

test("what may have been done, and has no key, is not repeated", () =>
  scripted([hangUp], async (client, asked) => {
    await assert.rejects(client.admin.createWorkspace("x"), Unreachable);
    assert.equal(asked.length, 1);
  }));

test("what was refused because the server is busy is repeated in any case", () =>
  scripted([busy, yes], async (client, asked) => {
    await client.admin.createWorkspace("x");
    assert.equal(asked.length, 2);
  }));

test("an answer of something in between has a code, too", () =>
  scripted([proxy, proxy, proxy], async (client) => {
    await assert.rejects(client.runs.find("x"), { code: "HTTP_502", status: 502, detail: "<html>" });
  }));

test("a key is shown to nobody else", () =>
  scripted([yes], async (client, asked) => {
    const elsewhere = new Client({ url: "http://127.0.0.1:1", apiKey: "abk_1" });
    await elsewhere.waitpoints.resume(`${client.transport.server}/resume?token=x`);
    assert.deepEqual([asked[0]?.url, asked[0]?.headers.authorization], ["/resume?token=x", undefined]);
  }));

test("keys and traces are sent along", () =>
  scripted([yes], async (client, asked) => {
    const url = client.transport.server;
    await new Client({ url, apiKey: "abk_1", traceparent: () => "00-1-2-01" }).runs.find("x");
    const { authorization, traceparent } = asked[0]?.headers ?? {};
    assert.deepEqual([authorization, traceparent], ["Bearer abk_1", "00-1-2-01"]);
  }));
