/**
 * The durable calls of a run's handlers, from its history: each `ctx.…` by its name, with the times at which it worked and
 * waited. What worked is told when its result is recorded; it began when its worker took the task, or recorded
 * something before, or later.
 */
import type { HistoryRecord, WaitKind, WaitStatus } from '../api/types';
import { guestStep } from './guest';

export type CallKind = 'RUN' | WaitKind;
export type CallStatus = WaitStatus | 'FAILED';

export interface Piece {
  doing: 'working' | 'waiting';
  from: number;
  /** Absent: it goes on. */
  until?: number;
  /** Why this attempt failed. */
  error?: string;
}

export interface DurableCall {
  step: string;
  name: string;
  kind: CallKind;
  status: CallStatus;
  pieces: Piece[];
  /** Made so often, as far as it is recorded. */
  attempts: number;
  waitpointId?: string;
  /** When time ends its wait, or its deadline. */
  resumeAt?: string;
  error?: string;
  result?: unknown;
  /** What a guest's SDK calls it. */
  word?: string;
}

interface OpenedWait {
  number: number;
  at?: { step: number; item?: number };
  name: string;
  kind: WaitKind;
  resumeAt?: string;
  listensFor?: { attempt?: { call: string; attempt: number; error: { message: string } } };
}

/** What SDKs begin names with that are their own: `!charge` is how the call `charge` failed. */
const SDK_ENTRY = '!';

export class Calls {
  /** In the order in which they began. */
  readonly all: DurableCall[] = [];
  readonly #named = new Map<string, DurableCall>();
  readonly #waits = new Map<number, { call: DurableCall; piece: Piece; isBackOff: boolean }>();
  readonly #places = new Map<string, string>();
  /** When a worker took the task of a step, or its handler recorded something. */
  readonly #progress = new Map<string, number>();

  take(record: HistoryRecord): void {
    const fields = record as unknown as Record<string, unknown>;
    const time = Date.parse(record.time);
    const step = record.stepName ?? undefined;
    if (step && fields['at']) this.#places.set(JSON.stringify(fields['at']), step);
    const opens = fields['opens'] as OpenedWait | OpenedWait[] | undefined;
    for (const wait of opens === undefined ? [] : [opens].flat()) this.#open(record, wait, time);
    switch (record.type) {
      case 'TASK_STARTED':
        if (step) this.#progress.set(step, time);
        break;
      case 'JOURNAL_RECORDED':
        if (step) this.#recorded(step, time, (fields['entries'] ?? []) as { name: string; result?: unknown }[]);
        break;
      case 'WAIT_RESOLVED':
        this.#resolved(Number(fields['number']), fields['status'] as WaitStatus, time);
        break;
      case 'WAIT_RESCHEDULED': {
        const moved = this.#waits.get(Number(fields['number']));
        if (moved) moved.call.resumeAt = String(fields['resumeAt']);
        break;
      }
      case 'STEP_FAILED':
      case 'STEP_CANCELLED':
        for (const call of this.all.filter((one) => one.step === step && one.status === 'PENDING')) {
          end(call, time);
          call.status = 'CANCELLED';
        }
        break;
    }
  }

  #call(step: string, name: string, kind: CallKind): DurableCall {
    const key = JSON.stringify([step, name, kind]);
    const known = this.#named.get(key);
    if (known) return known;
    const call: DurableCall = { step, name, kind, status: 'PENDING', pieces: [], attempts: 0 };
    this.#named.set(key, call);
    this.all.push(call);
    return call;
  }

  #open(record: HistoryRecord, wait: OpenedWait, time: number): void {
    const step = record.stepName || this.#places.get(JSON.stringify(wait.at));
    const next = wait.listensFor?.attempt;
    // A rate limit is the step's, and what begins with `$` the engine's.
    if (!step || (!next && (wait.kind === 'RETRY' || wait.name.startsWith('$')))) return;
    const call = this.#call(step, next?.call ?? wait.name, next ? 'RUN' : wait.kind);
    if (next) {
      call.pieces.push({
        doing: 'working',
        from: this.#progress.get(step) ?? time,
        until: time,
        error: next.error.message,
      });
      call.error = next.error.message;
      this.#progress.set(step, time);
    }
    const piece: Piece = { doing: 'waiting', from: time };
    call.pieces.push(piece);
    call.status = 'PENDING';
    call.attempts = next?.attempt ?? 1;
    if (record.waitpointId) call.waitpointId = record.waitpointId;
    if (wait.resumeAt) call.resumeAt = wait.resumeAt;
    this.#waits.set(wait.number, { call, piece, isBackOff: next !== undefined });
  }

  #recorded(step: string, time: number, entries: { name: string; result?: unknown }[]): void {
    const from = this.#progress.get(step) ?? time;
    for (const { name, result } of entries) {
      const isOwn = name.startsWith(SDK_ENTRY);
      const failed = isOwn ? (result as { message?: unknown } | null)?.message : undefined;
      if (isOwn && typeof failed !== 'string') continue;
      const guest = guestStep(result);
      if (guest?.isPlan) continue;
      const call = this.#call(step, isOwn ? name.slice(1) : name, 'RUN');
      end(call, time);
      const error = typeof failed === 'string' ? { error: failed } : {};
      call.pieces.push({ doing: 'working', from, until: time, ...error });
      call.status = isOwn ? 'FAILED' : 'COMPLETED';
      call.attempts += 1;
      delete call.resumeAt;
      delete call.waitpointId;
      if (typeof failed === 'string') call.error = failed;
      else {
        delete call.error;
        call.result = guest ? guest.out : result;
        if (guest) call.word = guest.word;
      }
    }
    this.#progress.set(step, time);
  }

  #resolved(number: number, status: WaitStatus, time: number): void {
    const wait = this.#waits.get(number);
    if (!wait) return;
    wait.piece.until ??= time;
    if (!wait.isBackOff) wait.call.status = status;
  }
}

function end(call: DurableCall, time: number): void {
  for (const piece of call.pieces) piece.until ??= time;
}

/** When it began. */
export const began = (call: DurableCall): number => call.pieces[0]?.from ?? 0;

/** When it was over, if it is. */
export const ended = (call: DurableCall): number | undefined =>
  call.status === 'PENDING' ? undefined : call.pieces.at(-1)?.until;

/** How long it has worked and waited together. */
export const took = (call: DurableCall, now: number): number =>
  call.pieces.reduce((sum, { from, until }) => sum + Math.max(0, (until ?? now) - from), 0);
