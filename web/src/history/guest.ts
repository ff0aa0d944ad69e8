/** Steps of the Upstash Workflow SDK, as its gateway records them: each holds the step, or its text as it was submitted. */
export interface GuestStep {
  /** What the SDK calls it, in words. */
  word: string;
  /** It only says that a branch will be run. */
  isPlan: boolean;
  out: unknown;
}

const WORDS: Record<string, string> = {
  Run: 'run',
  SleepFor: 'sleep',
  SleepUntil: 'sleep until',
  Call: 'call',
  Wait: 'wait for event',
  Notify: 'notify',
  Invoke: 'invoke',
  CreateWebhook: 'create webhook',
  WaitForWebhook: 'wait for webhook',
};

const parsed = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** What came with an event is recorded as base64. */
const decoded = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.codePointAt(0) ?? 0));
  } catch {
    return text;
  }
};

/** The step that a result of a journal is; undefined if it is none of a guest. */
export function guestStep(result: unknown): GuestStep | undefined {
  const recorded = result as { step?: unknown; body?: unknown } | null | undefined;
  const step = (recorded?.step ?? parsed(recorded?.body)) as
    { stepId?: unknown; stepType?: unknown; targetStep?: unknown; out?: unknown } | undefined;
  const word = WORDS[String(step?.stepType)];
  if (!step || word === undefined) return undefined;
  const isSealed = typeof step.out === 'string' && step.out.startsWith('sealed:');
  const isEvent = step.stepType === 'Wait' || step.stepType === 'WaitForWebhook';
  const out = isSealed ? 'REDACTED' : parsed(isEvent ? decoded(step.out) : step.out);
  return { word, isPlan: step.stepId === 0 && Boolean(step.targetStep), out };
}
