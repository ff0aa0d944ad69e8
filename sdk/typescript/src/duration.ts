/** Lengths of time, as users write them and as the API takes them. */

/** Milliseconds, or text such as `30s`, `2d 4h` or `PT30M`. */
export type Duration = number | string;

/** `durationMs` or `duration`, whichever fits what was given. A time that is past, such as `due - now`, is over at once. */
export function field(name: string, value: Duration | undefined): Record<string, Duration> {
  if (value === undefined) return {};
  return typeof value === "number" ? { [`${name}Ms`]: Math.max(0, Math.round(value)) } : { [name]: value };
}

export function instant(at: Date | string): string {
  return typeof at === "string" ? at : at.toISOString();
}

/** A real pause, ended early by the signal. */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/** How long to wait before another try: doubling, at most `most`, with full jitter. */
export function backoff(attempt: number, first: number, most: number): number {
  return Math.random() * Math.min(most, first * 2 ** attempt);
}
