/** Words and marks for states and kinds. A mark never stands for a state alone: the word is beside it. */
import type { HistoryRecord, LimitAsk, StepStatus, RunStatus, WaitKind, WaitStatus, Waitpoint } from '../api/types';

export type AnyStatus = RunStatus | StepStatus | WaitStatus;

export const MARKS: Record<AnyStatus, string> = {
  PENDING: '·',
  RUNNING: '●',
  WAITING: '○',
  PAUSED: '‖',
  COMPLETED: '✓',
  FAILED: '✗',
  CANCELLED: '–',
  SKIPPED: '⤼',
  TIMED_OUT: '⧖',
};

export const words = (status: string): string => status.toLowerCase().replaceAll('_', ' ');

export const KIND_WORDS: Record<WaitKind, string> = {
  DELAY: 'sleep',
  WEBHOOK: 'call',
  SIGNAL: 'signal',
  EVENT: 'event',
  APPROVAL: 'approval',
  CHILD: 'child run',
  PAUSE: 'worker pause',
  RETRY: 'retry',
  SCHEDULE: 'schedule',
  CODE: 'other code',
  CAPACITY: 'room',
};

export const KIND_PLURALS: Record<WaitKind, string> = {
  DELAY: 'sleeps',
  WEBHOOK: 'calls',
  SIGNAL: 'signals',
  EVENT: 'events',
  APPROVAL: 'approvals',
  CHILD: 'child runs',
  PAUSE: 'worker pauses',
  RETRY: 'retries',
  SCHEDULE: 'schedules',
  CODE: 'waits for other code',
  CAPACITY: 'waits for room',
};

/** Kinds that end by the clock. The others have a deadline, or none. */
export const endsByTime = (kind: WaitKind): boolean =>
  kind === 'DELAY' || kind === 'PAUSE' || kind === 'RETRY' || kind === 'SCHEDULE';

/** What a durable call does. */
export const CALL_WORDS: Record<'RUN' | WaitKind, string> = { ...KIND_WORDS, RUN: 'run' };

/** A step, and maybe a durable call of its handler. */
export const named = (step: string, call?: string | null): string => (call == null ? step : `${step} › ${call}`);

/** Whose wait it is: the step, and the durable call of its handler. */
export const whose = (wait: Pick<Waitpoint, 'stepName' | 'call'>): string | undefined =>
  wait.stepName == null ? undefined : named(wait.stepName, wait.call);

/** `1 line`, `2 lines`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${count === 1 ? noun : `${noun}s`}`;

/** What ends a wait, besides those who may end any. */
export function endedBy(wait: Pick<Waitpoint, 'kind' | 'listensFor'>): { lead: string; what: string; match?: string } {
  const listens = wait.listensFor;
  switch (listens.type) {
    case 'time':
      return { lead: wait.kind === 'RETRY' ? 'the next attempt' : 'the clock', what: '' };
    case 'signal':
      return { lead: 'signal', what: listens.signalType };
    case 'event':
      return { lead: 'event', what: listens.eventId, ...(listens.match ? { match: listens.match } : {}) };
    case 'call':
      return { lead: 'a call on its URL', what: '' };
    case 'approval':
      return { lead: 'a decision', what: '' };
    case 'child':
      return { lead: 'run', what: listens.runId };
    case 'attempt': {
      const { attempt, maxAttempts, error } = listens;
      return { lead: `attempt ${attempt + 1} of ${maxAttempts}, after`, what: error.message };
    }
    case 'code':
      return { lead: 'code that fits: recorded', what: `${listens.recorded}, the code asks for ${listens.found}` };
    case 'capacity':
      return { lead: 'room under', what: listens.waitsUnder ?? 'its limits' };
    case 'starts':
      return { lead: 'no more starts for a while,', what: `${counted(listens.starts, 'start')} so far` };
  }
}

/** The limit in whose line a wait for room stands. */
export function awaitedLimit({ listensFor }: Pick<Waitpoint, 'listensFor'>): LimitAsk | undefined {
  if (listensFor.type !== 'capacity') return undefined;
  return listensFor.limits.find((ask) => ask.name === listensFor.waitsUnder);
}

/** The end of an id, which tells it from its neighbours. */
export const shortId = (id: string): string => {
  const [, rest = id] = id.split('_');
  return `…${rest.slice(-8)}`;
};

/** A record's own fields, without those that every record has. */
export function details(record: HistoryRecord): Record<string, unknown> {
  const {
    seq: _seq,
    time: _time,
    by: _by,
    type: _type,
    text: _text,
    stepName: _step,
    waitpointId: _wait,
    ...rest
  } = record;
  delete (rest as Record<string, unknown>)['at'];
  return rest;
}
