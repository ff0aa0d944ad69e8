/** The shapes of the API under short names. They are generated from its OpenAPI document. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type ApprovalRequest = Schemas['ApprovalRequest'];
export type BulkDone = Schemas['BulkDone'];
export type BulkSteered = Schemas['BulkSteered'];
export type Decided = Schemas['Decided'];
export type Definition = Schemas['Definition'];
export type Delivery = Schemas['Delivery'];
export type DefinitionSummary = Schemas['DefinitionSummary'];
export type EventOccurrence = Schemas['Event'];
export type Failure = Schemas['Failure'];
export type Finding = Schemas['Finding'];
export type Key = Schemas['Key'];
export type LimitAsk = Schemas['LimitAsk'];
export type LimitDetail = Schemas['LimitDetail'];
export type LimitKey = Schemas['LimitKey'];
export type LimitRoom = Schemas['LimitRoom'];
export type LimitSet = Schemas['LimitSet'];
export type MadeKey = Schemas['MadeKey'];
export type MadeWebhook = Schemas['MadeWebhook'];
export type MovedRun = Schemas['MovedRun'];
export type Problem = Schemas['Problem'];
export type HistoryRecord = Schemas['Record'];
export type Run = Schemas['Run'];
export type RunSummary = Schemas['RunSummary'];
export type Schedule = Schemas['Schedule'];
export type EventSent = Schemas['EventSent'];
export type Signalled = Schemas['Signalled'];
export type StartedRun = Schemas['StartedRun'];
export type Step = Schemas['Step'];
export type Triggered = Schemas['Triggered'];
export type StartedOnEvent = Schemas['StartedOnEvent'];
export type Waiter = Schemas['Waiter'];
export type WaitingFor = Schemas['WaitingFor'];
export type Waitpoint = Schemas['Waitpoint'];
export type Webhook = Schemas['Webhook'];
export type Worker = Schemas['Worker'];
export type Workspace = Schemas['Workspace'];
export type Overview = Schemas['Overview'];
export type WakeUps = Schemas['WakeUps'];
export type Session = Schemas['Session'];

export type RunStatus = Run['status'];
export type StepStatus = Step['status'];
export type WaitKind = Waitpoint['kind'];
export type WaitStatus = Waitpoint['status'];
export type Scope = Key['scopes'][number];

export const RUN_STATUSES: RunStatus[] = [
  'PENDING',
  'RUNNING',
  'WAITING',
  'PAUSED',
  'FAILED',
  'COMPLETED',
  'CANCELLED',
];
export const WAIT_KINDS: WaitKind[] = [
  'DELAY',
  'WEBHOOK',
  'SIGNAL',
  'EVENT',
  'APPROVAL',
  'CHILD',
  'PAUSE',
  'RETRY',
  'SCHEDULE',
  'CODE',
  'CAPACITY',
];

/** A part of a list, and how to read on. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
