/** What can be done to waits and runs, one by one or all that a filter finds; each says what it will do, and to how many. */
import { patch, post, type Query } from './api/client';
import type { BulkDone, BulkSteered, Json, Waitpoint } from './api/types';

export type WaitAction = 'complete' | 'skip' | 'reschedule' | 'timeout' | 'cancel';
export type RunAction = 'cancel' | 'pause' | 'unpause' | 'retry';

interface Wording {
  name: string;
  about: string;
  done: string;
  danger: boolean;
}

const WAIT_ACTIONS: Record<WaitAction, Wording> = {
  complete: {
    name: 'Wake',
    about: 'It goes on at once, as if what it waits for had come.',
    done: 'woken',
    danger: false,
  },
  skip: {
    name: 'Skip',
    about:
      'Its step is completed with this output, without its handler. Whatever else the handler waits for is cancelled.',
    done: 'skipped',
    danger: true,
  },
  reschedule: { name: 'Reschedule', about: 'Its instant, or its deadline, moves.', done: 'moved', danger: false },
  timeout: { name: 'Time out', about: 'It ends as if its time were over.', done: 'timed out', danger: true },
  cancel: { name: 'Cancel', about: 'It ends, and its step fails.', done: 'cancelled', danger: true },
};

/** Of waits for other code. */
const CODE_ACTIONS: Partial<Record<WaitAction, Wording>> = {
  complete: { name: 'Retry', about: 'Any worker may try again.', done: 'tried again', danger: false },
  skip: WAIT_ACTIONS.skip,
  cancel: { name: 'Fail', about: 'Its step fails.', done: 'failed', danger: true },
};

/** What can be done to waits of a kind, or of any. */
export function actionsFor(kind?: string): WaitAction[] {
  const all = Object.keys(WAIT_ACTIONS) as WaitAction[];
  if (kind === 'CODE') return all.filter((action) => action in CODE_ACTIONS);
  // An approval is not woken: it is decided.
  return all.filter((action) => action !== 'skip' && (kind !== 'APPROVAL' || action !== 'complete'));
}

/** How that is said. */
export function wording(action: WaitAction, kind?: string): Wording {
  return (kind === 'CODE' ? CODE_ACTIONS[action] : undefined) ?? WAIT_ACTIONS[action];
}

/** The kind that all of these are of. */
export function commonKind(waits: Waitpoint[]): string | undefined {
  const [first] = waits;
  return first && waits.every((wait) => wait.kind === first.kind) ? first.kind : undefined;
}

export const RUN_ACTIONS: Record<RunAction, { name: string; about: string; done: string; danger: boolean }> = {
  retry: { name: 'Retry', about: 'The steps that failed begin again.', done: 'tried again', danger: false },
  pause: { name: 'Pause', about: 'What runs runs to its end; nothing new begins.', done: 'paused', danger: false },
  unpause: { name: 'Unpause', about: 'What was held back goes on.', done: 'unpaused', danger: false },
  cancel: { name: 'Cancel', about: 'It ends here, for good, with all its waits.', done: 'cancelled', danger: true },
};

export interface With {
  resumeAt?: string;
  payload?: Json;
  output?: Json;
  reason?: string;
}

/** What became of many. */
export interface Tally {
  done: number;
  refused: number;
  first?: string;
}

export async function steer(id: string, action: WaitAction, how: With): Promise<Waitpoint> {
  if (action === 'reschedule') return patch(`/waitpoints/${id}`, { resumeAt: how.resumeAt });
  const body =
    action === 'complete'
      ? { payload: how.payload ?? null }
      : action === 'skip'
        ? { output: how.output ?? null, ...(how.reason ? { reason: how.reason } : {}) }
        : undefined;
  return post(`/waitpoints/${id}/${action}`, body);
}

/** One after the other: the server takes them in the order given. */
export async function each(ids: string[], act: (id: string) => Promise<unknown>): Promise<Tally> {
  const tally: Tally = { done: 0, refused: 0 };
  for (const id of ids) {
    try {
      await act(id);
      tally.done += 1;
    } catch (error) {
      tally.refused += 1;
      tally.first ??= error instanceof Error ? error.message : String(error);
    }
  }
  return tally;
}

type Bulk = BulkSteered | BulkDone;

/** All that a filter finds, in parts as large as the server takes. With `dryRun` they are only counted. */
export async function bulk(
  path: '/waitpoints/bulk' | '/workflow-runs/bulk',
  body: object,
  dryRun: boolean,
): Promise<Tally> {
  const tally: Tally = { done: 0, refused: 0 };
  let cursor: string | null = null;
  do {
    const part: Bulk = await post<Bulk>(path, { ...body, dryRun, ...(cursor ? { cursor } : {}) });
    tally.done += dryRun ? part.matched : part.done;
    tally.refused += part.refused;
    const refusal = part.refusals[0]?.problem.detail;
    if (refusal) tally.first ??= refusal;
    cursor = part.nextCursor;
  } while (cursor !== null && (!dryRun || tally.done < COUNTED));
  return tally;
}

/** A dry run stops counting here: `more than`. */
export const COUNTED = 100_000;

/** A query as the body of a filter. */
export function filterOf(query: Query): Record<string, unknown> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(given);
}

/** `3 waits woken`, and why others were not. */
export function told(tally: Tally, noun: string, done: string): { text: string; bad: boolean } {
  const plural = tally.done === 1 ? noun : `${noun}s`;
  const why = tally.refused > 0 ? `; ${tally.refused} refused: ${tally.first ?? ''}` : '';
  return { text: `${tally.done.toLocaleString()} ${plural} ${done}${why}`, bad: tally.refused > 0 };
}
