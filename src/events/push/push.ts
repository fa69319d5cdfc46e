import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { type Egress, EgressError, type EgressReason, type EgressResponse } from '../../egress/index.ts';
import type { Logger } from '../../log.ts';
import { CENSOR, combineRedactors, createRedactor, type Redactor } from '../../redaction.ts';
import { readRetryAfterMs } from '../../retry-after.ts';
import { currentSpan, type Span, type Tracer, within } from '../../trace.ts';
import { createAuthorizer, secretsOf, TokenRefusedError } from '../endpoints/authorization.ts';
import { CONTENT_TYPES, toEndpointBody } from '../endpoints/cloud-event.ts';
import type { EngineMetrics } from '../engine-metrics.ts';
import { showEventId } from '../event-id.ts';
import type { DeliveryLease } from '../lease.ts';
import {
  connectedInstanceOf,
  instanceSignature,
  signatureHeaders,
  signingKeys,
  toOriginalBody,
  withoutPrefix,
  withToken,
} from '../message.ts';
import type { DeliverySettings, EventSource, FindSource, ReadySubscription } from '../model.ts';
import type { EngineOptions } from '../options.ts';
import type { DeliveryOutcome } from '../outcomes/outcome-queue.ts';
import type { AttemptOutcome, NextRow } from '../outcomes/outcome-store.ts';
import { describeAttempt, describeOutcome } from './attempt-span.ts';
import { nextState, type Transition } from './schedule.ts';

/**
 * Reason why a push failed. `status`: a response other than 2xx; redirects are not followed. `refused`: the address
 * policy forbids the address. `token`: the endpoint's token endpoint returned no token.
 */
type FailureClass = 'status' | 'timeout' | 'connect' | 'tls' | 'reset' | 'refused' | 'protocol' | 'token';

