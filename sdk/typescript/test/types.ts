/** What the compiler must know, and what it must refuse. Compiled with every strict flag; never run. */
import { type Context, type Json, type Jsonify, type RunHandle, handler, workflow } from "../src/index.js";
import type { Client } from "../src/index.js";
import type { TestServer } from "../src/testing.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

interface Order {
  id: number;
  at: Date;
  note?: string;
  tags: Set<string>;
  total(): number;
}

interface WrittenOrder {
  id: number;
  at: string;
  note?: string;
  tags: Record<string, never>;
}

class Money {
  constructor(private readonly cents: number) {}
  toJSON(): { cents: number } {
    return { cents: this.cents };
  }
}

// What is left after JSON.
holds<Same<Jsonify<Order>, WrittenOrder>>();
holds<Same<Jsonify<Date>, string>>();
holds<Same<Jsonify<Date | undefined>, string | null>>();
holds<Same<Jsonify<void>, null>>();
holds<Same<Jsonify<undefined>, null>>();
holds<Same<Jsonify<Map<string, number>>, Record<string, never>>>();
holds<Same<Jsonify<() => void>, never>>();
holds<Same<Jsonify<bigint>, never>>();
holds<Same<Jsonify<Money>, { cents: number }>>();
holds<Same<Jsonify<unknown>, Json>>();
holds<Same<Jsonify<Json>, Json>>();
holds<Same<Jsonify<[Date, undefined, number]>, [string, null, number]>>();
holds<Same<Jsonify<{ a: string | undefined; b: () => void; c: readonly Date[] }>, { a?: string; c: string[] }>>();

declare const order: Order;

export async function calls(ctx: Context<{ id: number }>): Promise<void> {
  const found = await ctx.run("find", () => order);
  holds<Same<typeof found.at, string>>();
  // @ts-expect-error a Date is a string after JSON
  found.at.getTime();
  // @ts-expect-error a function does not come back
  found.total();

  const word = await ctx.waitForSignal<{ word: string; when: Date }>("word", "word", { timeout: "1d" });
  holds<Same<typeof word, { word: string; when: string } | undefined>>();
  // @ts-expect-error it may not have come
  word.word;

  const anything = await ctx.waitForEvent("news", "news");
  // @ts-expect-error what came is any JSON, until somebody says what it is
  anything?.order;

  const review = await ctx.approve("review", { content: { cents: 100, at: new Date() } });
  holds<Same<typeof review.content, { cents: number; at: string }>>();
  const asked = await ctx.requestApproval("again", { content: { cents: 100 } });
  holds<Same<(typeof asked)["options"]["content"], { cents: number } | undefined>>();
  holds<Same<Awaited<ReturnType<typeof ctx.waitForApproval<{ cents: number }>>>["content"], { cents: number }>>();

  const answer = await ctx.http<{ at: Date }>("rate", { url: "https://rates.example.com", retry: 3 });
  holds<Same<typeof answer.body, { at: string }>>();

  const first = await ctx.any([
    ctx.waitForSignal<number>("reply", "reply"),
    ctx.sleep("late", "1d"),
    ctx.branch("fetch", async () => ({ at: new Date() })),
  ]);
  if (first.index === 0) holds<Same<typeof first.value, number | undefined>>();
  if (first.index === 2) holds<Same<typeof first.value, { at: string }>>();
  // @ts-expect-error there are three of them
  if (first.index === 3) return;
  const named = await ctx.any([ctx.sleep("late", "1d"), ctx.branch("fetch", () => 7)]);
  if (named.name === "fetch") holds<Same<typeof named.value, number>>();
  // @ts-expect-error nobody has that name
  if (named.name === "other") return;

  const [date, nothing] = await ctx.all([ctx.branch("date", () => new Date()), ctx.sleep("nap", "1h")]);
  holds<Same<typeof date, Date>>();
  holds<Same<typeof nothing, void>>();

  const child = await ctx.child("child", orders, { id: 1, due: new Date() });
  holds<Same<typeof child, string>>();
  // @ts-expect-error a typed workflow needs its input
  void ctx.child("empty", orders);
  const started = await ctx.startChild("started", orders, { id: 1, due: new Date() });
  holds<Same<typeof started, RunHandle<string>>>();
}

const takes = handler("takes", (_, input: { id: number; due: string }) => String(input.id));
const takesDates = handler("takes-dates", (_, input: { id: number; due: Date }) => String(input.id));

const orders = workflow<{ id: number; due: Date }, string>("orders").task("takes", takes);
// @ts-expect-error the handler is given a string, not a Date
orders.task("dates", takesDates);
// With an input of its own, it is the definition that says what the handler gets.
orders.task("own", takesDates, { input: { id: 7 } });
workflow("untyped").task("any", takesDates);

export async function starts(client: Client, server: TestServer): Promise<void> {
  const run = await client.start(orders, { id: 7, due: new Date() });
  holds<Same<Awaited<ReturnType<typeof run.result>>, string>>();
  // @ts-expect-error a typed workflow needs its input
  await client.start(orders);
  // @ts-expect-error and of its type
  await client.start(orders, { id: "seven", due: new Date() });
  // @ts-expect-error also where its end is waited for
  await client.startAndWait(orders);
  // @ts-expect-error and in tests
  await server.runThrough(orders);
  const through = await server.runThrough(orders, { id: 7, due: new Date() });
  holds<Same<typeof through, string>>();
  await client.start(workflow<void, string>("without"));
  const untyped = await client.startAndWait("orders", { id: 7 });
  holds<Same<typeof untyped, Json>>();
  // @ts-expect-error an untyped output is any JSON
  untyped.id;
  const typed = await client.startAndWait<{ id: number }>("orders", { id: 7 });
  holds<Same<typeof typed.id, number>>();

  const runs = await client.runs.list().all({ most: 100 });
  holds<Same<(typeof runs)[number]["id"], string>>();
  for await (const { data } of client.runs.list().pages()) holds<Same<typeof data, typeof runs>>();
}
