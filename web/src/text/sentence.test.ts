import { expect, test } from 'vitest';
import { parts } from './sentence';

test('names and instants of a sentence are told from its words', () => {
  expect(parts('`desk › review` asks ana and ben, until 2026-11-20T14:00:00Z')).toEqual([
    { kind: 'name', text: 'desk › review' },
    { kind: 'text', text: ' asks ana and ben, until ' },
    { kind: 'instant', text: '2026-11-20T14:00:00Z' },
  ]);
});

test('a sentence without any is one part, and an empty one none', () => {
  expect(parts('the run goes on')).toEqual([{ kind: 'text', text: 'the run goes on' }]);
  expect(parts('one ` alone')).toEqual([{ kind: 'text', text: 'one ` alone' }]);
  expect(parts('')).toEqual([]);
});
