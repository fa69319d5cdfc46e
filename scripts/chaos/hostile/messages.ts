/** The questions to the probe inside the service, and its replies. */
export type ProbeQuestion = { readonly id: number } & (
  | { readonly kind: 'begin'; readonly profiled: boolean }
  | { readonly kind: 'end'; readonly profile?: string | undefined }
  | { readonly kind: 'memory' }
);

export interface ProbeResponse {
  readonly id: number;
  readonly value: unknown;
}

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

export type HealthyCommand =
  | { readonly kind: 'phase'; readonly phase: Phase }
  | { readonly kind: 'take'; readonly phase: Phase }
  | { readonly kind: 'stop' };

export type HealthyMessage = { readonly kind: 'ready' } | { readonly kind: 'taken'; readonly samples: HealthySamples };

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
