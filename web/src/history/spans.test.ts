import { expect, test } from 'vitest';
import type { HistoryRecord } from '../api/types';
import { ended, took } from './calls';
import { rows } from './rows';
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

const wait = (number: number, name: string, kind: string, more: object = {}): object => ({
  number,
  at: { step: 0 },
  name,
  kind,
  status: 'PENDING',
  ...more,
});
const desk = (second: number, type: string, more: object = {}): HistoryRecord =>
  at(second, type, 'desk', { at: { step: 0 }, ...more });

test('each durable call has its own bar: what it worked, slept and waited for', () => {
  const told = story([
    desk(0, 'STEP_STARTED'),
    desk(1, 'TASK_STARTED', { worker: 'w1' }),
    desk(3, 'JOURNAL_RECORDED', { entries: [{ name: 'order', result: { id: 7 } }] }),
    desk(4, 'STEP_WAITING', { opens: [wait(1, 'cooling-off', 'DELAY')], waitpointId: 'wp_1' }),
    at(60, 'WAIT_RESOLVED', '', { number: 1, status: 'COMPLETED' }),
    desk(60, 'STEP_RESUMED'),
    desk(61, 'TASK_STARTED', { worker: 'w1' }),
    desk(62, 'STEP_WAITING', { opens: [wait(2, 'review', 'APPROVAL')] }),
  ]);
  expect(told.durable.map(({ name, kind, status }) => [name, kind, status])).toEqual([
    ['order', 'RUN', 'COMPLETED'],
    ['cooling-off', 'DELAY', 'COMPLETED'],
    ['review', 'APPROVAL', 'PENDING'],
  ]);
  const [order, coolingOff, review] = told.durable;
  expect(order).toMatchObject({ result: { id: 7 }, pieces: [{ doing: 'working', from: 1_000, until: 3_000 }] });
  expect(coolingOff?.pieces).toEqual([{ doing: 'waiting', from: 4_000, until: 60_000 }]);
  expect(took(coolingOff!, 0)).toBe(56_000);
  expect(ended(review!)).toBeUndefined();
  expect(took(review!, 70_000)).toBe(8_000);
  expect(rows(told).map(({ label }) => label)).toEqual(['desk', 'desk › order', 'desk › cooling-off', 'desk › review']);
});

test('a call that fails and is made again is one call, with its attempts and their back-offs', () => {
  const backOff = (attempt: number): object => ({
    listensFor: {
      attempt: { call: 'charge', attempt, maxAttempts: 8, error: { code: 'X', message: `no ${attempt}` } },
    },
  });
  const { durable } = story([
    desk(0, 'STEP_STARTED'),
    desk(0, 'TASK_STARTED', { worker: 'w1' }),
    desk(2, 'STEP_WAITING', { opens: [wait(1, 'charge#retry-1', 'RETRY', backOff(1))] }),
    at(5, 'WAIT_RESOLVED', '', { number: 1, status: 'COMPLETED' }),
    desk(5, 'TASK_STARTED', { worker: 'w1' }),
    desk(6, 'STEP_WAITING', { opens: [wait(2, 'charge#retry-2', 'RETRY', backOff(2))] }),
    at(9, 'WAIT_RESOLVED', '', { number: 2, status: 'COMPLETED' }),
    desk(9, 'TASK_STARTED', { worker: 'w1' }),
    desk(10, 'JOURNAL_RECORDED', { entries: [{ name: 'charge', result: 'paid' }] }),
  ]);
  expect(durable).toHaveLength(1);
  expect(durable[0]).toMatchObject({ name: 'charge', kind: 'RUN', status: 'COMPLETED', attempts: 3, result: 'paid' });
  expect(durable[0]?.error).toBeUndefined();
  expect(durable[0]?.pieces).toEqual([
    { doing: 'working', from: 0, until: 2_000, error: 'no 1' },
    { doing: 'waiting', from: 2_000, until: 5_000 },
    { doing: 'working', from: 5_000, until: 6_000, error: 'no 2' },
    { doing: 'waiting', from: 6_000, until: 9_000 },
    { doing: 'working', from: 9_000, until: 10_000 },
  ]);
});

test('what SDKs and the engine keep for themselves is no call, and how a call failed is', () => {
  const { durable } = story([
    desk(0, 'STEP_STARTED'),
    desk(0, 'TASK_STARTED', { worker: 'w1' }),
    desk(1, 'JOURNAL_RECORDED', {
      entries: [
        { name: '!first a', result: 'a' },
        { name: '!charge', result: { message: 'declined' } },
      ],
    }),
    desk(2, 'STEP_RETRYING', { error: { code: 'X', message: 'x' }, opens: wait(1, '$retry-1', 'RETRY') }),
  ]);
  expect(durable.map(({ name, status, error }) => [name, status, error])).toEqual([['charge', 'FAILED', 'declined']]);
});

test('a wait that its handler made before it waited is of the step it was made for', () => {
  const { durable } = story([
    desk(0, 'STEP_STARTED'),
    at(1, 'WAIT_CREATED', '', { opens: wait(1, 'review', 'APPROVAL'), waitpointId: 'wp_1' }),
    desk(9, 'STEP_FAILED', { error: { code: 'X', message: 'x' } }),
  ]);
  expect(durable).toMatchObject([
    { step: 'desk', name: 'review', status: 'CANCELLED', waitpointId: 'wp_1', pieces: [{ from: 1_000, until: 9_000 }] },
  ]);
});

test('steps of a guest are told by the words and results of its SDK, without its plans', () => {
  const entry = (name: string, step: object) => ({ name, result: { step } });
  const { durable } = story([
    at(0, 'STEP_STARTED', 'workflow'),
    at(1, 'TASK_STARTED', 'workflow', { worker: 'w' }),
    at(2, 'JOURNAL_RECORDED', 'workflow', {
      entries: [
        entry('1 a (plan)', { stepId: 0, stepName: 'a', stepType: 'Run', targetStep: 1 }),
        entry('1 a', { stepId: 1, stepName: 'a', stepType: 'Run', out: '{"n":1}' }),
        { name: '2 nap', result: { body: '{ "stepId": 2, "stepName": "nap", "stepType": "SleepFor" }' } },
        entry('3 paid', { stepId: 3, stepName: 'paid', stepType: 'Wait', out: btoa('{"by":"Ada"}') }),
        entry('4 pin', { stepId: 4, stepName: 'pin', stepType: 'Run', out: 'sealed:abc' }),
      ],
    }),
  ]);
  expect(durable.map(({ name, word, result }) => [name, word, result])).toEqual([
    ['1 a', 'run', { n: 1 }],
    ['2 nap', 'sleep', undefined],
    ['3 paid', 'wait for event', { by: 'Ada' }],
    ['4 pin', 'run', 'REDACTED'],
  ]);
});
