/** The questions to the probe inside the service. */
export type ProbeQuestion =
  | { readonly kind: 'begin'; readonly profiled: boolean }
  | { readonly kind: 'end'; readonly profile?: string | undefined }
  | { readonly kind: 'memory' };

/** A turn of the event loop. */
export interface Stretch {
  /** CPU time of the main thread in milliseconds. */
  readonly ms: number;
  /** Number of requests that began in this turn. Many small ones may share it. */
  readonly requests: number;
}

export interface ProbeReport {
  readonly longest: Stretch;
  readonly peakRssBytes: number;
  /** Milliseconds for which the main thread waited for a processor. */
  readonly starvedMs: number;
}

/** Samples are kept by the phase in which their request was due. */
export type Phase = 'quiet' | 'attacked' | 'ignored';

export interface HealthyCommand {
  readonly kind: 'phase' | 'take';
  readonly phase: Phase;
}

/** The measurements of a healthy tenant in a phase. */
export interface HealthySamples {
  /** Milliseconds from the due time of a request to its whole response. */
  readonly callMs: readonly number[];
  /** Milliseconds from the time when an event was due to be sent to its arrival at the receiver. */
  readonly eventMs: readonly number[];
  /** Descriptions of wrong responses. */
  readonly failures: readonly string[];
}

export interface HealthySetup {
  /** The base URL of the API. */
  readonly baseUrl: string;
  /** The `Authorization` header of platform calls. */
  readonly authorization: string;
  readonly userSecret: string;
  readonly perSecond: number;
}
