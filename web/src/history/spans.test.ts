import { expect, test } from 'vitest';
import type { HistoryRecord } from '../api/types';
import { cost, story, totals } from './spans';

let seq = 0;
const at = (second: number, type: string, stepName: string, more: object = {}): HistoryRecord =>
  ({
    seq: (seq += 1),
    time: new Date(second * 1000).toISOString(),
    by: 'test',
    type,
    stepName,
    ...more,
  }) as HistoryRecord;

test('a sleep is a stretch of waiting between two of nothing', () => {
  const { stretches } = story([
    at(0, 'STEP_STARTED', 'nap'),
    at(0, 'STEP_WAITING', 'nap', { waitpointId: 'wp_1' }),
    at(60, 'STEP_COMPLETED', 'nap'),
  ]);
  expect(stretches).toEqual([
    { step: 'nap', doing: 'working', from: 0, until: 0 },
    { step: 'nap', doing: 'waiting', from: 0, until: 60_000, waitpointId: 'wp_1' },
  ]);
  expect(totals(stretches, 100_000)).toEqual({ working: 0, waiting: 60_000 });
});

test('what goes on has no end, and counts up to now', () => {
  const { stretches } = story([at(0, 'STEP_STARTED', 'call')]);
  expect(stretches[0]?.until).toBeUndefined();
  expect(totals(stretches, 5_000)).toEqual({ working: 5_000, waiting: 0 });
});

test('each failed attempt is one, with its error, and the next follows its back-off', () => {
  const error = { code: 'TASK_FAILED', message: 'no' };
  const { attempts, stretches } = story([
    at(0, 'STEP_STARTED', 'call'),
    at(1, 'TASK_STARTED', 'call', { worker: 'w1' }),
    at(2, 'STEP_RETRYING', 'call', { error, waitpointId: 'wp_1' }),
    at(5, 'STEP_RESUMED', 'call'),
    at(5, 'TASK_STARTED', 'call', { worker: 'w2' }),
    at(6, 'STEP_COMPLETED', 'call'),
  ]);
  expect(attempts).toEqual([
    { step: 'call', visit: 1, number: 1, worker: 'w1', from: 0, until: 2_000, outcome: 'failed', error },
    { step: 'call', visit: 1, number: 2, worker: 'w2', from: 5_000, until: 6_000, outcome: 'completed' },
  ]);
  expect(stretches.map(({ doing }) => doing)).toEqual(['working', 'waiting', 'working']);
});

test('calls to models are told with what they used up', () => {
  const call = { entry: 'call-1', model: 'm', inputTokens: 20, outputTokens: 5, costMicros: 70 };
  const { calls } = story([
    at(0, 'STEP_STARTED', 'draft'),
    at(1, 'LLM_CALL_COMPLETED', 'draft', { call }),
    at(2, 'LLM_CALL_COMPLETED', 'draft', { call: { ...call, costMicros: undefined, error: 'overloaded' } }),
  ]);
  expect(calls.map(({ step, outputTokens }) => [step, outputTokens])).toEqual([
    ['draft', 5],
    ['draft', 5],
  ]);
  expect(cost(calls)).toBe(70);
});

test('a retried run visits its failed step again, from its first attempt', () => {
  const { attempts } = story([
    at(0, 'STEP_STARTED', 'call'),
    at(1, 'STEP_FAILED', 'call', { error: { code: 'X', message: 'x' } }),
    at(9, 'STEP_STARTED', 'call'),
  ]);
  expect(attempts.map(({ visit, number }) => [visit, number])).toEqual([
    [1, 1],
    [2, 1],
  ]);
});
