import { expect, test } from 'vitest';
import { WAIT_KINDS } from './api/types';
import { skipOf } from './skipping';

test('what the clock ends is skipped, what has a deadline is timed out, and nobody decides for a person', () => {
  const by = (resumeAt: string | null): Record<string, string | undefined> =>
    Object.fromEntries(WAIT_KINDS.map((kind) => [kind, skipOf({ kind, resumeAt })?.name]));
  expect(by('2026-01-01T00:00:00Z')).toEqual({
    DELAY: 'Skip this wait',
    WEBHOOK: 'Time it out',
    SIGNAL: 'Time it out',
    EVENT: 'Time it out',
    APPROVAL: 'Time it out',
    CHILD: 'Time it out',
    PAUSE: 'Skip this wait',
    RETRY: 'Skip this wait',
    SCHEDULE: 'Skip this wait',
    CODE: 'Try again',
    CAPACITY: 'Let it in',
  });
  expect(by(null)).toMatchObject({ SIGNAL: 'Wake it', EVENT: 'Wake it', WEBHOOK: 'Wake it' });
  expect([by(null)['APPROVAL'], by(null)['CHILD']]).toEqual([undefined, undefined]);
});
