import type { Latency } from '../event-load/clock.ts';

export type ProviderCommand =
  /** Makes records of so many tenants, which changed last some time ago. @returns of each tenant the newest */
  | { readonly kind: 'fill'; readonly tenants: number; readonly records: number }
  /** Others change records from now on, evenly over the tenants. */
  | { readonly kind: 'begin'; readonly pace: Pace }
  /** They stop. */
  | { readonly kind: 'end' }
  | { readonly kind: 'report' };

export interface Pace {
  /** Changes. */
  readonly perSecond: number;
  /** A change is seen so much later than its time says, at most. */
  readonly mostLateMs: number;
  /** So long a response takes from now on, at most. */
  readonly mostSlowMs: number;
}

/** The record of a tenant that changed last. */
export interface NewestThing {
  readonly id: string;
  readonly updated: string;
}

/** What happened to the changes since the start. */
export interface ProviderReport {
  /** Calls that were answered. */
  readonly calls: number;
  readonly changes: number;
  /** Changes of which no event came to the callback URL. */
  readonly missing: number;
  /** Deliveries beyond the first of an event. */
  readonly repeated: number;
  /** Changes of which several events came, told apart by `webhook-id`. */
  readonly acceptedTwice: number;
  /** Events of what never happened, or of records as they were before. */
  readonly unknown: number;
  /** From the change, and from the response that first had it, to its event at the callback URL; since the last report. */
  readonly fromChange: Latency;
  readonly fromResponse: Latency;
}

/** What a worker is told at its start. */
export interface WorkerSetup {
  readonly databaseUrl: string;
  readonly encryptionKeys: string;
  readonly dataDir: string;
  /** Of a poll: for so long nobody makes up for a worker that was killed. */
  readonly leaseMs: number;
}
