import { expect, test } from 'vitest';
import { diffLines, near } from './diff';

const shown = (before: string, after: string): string =>
  diffLines(before, after)
    .map(({ sign, text }) => sign + text)
    .join('\n');

test('lines that were added, removed and kept are told apart', () => {
  expect(shown('a\nb\nc', 'a\nB\nc\nd')).toBe(' a\n-b\n+B\n c\n+d');
  expect(shown('a', 'a')).toBe(' a');
});

test('either text comes back from its diff', () => {
  const [before, after] = ['x\ny\nz\ny', 'y\nz\nw\ny\ny'];
  const lines = diffLines(before, after);
  expect(
    lines
      .filter(({ sign }) => sign !== '+')
      .map(({ text }) => text)
      .join('\n'),
  ).toBe(before);
  expect(
    lines
      .filter(({ sign }) => sign !== '-')
      .map(({ text }) => text)
      .join('\n'),
  ).toBe(after);
});

test('what is the same and far away is left out', () => {
  const lines = diffLines('1\n2\n3\n4\n5\n6\n7\n8', '1\n2\n3\n4\n5\n6\n7\n9');
  expect(near(lines, 1).map((line) => line && line.sign + line.text)).toEqual([null, ' 7', '-8', '+9']);
});
