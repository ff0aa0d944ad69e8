import { expect, test } from 'vitest';
import { cut } from './fit';

const within = (count: number) => (shown: string) => [...shown].length <= count;

test('what fits stays, and what does not is cut to what fits', () => {
  expect(cut('desk', within(4))).toBe('desk');
  expect(cut('cooling-off', within(8))).toBe('cooling…');
  expect(cut('a b c', within(3))).toBe('a…');
  expect(cut('long', within(0))).toBe('…');
});
