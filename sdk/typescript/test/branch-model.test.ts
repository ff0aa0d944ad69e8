/**
 * Random handlers of calls, sleeps, races and failures, against a model of how long they take. `SEED` and `HANDLERS` repeat or
 * extend what is tried.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Branch, type Context, NotRetryable, RunFailed, type Wait, workflow } from "../src/index.js";
import { TestServer } from "../src/testing.js";

type Node =
  | { kind: "run"; name: string }
  | { kind: "throw"; name: string }
  | { kind: "sleep"; name: string; hours: number }
  | { kind: "all" | "any"; name: string; parts: Part[] };
type Part = { name: string; nodes: Node[] } | (Node & { kind: "sleep" });

const seed = Number(process.env["SEED"] ?? 15);
/** One in so many is in a server that is killed. */
const KILLED = 10;
const handlers = Number(process.env["HANDLERS"] ?? 40);

/** Mulberry32. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function nodes(random: () => number, path: string, depth: number): Node[] {
  return Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => node(random, `${path}.${index}`, depth));
}

function node(random: () => number, name: string, depth: number): Node {
  const drawn = random();
  if (depth === 0 || drawn < 0.4) return { kind: "run", name };
  if (drawn < 0.65) return { kind: "sleep", name, hours: 1 + Math.floor(random() * 50) };
  if (drawn < 0.7) return { kind: "throw", name };
  const parts = Array.from({ length: 2 + Math.floor(random() * 2) }, (_, index): Part => {
    const part = `${name}${String.fromCharCode(97 + index)}`;
    if (random() < 0.3) return { kind: "sleep", name: part, hours: 1 + Math.floor(random() * 50) };
    return { name: part, nodes: nodes(random, part, depth - 1) };
  });
  return { kind: drawn < 0.85 ? "any" : "all", name, parts };
}

/** How long it takes, and whether it throws in the end. */
function model(sequence: readonly Node[]): { hours: number; throws: boolean } {
  let hours = 0;
  for (const one of sequence) {
    if (one.kind === "throw") return { hours, throws: true };
    if (one.kind === "sleep") hours += one.hours;
    if (one.kind === "all" || one.kind === "any") {
      const ends = one.parts.map((part) => ("nodes" in part ? model(part.nodes) : { hours: part.hours, throws: false }));
      const thrown = ends.filter(({ throws }) => throws);
      const all = ends.map((end) => end.hours);
      // A failure ends both, and is caught.
      hours += one.kind === "any" ? Math.min(...all) : thrown.length > 0 ? Math.min(...thrown.map((end) => end.hours)) : Math.max(...all);
    }
  }
  return { hours, throws: false };
}

class Player {
  readonly executed = new Map<string, number>();
  readonly winners = new Map<string, Set<string>>();

  async play(ctx: Context, sequence: readonly Node[]): Promise<number> {
    for (const one of sequence) {
      if (one.kind === "run") await this.call(ctx, one.name);
      else if (one.kind === "throw") await this.call(ctx, one.name, new NotRetryable(one.name));
      else if (one.kind === "sleep") await ctx.sleep(one.name, `${one.hours}h`);
      else await this.together(ctx, one.kind, one.name, one.parts);
    }
    return sequence.length;
  }

  private call(ctx: Context, name: string, error?: Error): Promise<string> {
    return ctx.run(name, () => {
      this.executed.set(name, (this.executed.get(name) ?? 0) + 1);
      if (error) throw error;
      return name;
    });
  }

  private async together(ctx: Context, kind: "all" | "any", name: string, parts: readonly Part[]): Promise<void> {
    const members: (Wait<unknown> | Branch<unknown>)[] = parts.map((part) =>
      "nodes" in part ? ctx.branch(part.name, () => this.play(ctx, part.nodes)) : ctx.sleep(part.name, `${part.hours}h`),
    );
    let end: string;
    try {
      end = kind === "any" ? (await ctx.any(members)).name : `${(await ctx.all(members)).length}`;
    } catch (error) {
      if (!(error instanceof RunFailed)) throw error;
      end = `threw ${error.run}`;
    }
    const seen = this.winners.get(name) ?? new Set();
    this.winners.set(name, seen.add(end));
  }
}

test(`${handlers} random handlers of branches end as the model says, from seed ${seed}`, { timeout: 600_000 }, async () => {
  const server = await TestServer.start();
  try {
    const players = new Map<string, { player: Player; sequence: Node[] }>();
    const play = (ctx: Context, input: { name: string }) => {
      const { player, sequence } = players.get(input.name) ?? { player: new Player(), sequence: [] };
      return player.play(ctx, sequence);
    };
    // Whoever takes a task: what was recorded is all there is to go by.
    for (const name of ["one", "two"]) server.worker({ name, handlers: { play }, graceMs: 1_000, log: () => {} });
    await server.client.deploy(workflow("play").task("play", "play", { retry: { maxAttempts: 1 } }));
    for (let handler = 0; handler < handlers; handler += 1) {
      const name = `${seed + handler}`;
      const sequence = nodes(generator(seed + handler), "n", 3);
      const player = new Player();
      players.set(name, { player, sequence });
      const about = `SEED=${name} HANDLERS=1: ${JSON.stringify(sequence)}`;
      const before = await server.now();
      const run = await server.client.start("play", { name });
      if (handler % KILLED === 0) {
        await server.settle(run);
        await server.crash();
      }
      const { status, error, waitingFor } = await server.skipWaits(run);
      const { hours, throws } = model(sequence);
      assert.equal(status, throws ? "FAILED" : "COMPLETED", `${about}: ${JSON.stringify(error ?? waitingFor)}`);
      const took = ((await server.now()).getTime() - before.getTime()) / 3_600_000;
      // A test clock begins anew with its server.
      if (handler % KILLED !== 0) assert.equal(took, hours, about);
      for (const [call, times] of player.executed) assert.equal(times, 1, `${call} was done ${times} times: ${about}`);
      for (const [race, ends] of player.winners) assert.equal(ends.size, 1, `${race} ended with ${[...ends].join(", ")}: ${about}`);
      for await (const wait of server.client.waitpoints.list({ runId: run.id })) assert.notEqual(wait.status, "PENDING", about);
    }
  } finally {
    await server.close();
  }
});
