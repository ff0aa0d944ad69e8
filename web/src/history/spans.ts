/**
 * What each step did when, from a run's history: stretches of working and of waiting, and the attempts. The timeline
 * shows the two apart, because most of a run's life is waiting.
 */
import type { HistoryRecord } from '../api/types';
import { Calls, type DurableCall } from './calls';

export type Doing = 'working' | 'waiting' | 'held';

export interface Stretch {
  step: string;
  doing: Doing;
  from: number;
  /** Absent: it goes on. */
  until?: number;
  /** The waitpoint, of a wait. */
  waitpointId?: string;
}

export interface Attempt {
  step: string;
  visit: number;
  number: number;
  worker?: string;
  from: number;
  until?: number;
  outcome?: 'completed' | 'failed' | 'stopped' | 'lost';
  error?: { code: string; message: string };
}

/** One call to a model, and what it used up. */
export interface ModelCall {
  step: string;
  time: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** In millionths; absent where the model has no price. */
  costMicros?: number;
  error?: string;
}

export interface Story {
  stretches: Stretch[];
  attempts: Attempt[];
  /** What handlers recorded and waited for, by name. */
  durable: DurableCall[];
  calls: ModelCall[];
  /** In the order in which they began. */
  steps: string[];
}

/** Records that end whatever a step was doing. */
const ENDS = new Set(['STEP_COMPLETED', 'STEP_FAILED', 'STEP_SKIPPED', 'STEP_CANCELLED']);

export function story(records: HistoryRecord[]): Story {
  const stretches: Stretch[] = [];
  const attempts: Attempt[] = [];
  const durable = new Calls();
  const calls: ModelCall[] = [];
  const steps: string[] = [];
  const open = new Map<string, Stretch>();
  const visits = new Map<string, number>();
  const trying = new Map<string, Attempt>();

  const begin = (step: string, doing: Doing, from: number, waitpointId?: string): void => {
    end(step, from);
    const stretch: Stretch = { step, doing, from, ...(waitpointId ? { waitpointId } : {}) };
    open.set(step, stretch);
    stretches.push(stretch);
  };
  const end = (step: string, until: number): void => {
    const stretch = open.get(step);
    if (stretch) stretch.until = until;
    open.delete(step);
  };
  const tryOnce = (step: string, from: number): void => {
    const before = trying.get(step);
    const visit = visits.get(step) ?? 1;
    const number = before && before.visit === visit ? before.number + 1 : 1;
    const attempt: Attempt = { step, visit, number, from };
    trying.set(step, attempt);
    attempts.push(attempt);
  };
  const conclude = (step: string, until: number, outcome: Attempt['outcome'], error?: Attempt['error']): void => {
    const attempt = trying.get(step);
    if (!attempt || attempt.outcome) return;
    attempt.until = until;
    if (outcome) attempt.outcome = outcome;
    if (error) attempt.error = error;
  };

  for (const record of records) {
    durable.take(record);
    const step = record.stepName;
    if (!step) continue;
    const time = Date.parse(record.time);
    const fields = record as unknown as Record<string, unknown>;
    const error = fields['error'] as Attempt['error'] | undefined;
    switch (record.type) {
      case 'STEP_STARTED':
        if (!steps.includes(step)) steps.push(step);
        visits.set(step, (visits.get(step) ?? 0) + 1);
        begin(step, 'working', time);
        tryOnce(step, time);
        break;
      case 'TASK_STARTED': {
        const attempt = trying.get(step);
        if (attempt) attempt.worker = String(fields['worker'] ?? '');
        if (open.get(step)?.doing !== 'working') begin(step, 'working', time);
        break;
      }
      case 'STEP_WAITING':
      case 'TASK_PAUSED':
        begin(step, 'waiting', time, record.waitpointId ?? undefined);
        break;
      case 'STEP_RETRYING':
        conclude(step, time, 'failed', error);
        begin(step, 'waiting', time, record.waitpointId ?? undefined);
        break;
      case 'STEP_RESUMED':
        begin(step, 'working', time);
        if (trying.get(step)?.outcome) tryOnce(step, time);
        break;
      case 'STEP_HELD_BACK':
        begin(step, 'held', time);
        break;
      case 'TASK_REDELIVERED':
        begin(step, 'working', time);
        break;
      case 'LLM_CALL_COMPLETED':
        calls.push({ ...(fields['call'] as Omit<ModelCall, 'step' | 'time'>), step, time: record.time });
        break;
      default:
        if (ENDS.has(record.type)) {
          end(step, time);
          const outcome = { STEP_COMPLETED: 'completed', STEP_FAILED: 'failed' }[record.type] ?? 'stopped';
          conclude(step, time, fields['stopped'] ? 'stopped' : (outcome as Attempt['outcome']), error);
          if (record.type === 'STEP_SKIPPED') break;
          if (!steps.includes(step)) steps.push(step);
        }
    }
  }
  return { stretches, attempts, durable: durable.all, calls, steps };
}

/** What calls cost together; those of models without a price count for nothing. */
export const cost = (calls: ModelCall[]): number => calls.reduce((sum, call) => sum + (call.costMicros ?? 0), 0);

/** How long a run has worked and waited, all steps together. */
export function totals(stretches: Stretch[], now: number): { working: number; waiting: number } {
  const sum = (doing: Doing): number =>
    stretches
      .filter((stretch) => stretch.doing === doing)
      .reduce((total, { from, until }) => total + Math.max(0, (until ?? now) - from), 0);
  return { working: sum('working'), waiting: sum('waiting') };
}
