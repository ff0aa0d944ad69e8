import { expect, test } from 'vitest';
import { edges, signalTypes, type WorkflowDocument } from './edges';
import { layout, NODE_HEIGHT, NODE_WIDTH } from './layout';

const workflow = (steps: WorkflowDocument['steps']): WorkflowDocument => ({ name: 'w', steps });

test('steps of a sequence follow each other, and `next` leads elsewhere', () => {
  const found = edges(
    workflow([
      { name: 'score', type: 'task' },
      { name: 'hot', type: 'condition', trueStep: 'call', falseStep: 'mail' },
      { name: 'call', type: 'task', next: 'record' },
      { name: 'mail', type: 'task' },
      { name: 'record', type: 'task', next: 'end' },
    ]),
  );
  expect(found).toEqual([
    { from: 'score', to: 'hot' },
    { from: 'hot', to: 'call', label: 'true' },
    { from: 'hot', to: 'mail', label: 'false' },
    { from: 'call', to: 'record' },
    { from: 'mail', to: 'record' },
  ]);
});

test('a wait that is too late may lead elsewhere', () => {
  const found = edges(
    workflow([
      { name: 'wait', type: 'external_event', onTimeout: { goto: 'release' }, next: 'end' },
      { name: 'release', type: 'task' },
    ]),
  );
  expect(found).toEqual([{ from: 'wait', to: 'release', label: 'too late', aside: true }]);
});

test('the first of several waits may lead elsewhere, and each is told by its name', () => {
  const waits = { paid: { type: 'wait_for_event' }, stop: { type: 'external_event', signalType: 'stop' } };
  const steps = [
    { name: 'outcome', type: 'wait_any', waits, goto: { stop: 'refund' } },
    { name: 'ship', type: 'task', next: 'end' },
    { name: 'refund', type: 'task' },
  ];
  const refund = { from: 'outcome', to: 'refund', label: 'stop', aside: true };
  expect(edges(workflow(steps))).toEqual([{ from: 'outcome', to: 'ship' }, refund]);
  const both = { ...steps[0]!, goto: { paid: 'ship', stop: 'refund' } };
  const paid = { from: 'outcome', to: 'ship', label: 'paid', aside: true };
  expect(edges(workflow([both, ...steps.slice(1)]))).toEqual([paid, refund]);
});

test('signals that a step waits for are found among several things', () => {
  const inner = { type: 'wait_all', waits: { b: { type: 'external_event', signalType: 'b' } } };
  const step = { name: 's', type: 'wait_any', waits: { a: { type: 'external_event', signalType: 'a' }, inner } };
  expect(signalTypes(step)).toEqual(['a', 'b']);
  expect(signalTypes({ name: 't', type: 'external_event', signalType: 'c' })).toEqual(['c']);
});

test('a graph has only the edges that it names', () => {
  const found = edges(
    workflow([
      { name: 'a', type: 'task' },
      { name: 'b', type: 'task', after: ['a'] },
      { name: 'c', type: 'task', after: ['a'] },
    ]),
  );
  expect(found).toEqual([
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
  ]);
});

test('no step covers another, and each lies below what leads to it', () => {
  const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
  const lines = names.slice(1).flatMap((to, index) => {
    const before = [Math.floor(index / 2), Math.floor(index / 3), index];
    return [...new Set(before)].map((from) => ({ from: `s${from}`, to }));
  });
  const { nodes } = layout(names, lines);
  const at = new Map(nodes.map((node) => [node.name, node]));
  for (const { from, to } of lines) expect(at.get(to)!.y).toBeGreaterThan(at.get(from)!.y);
  for (const one of nodes) {
    for (const other of nodes) {
      if (one === other || one.y !== other.y) continue;
      expect(Math.abs(one.x - other.x)).toBeGreaterThanOrEqual(NODE_WIDTH);
    }
  }
});

test('a line that passes a layer goes around the steps in it', () => {
  const names = ['a', 'b', 'c'];
  const { lines, nodes } = layout(names, [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'a', to: 'c' },
  ]);
  const long = lines.find((line) => line.from === 'a' && line.to === 'c')!;
  const b = nodes.find((node) => node.name === 'b')!;
  const through = [...long.path.matchAll(/ ([\d.-]+) ([\d.-]+)V/g)].map(([, x]) => Number(x));
  expect(through).toHaveLength(1);
  expect(through[0]! < b.x || through[0]! > b.x + NODE_WIDTH).toBe(true);
  expect(NODE_HEIGHT).toBeGreaterThan(0);
});
