/** What a click does to a wait in development, where nobody wants to wait for it. */
import type { Waitpoint } from './api/types';
import type { WaitAction } from './steering';
import { endsByTime } from './text/words';

export interface Skip {
  action: Extract<WaitAction, 'complete' | 'timeout'>;
  name: string;
  about: string;
}

/** How a wait is skipped; null where only somebody else can end it: an approval without a deadline, a child. */
export function skipOf(wait: Pick<Waitpoint, 'kind' | 'resumeAt'>): Skip | null {
  if (endsByTime(wait.kind)) {
    return { action: 'complete', name: 'Skip this wait', about: 'It goes on at once, as if its time had come.' };
  }
  if (wait.kind === 'CODE') {
    return { action: 'complete', name: 'Try again', about: 'Any worker may try it again, with any code.' };
  }
  if (wait.kind === 'CAPACITY') {
    return { action: 'complete', name: 'Let it in', about: 'It goes on at once, past all who wait for room.' };
  }
  if (wait.resumeAt) {
    return { action: 'timeout', name: 'Time it out', about: 'It ends at once, as if its deadline had passed.' };
  }
  if (wait.kind === 'APPROVAL' || wait.kind === 'CHILD') return null;
  return { action: 'complete', name: 'Wake it', about: 'It goes on at once, with null as what came.' };
}
