/** Shapes of what leaves by itself: schedules that start runs, and webhooks that are told what happens. */
import type { Json, Waitpoint } from './types';

export interface Schedule {
  id: string;
  name: string;
  definition: string;
  version: string | null;
  cron?: string;
  timezone?: string;
  everyMs?: number;
  overlap: string;
  catchUp: string;
  input: Json;
  tags: string[];
  paused: boolean;
  nextAt: string | null;
  waitpointId: string | null;
  lastRunId: string | null;
  queued: number;
  recent: Waitpoint[];
  createdBy: string;
  createdAt: string;
}

export interface Triggered {
  outcome: string;
  runId: string | null;
}

export interface Webhook {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  status: 'ENABLED' | 'FAILING' | 'DISABLED';
  createdAt: string;
  failingSince: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
}

export interface MadeWebhook extends Webhook {
  secret: string;
}

export interface Delivery {
  id: string;
  webhookId: string;
  event: string;
  runId: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  createdAt: string;
  nextAttemptAt: string | null;
  attempts: { at: string; tookMs: number; status?: number; response?: string; error?: string }[];
}