interface Made {
  readonly attemptedAtMs: number;
  readonly durationMs: number;
  readonly statusCode: number | undefined;
  /**
   * The beginning of the response, at most `maxResponseBytes`, valid for a text column. Undefined for a response from an address that is
   * not public, unless this is a service for one machine.
   */
  readonly answer: string | undefined;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

type AttemptReport =
  | ({ readonly kind: 'delivered' } & Made)
  | ({
      readonly kind: 'failed';
      readonly failure: FailureClass;
      /** May be shown: names the host, never a path. */
      readonly error: string;
      readonly retryAfterMs: number | undefined;
    } & Made)
  /** The push was aborted, with an unknown result. */
  | { readonly kind: 'aborted' };

interface PushPorts {
  readonly egress: Pick<Egress, 'request'>;
  readonly clock: Clock;
  readonly random: { readonly fraction: () => number };
  readonly log: Logger;
  readonly tracer?: Tracer | undefined;
  readonly findSubscription: (accountId: number, id: number) => Promise<ReadySubscription | undefined>;
  readonly findSource: FindSource;
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  readonly measures: Pick<EngineMetrics, 'attempted'>;
  readonly options: Pick<EngineOptions, 'schedules' | 'attemptTimeoutMs' | 'maxResponseBytes'>;
  /** Aborts every push. */
  readonly signal: AbortSignal;
}

/** Number of bytes that are read beyond the kept part, so that a secret at its end is complete and can be redacted. */
const OVERLAP_BYTES = 512;
/** Number of milliseconds for which a delivery waits when something in this service failed before the push. */
const OWN_FAILURE_PAUSE_MS = 2_000;
/** The longer schedule, for settings that cannot be read: one retry too many is better than ending too early. */
const CAREFUL_SETTINGS: DeliverySettings = { failurePolicy: 'retry', retryCount: 9 };
const HARD: ReadonlySet<FailureClass> = new Set(['timeout', 'connect']);

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

interface Prepared {
  readonly url: URL;
  readonly keys: readonly KeyObject[];
  /** Redacts its signing secrets, and those of an endpoint. */
  readonly redactor: Redactor;
}

/** A request that is ready to be sent. */
interface Request {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The parts of a lease that the receiver gets. */
interface Sent extends Pick<Partial<EventSource>, 'signatureKey' | 'original'> {
  readonly body: Buffer;
  readonly contentType?: string;
  /** Secrets that the receiver sees in the push and may quote in its response. */
  readonly secrets: readonly string[];
}

/** Creates the function that sends one lease to its receiver once and returns the outcome to store. That function never rejects. */
export function createPush(ports: PushPorts): (lease: DeliveryLease) => Promise<DeliveryOutcome> {
  const { clock, log, options } = ports;
  const authorizer = createAuthorizer({ ...ports, timeoutMs: options.attemptTimeoutMs });
  const prepared = new WeakMap<ReadySubscription, Prepared>();

  function prepare(subscription: ReadySubscription): Prepared {
    const known = prepared.get(subscription);
    if (known !== undefined) return known;
    const { url } = subscription;
    const made = { url: new URL(url), keys: signingKeys(subscription), redactor: redactorOf(subscription) };
    prepared.set(subscription, made);
    return made;
  }

  /** Returns the text of a response without secrets, because a receiver may quote what it received. */
  function show(body: Buffer, { redact }: Redactor): string | undefined {
    if (body.length === 0) return undefined;
    return cutText(redact(readableText(body)), options.maxResponseBytes);
  }

  async function attempt(lease: DeliveryLease, subscription: ReadySubscription, sent: Sent): Promise<AttemptReport> {
    const { body, secrets, signatureKey, original } = sent;
    const { url, keys, redactor } = prepare(subscription);
    const id = showEventId(lease.eventId);
    const attemptedAtMs = clock.now();
    const startedMs = clock.steady();
    const headers = {
      ...subscription.endpoint?.headers,
      'content-type': sent.contentType ?? 'application/json',
      'user-agent': 'Causeway',
      ...signatureHeaders({ id, nowMs: attemptedAtMs, body, keys }),
      ...(original !== undefined && { 'elements-webhook-id': id }),
      ...(signatureKey !== undefined && { 'elements-webhook-signature': instanceSignature(body, signatureKey) }),
      ...currentSpan()?.headersFor(url.hostname),
    };
    const ofReceiver = combineRedactors([redactor, createRedactor(secrets)]);
    const requestHeaders = hideHeaders(redactValues(headers, ofReceiver), subscription);
    const made = () => ({ attemptedAtMs, durationMs: clock.steady() - startedMs, requestHeaders });
    currentSpan()?.note(() => describeAttempt(lease, url, id));
    const request = { url, headers, body };
    try {
      const { response, redactor: ofSent } =
        subscription.endpoint?.authentication === undefined
          ? { response: await post(request), redactor: ofReceiver }
          : await postAuthorized(request, subscription, ofReceiver);
      return {
        ...judge(response, clock.now()),
        answer: response.quotable ? show(response.body, ofSent) : undefined,
        ...made(),
      };
    } catch (error) {
      if (error instanceof TokenRefusedError) {
        // A token endpoint that is down is no reason to think that the receiver is.
        return { ...failed('token', error.message), ...made() };
      }
      if (!(error instanceof EgressError)) throw error;
      if (error.reason === 'aborted') return { kind: 'aborted' };
      return { ...failed(CLASS_OF[error.reason], error.message), ...made() };
    }
  }

  function post({ url, headers, body }: Request): Promise<EgressResponse> {
    return ports.egress.request({
      url,
      method: 'POST',
      headers,
      body,
      timeoutMs: options.attemptTimeoutMs,
      maxBytes: options.maxResponseBytes + OVERLAP_BYTES,
      onExcess: 'cut',
      signal: ports.signal,
    });
  }

  /** Sends a request with the authentication of its endpoint. A token that is refused is renewed, and the request sent again, once. */
  async function postAuthorized(request: Request, subscription: ReadySubscription, redactor: Redactor) {
    const { accountId, id, endpoint } = subscription;
    const authorized = { accountId, id, authentication: endpoint?.authentication };
    const send = async () => {
      const authorization = await authorizer.authorize(authorized);
      const { header, secrets } = authorization;
      const headers = header === undefined ? request.headers : { ...request.headers, authorization: header };
      const response = await post({ ...request, headers });
      return { authorization, response, redactor: combineRedactors([redactor, createRedactor(secrets)]) };
    };
    const sent = await send();
    return sent.response.status === 401 && authorizer.refuse(authorized, sent.authorization) ? send() : sent;
  }

  async function bodyOf(
    { accountId, body, unfiltered = false }: DeliveryLease,
    { endpoint }: ReadySubscription,
    instanceId: number,
  ): Promise<Sent> {
    if (endpoint !== undefined) {
      const { format } = endpoint;
      return {
        body: toEndpointBody(body, { ...endpoint, unfiltered }),
        contentType: CONTENT_TYPES[format],
        secrets: [],
        ...(format === 'elements' && { original: endpoint }),
      };
    }
    const { signatureKey, original } = (await ports.findSource(accountId, instanceId)) ?? {};
    return {
      body: original === undefined ? body : toOriginalBody(body, original),
      secrets: signatureKey === undefined ? [] : [signatureKey],
      signatureKey,
      original,
    };
  }

  /** Returns the body for the account itself. */
  async function ownBody({ accountId, body }: DeliveryLease): Promise<Sent> {
    const connected = connectedInstanceOf(body);
    const token = connected === undefined ? undefined : (await ports.findSource(accountId, connected))?.token;
    return token === undefined ? { body, secrets: [] } : { body: withToken(body, token), secrets: [token] };
  }

  async function settingsOf(accountId: number): Promise<DeliverySettings> {
    try {
      return await ports.settings(accountId);
    } catch (error) {
      log.warn({ err: error, accountId }, 'could not read the settings of an account');
      return CAREFUL_SETTINGS;
    }
  }

  async function settle(lease: DeliveryLease, report: AttemptReport): Promise<DeliveryOutcome> {
    ports.measures.attempted(report.kind === 'failed' ? report.failure : report.kind, lease.acceptedAtMs);
    if (report.kind === 'aborted') return release(lease, clock.now());
    const made = toRecord(report);
    if (report.kind === 'delivered') return { kind: 'delivered', lease, attempt: made };
    const transition = nextState({
      progress: lease,
      result: { delivered: false, retryAfterMs: report.retryAfterMs },
      settings: await settingsOf(lease.accountId),
      schedules: options.schedules,
      nowMs: clock.now(),
      random: ports.random.fraction,
    });
    const kind = transition.kind === 'queued' && transition.exhausted ? 'exhausted' : 'failed';
    return { kind, lease, attempt: made, next: toNextRow(transition), ...judgeHost(report.failure) };
  }

  /** Begins the span of an attempt, if its event was accepted in a trace in any process. */
  function beginSpan({ traceparent }: DeliveryLease): Span | undefined {
    if (traceparent === undefined) return undefined;
    return ports.tracer?.begin({ name: 'POST', kind: 'client' }, { traceparent });
  }

  async function push(lease: DeliveryLease): Promise<DeliveryOutcome> {
    const { accountId, subscriptionId, instanceId } = lease;
    try {
      const subscription = await ports.findSubscription(accountId, subscriptionId);
      // The statement that releases it sees that the subscription is deactivated, and queues it.
      if (subscription?.state !== 'active') return release(lease, clock.now());
      const sent = instanceId === undefined ? await ownBody(lease) : await bodyOf(lease, subscription, instanceId);
      return await settle(lease, await attempt(lease, subscription, sent));
    } catch (error) {
      log.error({ err: error, deliveryId: lease.id, accountId }, 'could not attempt a delivery');
      return release(lease, clock.now() + OWN_FAILURE_PAUSE_MS);
    }
  }

  return async (lease) => {
    const span = beginSpan(lease);
    if (span === undefined) return push(lease);
    const outcome = await within(span, () => push(lease));
    span.end(() => describeOutcome(outcome));
    return outcome;
  };
}

/** Returns what a failure says about the host of the receiver. A token endpoint is elsewhere. */
function judgeHost(failure: FailureClass) {
  return { isHard: HARD.has(failure), isElsewhere: failure === 'token' };
}

/** Returns the outcome of a lease that ends without an attempt. */
export function release(lease: DeliveryLease, dueAtMs: number): DeliveryOutcome {
  return { kind: 'released', lease, dueAt: new Date(dueAtMs) };
}

function failed(failure: FailureClass, error: string) {
  return { kind: 'failed', failure, error, retryAfterMs: undefined, statusCode: undefined, answer: undefined } as const;
}

function judge({ status, headers }: EgressResponse, nowMs: number) {
  if (status >= 200 && status < 300) return { kind: 'delivered', statusCode: status } as const;
  return {
    kind: 'failed',
    failure: 'status',
    error: `The receiver returned ${status}.`,
    retryAfterMs: readRetryAfterMs(headers['retry-after'], nowMs),
    statusCode: status,
  } as const;
}

function toRecord(report: Exclude<AttemptReport, { kind: 'aborted' }>): AttemptOutcome {
  const { attemptedAtMs, durationMs, statusCode, answer: response, requestHeaders } = report;
  const error = report.kind === 'failed' ? `${report.failure}: ${report.error}` : undefined;
  return { attemptedAt: new Date(attemptedAtMs), durationMs, statusCode, answer: response, requestHeaders, error };
}

function toNextRow(transition: Transition): NextRow {
  if (transition.kind === 'delivered') throw new Error('A failed attempt delivered nothing');
  const { retries, firstFailedAtMs } = transition;
  const firstFailedAt = firstFailedAtMs === undefined ? undefined : new Date(firstFailedAtMs);
  if (transition.kind === 'queued') return { state: 'queued', dueAt: undefined, retries, firstFailedAt };
  return { state: 'waiting', dueAt: new Date(transition.dueAtMs), retries, firstFailedAt };
}

/** Receivers know a secret without its prefix too. */
function redactorOf({ secrets, endpoint }: ReadySubscription): Redactor {
  const signing = secrets.flatMap((secret) => [secret, withoutPrefix(secret)]);
  if (endpoint === undefined) return createRedactor(signing);
  return createRedactor([...signing, ...Object.values(endpoint.headers), ...secretsOf(endpoint.authentication)]);
}

/** Replaces the values of an endpoint's own headers, however short they are. */
function hideHeaders(headers: Readonly<Record<string, string>>, { endpoint }: ReadySubscription) {
  if (endpoint === undefined) return headers;
  const names = Object.keys(endpoint.headers);
  return { ...headers, ...Object.fromEntries(names.map((name) => [name, CENSOR])) };
}

function redactValues(headers: Readonly<Record<string, string>>, { redact }: Redactor) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redact(value)]));
}

/** PostgreSQL text holds no NUL. Decoding replaces what is not UTF-8, a character that was cut included. */
function readableText(body: Buffer): string {
  return body.toString('utf8').replaceAll('\0', '\ufffd');
}

function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return Buffer.from(text).subarray(0, maxBytes).toString('utf8');
}
