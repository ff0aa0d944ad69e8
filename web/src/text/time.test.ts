import { expect, test } from 'vitest';
import { fromLocalInput, relative, span, toLocalInput } from './time';

test('a span shows its two largest units', () => {
  expect(span(850)).toBe('850ms');
  expect(span(12_000)).toBe('12s');
  expect(span(192_000)).toBe('3m 12s');
  expect(span(187_200_000)).toBe('2d 4h');
  expect(span(86_400_000)).toBe('1d');
  expect(span(86_405_000)).toBe('1d');
});

test('a relative time says which way it lies', () => {
  expect(relative(60_000, 0)).toBe('in 1m');
  expect(relative(0, 60_000)).toBe('1m ago');
  expect(relative('1970-01-01T00:00:00.4Z', 0)).toBe('now');
});

test('what a date input shows is read back as the same second', () => {
  const at = Date.parse('2026-11-15T12:34:56Z');
  expect(fromLocalInput(toLocalInput(at))?.getTime()).toBe(at);
});
