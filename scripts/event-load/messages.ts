import type { EngineOptions } from '../../src/events/options.ts';
import type { Latency } from './clock.ts';

/** The environment variable with the setup of a sender, as JSON. */
export const SETUP_VARIABLE = 'CAUSEWAY_EVENT_LOAD';

export interface SenderSetup {
  readonly databaseUrl: string;
  /** Instance n belongs to the account at index n, in turn. Endpoints belong to the first. */
  readonly accountIds: readonly number[];
  /** The callback URL of instance n is at index n. Null: it has none. */
  readonly callbackUrls: readonly (string | null)[];
  /** The endpoints of the account. */
  readonly endpoints?: readonly GivenEndpoint[];
  readonly bodyBytes: number;
  readonly options: Partial<EngineOptions>;
}

export interface GivenEndpoint {
  readonly url: string;
  readonly where: string;
  readonly maxPerSecond?: number;
}

/** A load. Each event carries its number and the time at which it was due to be published. */
export interface LoadOptions {
  readonly perSecond: number;
  readonly seconds: number;
  /** Number of the first event. */
  readonly firstNumber: number;
  /** The instances that publish, in turn. An instance that occurs twice publishes twice as many events. */
  readonly instanceIds: readonly number[];
}

/** Sends as many events as possible, with a limited number between acceptance and delivery. */
export interface SaturationOptions extends Omit<LoadOptions, 'perSecond'> {
  readonly inFlight: number;
  /** `accept` counts stored events; pushes run in parallel as fast as they can. */
  readonly until: 'accept' | 'deliver';
}

export type SenderCommand =
  | { readonly kind: 'load'; readonly load: LoadOptions }
  | { readonly kind: 'saturate'; readonly saturation: SaturationOptions }
  | { readonly kind: 'prepare' }
  | { readonly kind: 'stop' };

export interface LoadReport {
  readonly accepted: number;
  readonly refused: number;
  /** Number of responses of receivers during the load. */
  readonly delivered: number;
  readonly seconds: number;
  readonly cpuMs: number;
  readonly accept: Latency;
}

export type Behaviour = 'answer' | 'hang' | 'fail' | 'refuse';

export type ReceiverCommand =
  /** Sets the behaviour for one path. `/` is every path without a behaviour of its own. */
  | { readonly kind: 'behave'; readonly path: string; readonly behaviour: Behaviour }
  /** Closes the port and every connection, or opens it again. */
  | { readonly kind: 'listen'; readonly on: boolean }
  /** Requests the measurements since the last report. Latencies are those of the given paths, or of all. */
  | { readonly kind: 'report'; readonly paths?: readonly string[] }
  | { readonly kind: 'numbers' }
  | { readonly kind: 'stop' };

export interface ReceiverReport {
  readonly received: number;
  readonly latency: Latency;
  readonly cpuMs: number;
}

/** The numbers that the receiver got since it started. */
export interface ReceivedNumbers {
  readonly numbers: readonly number[];
  /** The numbers that arrived at each endpoint, by its path `/endpoint-<n>`. */
  readonly ofEndpoints: Readonly<Record<string, readonly number[]>>;
  /** Number of successful requests beyond the first of each event. */
  readonly duplicates: number;
  readonly distinctIds: number;
}

/** A message of a process that is no response: that it is ready, or the numbers of committed events. */
export interface ChildMessage {
  readonly url?: string;
  readonly committed?: readonly number[];
}

const MARK = '"objectId":"';

/** Returns the id of an object with the number and the time in it, so that a receiver finds them without parsing the body. */
export function writeObjectId(number: number, scheduledMicros: number): string {
  return `${number}:${scheduledMicros}`;
}

export function readObjectId(body: string): { readonly number: number; readonly scheduledMicros: number } {
  const start = body.indexOf(MARK) + MARK.length;
  const [number, scheduledMicros] = body.slice(start, body.indexOf('"', start)).split(':').map(Number);
  if (number === undefined || scheduledMicros === undefined) throw new Error('A body without a number came');
  return { number, scheduledMicros };
}
