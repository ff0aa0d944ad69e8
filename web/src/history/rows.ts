/** The rows of a run's timeline: each step, and under it the durable calls of its handler, each with its own bars. */
import { named } from '../text/words';
import type { Story } from './spans';

export interface Bar {
  doing: 'working' | 'waiting' | 'held';
  from: number;
  /** Absent: it goes on. */
  until?: number;
  /** It is an attempt that failed, and why. */
  error?: string;
}

export interface Row {
  step: string;
  /** The durable call; absent: the step itself. */
  call?: string;
  /** Both, as people are told them. */
  label: string;
  bars: Bar[];
}

export function rows({ steps, stretches, durable }: Pick<Story, 'steps' | 'stretches' | 'durable'>): Row[] {
  return steps.flatMap((step): Row[] => [
    { step, label: step, bars: stretches.filter((one) => one.step === step) },
    ...durable
      .filter((call) => call.step === step)
      .map((call): Row => ({ step, call: call.name, label: named(step, call.name), bars: call.pieces })),
  ]);
}
