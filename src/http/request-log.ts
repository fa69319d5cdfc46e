import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { TenantIds } from '../accounts/store.ts';
import type { ActivityEntry } from '../activity/entry.ts';
import type { Recorder } from '../activity/recorder.ts';
import type { ErrorCode } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Metrics } from '../metrics.ts';
import { callers } from '../pace.ts';
import type { Platform } from '../platform.ts';
import type { Redactor } from '../redaction.ts';
import { createTrace, inBackground, type Span, type Trace, type TraceHeaders, withTrace } from '../trace.ts';
import { addressOf, type ProxyTrust } from './remote-address.ts';
import { describeRequest, methodName } from './request-span.ts';

export interface RequestLogParts {
  readonly trust: ProxyTrust;
  readonly redactCall: RedactCall;
  /** Whether requests are also measured. */
  readonly isMeasured: boolean;
  /** Records the requests of known callers. */
  readonly record: Recorder['record'];
  /** The path templates of the operations, by their ids. */
  readonly routes: ReadonlyMap<string, string>;
}

/**
 * Creates the redactor of a call from the secrets that it contains and those of its instance. Secrets of other calls are not part of it.
 */
export type RedactCall = (request: Request, response: Response) => Redactor;

export type RequestLogPorts = Pick<Platform, 'log' | 'clock' | 'metrics' | 'tracer'>;

/** Runs the work of a request, and logs and records the request when it ends. */
type LogRequest = (request: Request, response: Response, work: () => void) => void;

/**
 * Sets the id and the address of a request, which all work for it can read. When the request has ended, it writes a log line, measures the
 * request and ends its span.
 */
export function logRequests(
  { log, clock, metrics, tracer }: RequestLogPorts,
  { trust, redactCall, isMeasured, record, routes }: RequestLogParts,
): LogRequest {
  const observe = isMeasured ? observeRequests(metrics) : undefined;

  return (request, response, work) => {
    const atMs = clock.now();
    const startedAtMs = clock.steady();
    const requestId = randomUUID();
    // As it came: a HEAD is worked on as the GET that it is.
    const { method } = request;
    const span = tracer?.begin({ name: methodName(method), kind: 'server' }, traceHeadersOf(request));
    const trace = createTrace(requestId);
    const { locals } = response;
    locals.requestId = requestId;
    locals.trace = trace;
    locals.address = addressOf(request, trust);
    response.setHeader('Elements-Request-Id', requestId);
    // Browsers must not guess another type than the one that is sent.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const end = () => {
      const durationMs = clock.steady() - startedAtMs;
      observe?.(locals.operation ?? NO_OPERATION, response.statusCode, durationMs / 1000);
      const redactor = redactCall(request, response);
      // The path only: a query may hold personal data. The rest of the line has no foreign text.
      const [path = ''] = request.originalUrl.split('?', 1);
      const ended = { atMs, durationMs, redactor, method, path: redactor.redact(path) };
      log.info(readLine(response, ended, span), 'request');
      const principal: TenantIds | undefined = locals.principal;
      if (principal !== undefined) record(toActivity(response, principal, ended));
      span?.end(() => describeRequest(request, response, { method, redactor, routes }));
    };
    const gone = callers.came();
    // With ids and a redactor of its own, which knows more than the trace.
    response.on('close', () => {
      gone();
      inBackground(end);
    });
    withTrace({ trace, span }, work);
  };
}

interface Ended extends Pick<ActivityEntry, 'atMs' | 'durationMs' | 'method'> {
  readonly redactor: Redactor;
  /** Path of the request, without secrets. */
  readonly path: string;
}

/** Undefined members are left out. */
function readLine(response: Response, { method, path, durationMs }: Ended, span: Span | undefined) {
  const { statusCode: status, writableFinished, locals } = response;
  const principal: TenantIds | undefined = locals.principal;
  const instance: Instance | undefined = locals.caller?.instance;
  const { requestId, providerCalls }: Trace = locals.trace;
  const errorCode: ErrorCode | undefined = locals.errorCode;
  return {
    requestId,
    trace_id: span?.traceId,
    span_id: span?.spanId,
    address: locals.address,
    accountId: principal?.accountId,
    userId: principal?.userId,
    keyId: locals.caller?.key?.id,
    instanceId: instance?.id,
    element: instance?.connector.key,
    method,
    path,
    status,
    errorCode,
    providerCalls: instance !== undefined || providerCalls > 0 ? providerCalls : undefined,
    cut: writableFinished ? undefined : true,
    ms: Math.round(durationMs * 10) / 10,
  };
}

/** Node joins what comes twice, which then is no context. */
function traceHeadersOf({ headers }: Request): TraceHeaders {
  const { traceparent, tracestate } = headers;
  return {
    traceparent: String(traceparent ?? ''),
    tracestate: tracestate === undefined ? undefined : String(tracestate),
  };
}

/** The status of a request whose response never began, as nginx uses it. No response has it. */
const HUNG_UP_STATUS = 499;

function toActivity(response: Response, principal: TenantIds, ended: Ended): ActivityEntry {
  const { locals, statusCode, headersSent, writableFinished } = response;
  const instance: Instance | undefined = locals.caller?.instance;
  const trace: Trace = locals.trace;
  const rows = response.getHeader('Elements-Returned-Count');
  return {
    ...ended,
    accountId: principal.accountId,
    userId: principal.userId,
    key: locals.caller?.key,
    requestId: trace.requestId,
    address: locals.address,
    instanceId: instance?.id ?? trace.audit?.instanceId ?? namedInstance(ended.path),
    elementKey: instance?.connector.key,
    operation: locals.operation ?? locals.sought,
    isOfConsole: locals.caller?.session !== undefined,
    code: locals.errorCode,
    reason: locals.errorReason,
    status: headersSent ? statusCode : HUNG_UP_STATUS,
    cut: !writableFinished,
    rows: rows === undefined ? undefined : Number(rows),
    pushdown: response.getHeader('Elements-Query-Pushdown')?.toString(),
    trace,
  };
}

/** The instance that the path of a platform call is about, of whomever it is: the row belongs to the caller. */
function namedInstance(path: string): number | undefined {
  const id = Number(/\/instances\/(\d{1,16})(?:\/|$)/.exec(path)?.[1]);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Limits of the buckets of durations in seconds, from a response out of memory to a slow provider. */
const BUCKETS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A request that led to no operation: one is known when it was noted in `response.locals.operation`. */
const NO_OPERATION = 'none';
const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'];

function observeRequests(metrics: Metrics): (operation: string, status: number, seconds: number) => void {
  const observe = metrics.observer({
    name: 'causeway_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response, by operation and class of status.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS_SECONDS,
  });
  return (operation, status, seconds) =>
    observe(seconds, operation, STATUS_CLASSES[Math.floor(status / 100)] ?? 'other');
}
