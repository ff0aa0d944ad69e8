/** Limits in words. */
import type { LimitRoom } from '../api/types';
import { span } from './time';

/** How much room there is: `5 at once, 100 per 1m`. */
export function room({ concurrency, rate, perMs }: LimitRoom): string {
  const said = [
    ...(concurrency == null ? [] : [`${concurrency} at once`]),
    ...(rate == null ? [] : [`${rate} per ${span(perMs ?? 0)}`]),
  ];
  return said.join(', ') || '–';
}
