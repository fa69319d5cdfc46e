import type { Knex } from 'knex';
import type { EventSource, NewEvent } from './model.ts';

/** Work that an event starts, and that is stored with it. */
export interface Triggered {
  /** Stores the work of all events of a transaction, in it. */
  readonly insertAll: (via: Knex, all: readonly Triggered[]) => Promise<void>;
  /** Starts the delivery. Call it after the commit. */
  readonly committed: () => void;
}

/** Finds the work that an event starts. Undefined: none. */
export type FindTriggered = (event: NewEvent, source: EventSource, eventId: string) => Promise<Triggered | undefined>;
