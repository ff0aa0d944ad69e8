/** What a value is after it was written as JSON and read again. */
import { messageOf } from "./described.js";
import { TaskError } from "./failure.js";
import type { Json } from "./wire.js";

export type { Json } from "./wire.js";

/**
 * What is left of a value in JSON: a `Date` is a string, what is undefined is absent from an object and null elsewhere, a `Map` or
 * a `Set` is empty, and a function, a symbol or a bigint cannot be written at all.
 */
export type Jsonify<T> = IsAny<T> extends true ? T : unknown extends T ? Json : [T] extends [Json] ? T : Written<T>;

type IsAny<T> = 0 extends 1 & T ? true : false;
/** What has no JSON. */
type Unwritten = bigint | symbol | ((...given: never[]) => unknown);
/** What is written as an object without fields. */
type Emptied = ReadonlyMap<never, unknown> | ReadonlySet<never> | WeakMap<never, unknown> | WeakSet<never> | RegExp | Promise<unknown>;

type Written<T> = T extends { toJSON(): infer J }
  ? Jsonify<J>
  : T extends string | number | boolean | null
    ? T
    : T extends undefined | void
      ? null
      : T extends Unwritten
        ? never
        : T extends Emptied
          ? Record<string, never>
          : T extends readonly unknown[]
            ? { -readonly [K in keyof T]: Element<T[K]> }
            : T extends object
              ? Flat<Fields<T>>
              : never;

/** In a list, what cannot be written is null. */
type Element<T> = T extends Unwritten ? null : Jsonify<T>;

type Fields<T> = {
  -readonly [K in keyof T as K extends symbol ? never : Kept<T[K], K>]: Jsonify<Exclude<T[K], undefined>>;
} & { -readonly [K in keyof T as K extends symbol ? never : Absent<T[K], K>]?: Jsonify<Exclude<T[K], undefined | Unwritten>> };

/** A field that is always there. */
type Kept<V, K> = IsAny<V> extends true ? K : unknown extends V ? K : undefined extends V ? never : [Extract<V, Unwritten>] extends [never] ? K : never;
/** A field that may be absent. */
type Absent<V, K> =
  IsAny<V> extends true ? never
  : unknown extends V ? never
  : [Exclude<V, undefined | Unwritten>] extends [never] ? never
  : Kept<V, K> extends never ? K
  : never;

type Flat<T> = { [K in keyof T]: T[K] };

/** A value as it will be after a replay. */
export function asJson(name: string, value: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(value ?? null)) as Json;
  } catch (error) {
    throw new TaskError(`what \`${name}\` gives is not JSON: ${messageOf(error)}`, { code: "NOT_JSON", retryable: false });
  }
}
