import type { Knex } from 'knex';
import type { EventSource, NewEvent } from './model.ts';

/** Work that an event starts, and that is stored with it. */
export interface Triggered {
  /** Formula instances whose new executions take turns (`takeTurns`). Those of all events of a transaction are taken before the first insert. */
  readonly turns: readonly number[];
  /** Stores the work in the transaction of the event. */
  readonly insert: (via: Knex) => Promise<void>;
  /** Starts the delivery. Call it after the commit. */
  readonly committed: () => void;
}

/** Finds the work that an event starts. Undefined: none. */
export type FindTriggered = (event: NewEvent, source: EventSource, eventId: string) => Promise<Triggered | undefined>;
