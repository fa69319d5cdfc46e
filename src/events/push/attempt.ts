import type { KeyObject } from 'node:crypto';
import { type Egress, EgressError, type EgressReason, type EgressResponse } from '../../egress/index.ts';
import { combineRedactors, createRedactor, type Redactor } from '../../redaction.ts';
import { readRetryAfterMs } from '../../retry-after.ts';
import { showEventId } from '../event-id.ts';
import type { Lease } from '../lease.ts';
import type { EventSource, ReadySubscription } from '../model.ts';
import { toOriginalBody } from './original-body.ts';
import { instanceSignature, signatureHeaders, signingKeys, withoutPrefix } from './signature.ts';

/** Why a push failed. `status`: an answer other than 2xx; redirects are not followed. `refused`: the address may not be called from here. */
export type FailureClass = 'status' | 'timeout' | 'connect' | 'tls' | 'reset' | 'refused' | 'protocol';

interface Made {
  readonly attemptedAtMs: number;
  readonly durationMs: number;
  readonly statusCode: number | undefined;
  /** At most `maxAnswerBytes`, fit for a text column. Undefined for an answer from an address that is not public, unless this is a service for one machine. */
  readonly answer: string | undefined;
}

export type AttemptReport =
  | ({ readonly kind: 'delivered' } & Made)
  | ({
      readonly kind: 'failed';
      readonly failure: FailureClass;
      /** May be shown: names the host, never a path. */
      readonly error: string;
      readonly retryAfterMs: number | undefined;
    } & Made)
  /** It was broken off: nothing is known of it. */
  | { readonly kind: 'aborted' };

export interface AttemptPorts {
  readonly egress: Pick<Egress, 'request'>;
  readonly now: () => number;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Breaks off every attempt. */
  readonly signal: AbortSignal;
}

export interface AttemptInput {
  readonly lease: Pick<Lease, 'eventId' | 'body'>;
  readonly subscription: ReadySubscription;
  /** Of the instance; undefined for an event of the account itself. */
  readonly source: Pick<EventSource, 'signatureKey' | 'original'> | undefined;
}

export type Attempt = (input: AttemptInput) => Promise<AttemptReport>;

/** Read beyond what is kept, so that a secret at the end is whole when it is looked for. */
const OVERLAP_BYTES = 512;

interface Prepared {
  readonly url: URL;
  readonly keys: readonly KeyObject[];
  /** Of its signing secrets. */
  readonly redactor: Redactor;
}

const CLASS_OF: Readonly<Record<Exclude<EgressReason, 'aborted'>, FailureClass>> = {
  refused: 'refused',
  invalid: 'refused',
  connect: 'connect',
  tls: 'tls',
  timeout: 'timeout',
  reset: 'reset',
  'too-large': 'protocol',
  'no-room': 'protocol',
  protocol: 'protocol',
};

/** Pushes one event to its receiver and says what came of it. */
export function createAttempt({ egress, now, timeoutMs, maxAnswerBytes, signal }: AttemptPorts): Attempt {
  const prepared = new WeakMap<ReadySubscription, Prepared>();

  function prepare(subscription: ReadySubscription): Prepared {
    const known = prepared.get(subscription);
    if (known !== undefined) return known;
    const { url, secrets } = subscription;
    const made = { url: new URL(url), keys: signingKeys(subscription), redactor: redactorOf(secrets) };
    prepared.set(subscription, made);
    return made;
  }

  /** A receiver may quote what it knows, secrets included. */
  function show(body: Buffer, ofSubscription: Redactor, signatureKey = ''): string | undefined {
    if (body.length === 0) return undefined;
    const { redact } = combineRedactors([ofSubscription, createRedactor([signatureKey])]);
    return cutText(redact(readableText(body)), maxAnswerBytes);
  }

  return async ({ lease, subscription, source }) => {
    const { url, keys, redactor } = prepare(subscription);
    const { signatureKey, original } = source ?? {};
    const id = showEventId(lease.eventId);
    const body = original === undefined ? lease.body : toOriginalBody(lease.body, original);
    const attemptedAtMs = now();
    const startedMs = performance.now();
    const made = () => ({ attemptedAtMs, durationMs: performance.now() - startedMs });
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Causeway',
      ...signatureHeaders({ id, nowMs: attemptedAtMs, body, keys }),
      ...(original !== undefined && { 'elements-webhook-id': id }),
      ...(signatureKey !== undefined && { 'elements-webhook-signature': instanceSignature(body, signatureKey) }),
    };
    try {
      const response = await egress.request({
        url,
        method: 'POST',
        headers,
        body,
        timeoutMs,
        maxBytes: maxAnswerBytes + OVERLAP_BYTES,
        onExcess: 'cut',
        signal,
      });
      return {
        ...judge(response, now()),
        answer: response.quotable ? show(response.body, redactor, signatureKey) : undefined,
        ...made(),
      };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (error.reason === 'aborted') return { kind: 'aborted' };
      return { ...failed(CLASS_OF[error.reason], error.message), ...made() };
    }
  };
}

function failed(failure: FailureClass, error: string) {
  return { kind: 'failed', failure, error, retryAfterMs: undefined, statusCode: undefined, answer: undefined } as const;
}

function judge({ status, headers }: EgressResponse, nowMs: number) {
  if (status >= 200 && status < 300) return { kind: 'delivered', statusCode: status } as const;
  return {
    kind: 'failed',
    failure: 'status',
    error: `The receiver answered ${status}.`,
    retryAfterMs: readRetryAfterMs(headers['retry-after'], nowMs),
    statusCode: status,
  } as const;
}

/** Receivers know a secret without its prefix too. */
function redactorOf(secrets: readonly string[]): Redactor {
  return createRedactor(secrets.flatMap((secret) => [secret, withoutPrefix(secret)]));
}

/** PostgreSQL text holds no NUL. Decoding replaces what is not UTF-8, a character that was cut included. */
function readableText(body: Buffer): string {
  return body.toString('utf8').replaceAll('\0', '\ufffd');
}

function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return Buffer.from(text).subarray(0, maxBytes).toString('utf8');
}
