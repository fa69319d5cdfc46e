import type { StepValue } from '../executions/model.ts';
import type { CallApi } from '../ports.ts';
import { matchesCodes } from '../status-codes.ts';
import {
  errorValue,
  fail,
  type Origin,
  type PerformStep,
  StepFault,
  type StepInput,
  type StepOutcome,
  succeed,
} from './outcome.ts';
import { type Properties, readProperties } from './properties.ts';
import {
  mayRetry,
  type RequestBody,
  readBody,
  readHeaders,
  readMethod,
  readQuery,
  readRetryRule,
  showBody,
  showHeaders,
} from './request-parts.ts';

/** Maximum size of a response that the values of a step hold, in bytes. */
export const MOST_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Maximum time of a request, in milliseconds. */
const REQUEST_MS = 120_000;
const BASE_PATH = '/elements/api-v2';
const CONFLICT = 409;
/** Headers that the service sets by itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
]);

/** The header with which a request of a formula names its origin. It counts only on requests of this process. */
export const ORIGIN_HEADER = 'elements-formula-origin';

export interface ApiRequestPorts {
  readonly callApi: CallApi;
}

/** Calls the API as an element instance: the steps `elementRequest`. */
export function createElementRequest(ports: ApiRequestPorts): PerformStep {
  return (input) => sendStep(ports, input, (properties) => properties.instanceId('elementInstanceId'));
}

/** Calls the API of the platform: the steps `request`. */
export function createPlatformRequest(ports: ApiRequestPorts): PerformStep {
  return (input) => sendStep(ports, input, () => undefined);
}

async function sendStep(
  { callApi }: ApiRequestPorts,
  input: StepInput,
  readInstance: (properties: Properties) => number | undefined,
): Promise<StepOutcome> {
  const { step, context, retries } = input;
  const properties = readProperties(step.properties, context);
  const rule = readRetryRule(properties);
  const request = readApiRequest(properties, readInstance(properties));
  const shown = showRequest(request, retries);
  const { caller, origin, signal } = input;
  const send = (idempotencyKey: string | undefined) =>
    exchange(callApi, { ...request, caller, origin, idempotencyKey, signal });
  const key = isRepeatedByKey(request) ? `${input.key}-${retries}` : undefined;
  let sent = await send(key);
  // A request that was cut off with its process holds its key, and nobody knows its outcome. Each restart sends it once more.
  for (let restart = 1; restart < input.begun && key !== undefined && isConflict(sent); restart++)
    sent = await send(`${key}-restarted-${restart}`);
  if (sent.kind === 'broken') {
    if (mayRetry(rule, undefined, retries)) return { kind: 'retry', afterMs: rule.delayMs };
    return fail([...shown, errorValue(sent.reason)]);
  }
  if (mayRetry(rule, sent.status, retries)) return { kind: 'retry', afterMs: rule.delayMs };
  return judge(properties, sent.status, [...shown, ...showResponse(sent)]);
}

function isConflict(sent: Awaited<ReturnType<typeof exchange>>): boolean {
  return sent.kind === 'response' && sent.status === CONFLICT;
}

/** Returns the outcome of a request step by the codes that it accepts. */
export function judge(properties: Properties, status: number, values: readonly StepValue[]): StepOutcome {
  const accepted = properties.filled('acceptableStatusCodes').trim();
  const isAccepted = accepted === '' ? status >= 200 && status <= 299 : matchesCodes(accepted, status);
  return isAccepted ? succeed(values) : fail(values);
}

/** A request to the own API. */
export interface ApiRequest {
  readonly instanceId: number | undefined;
  readonly method: string;
  /** Path below the base path, without a query. */
  readonly path: string;
  /** Members that replaced parts of the path. */
  readonly pathMembers: Readonly<Record<string, unknown>>;
  readonly query: { readonly shown: Readonly<Record<string, string>>; readonly text: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody | undefined;
}

/** Names of the properties of a request, which steps with two requests have twice. */
interface PropertyNames {
  readonly method: string;
  readonly api: string;
  readonly query: string;
  readonly headers: string;
}

const NAMES: PropertyNames = { method: 'method', api: 'api', query: 'query', headers: 'headers' };

/** @throws StepFault */
export function readApiRequest(
  properties: Properties,
  instanceId: number | undefined,
  names: PropertyNames = NAMES,
): ApiRequest {
  const pathMembers = names === NAMES ? properties.members('path') : {};
  const [path = '', inApi = ''] = readPath(properties, names.api, pathMembers).split('?', 2);
  const query = readQuery(properties, names.query);
  const all = [inApi, query.text].filter((text) => text !== '').join('&');
  const headers = Object.entries(readHeaders(properties, names.headers)).filter(([name]) => !OWN_HEADERS.has(name));
  const method = readMethod(properties, names.method);
  return {
    instanceId,
    method,
    path,
    pathMembers,
    query: { shown: { ...Object.fromEntries(new URLSearchParams(inApi)), ...query.shown }, text: all },
    headers: Object.fromEntries(headers),
    body: names === NAMES && method !== 'GET' ? readBody(properties) : undefined,
  };
}

/**
 * Reads the path. What replaces a reference or a member is one segment, unless the property is one reference and nothing else.
 * @throws StepFault
 */
function readPath(properties: Properties, name: string, members: Readonly<Record<string, unknown>>): string {
  const given = String(properties.given(name) ?? '');
  const isWhole = /^\$\{[^{}]*\}$/.test(given.trim());
  const filled = (isWhole ? properties.text(name) : properties.filled(name, encodeURIComponent)).replace(
    /\{([^{}]*)\}/g,
    (text, member: string) => (Object.hasOwn(members, member) ? encodeURIComponent(String(members[member])) : text),
  );
  const trimmed = filled.trim();
  if (trimmed === '') throw new StepFault(`The property '${name}' has no value.`);
  const rooted = trimmed.startsWith('/') ? trimmed : `/${trimmed}`;
  const path = rooted.startsWith(`${BASE_PATH}/`) ? rooted.slice(BASE_PATH.length) : rooted;
  if (path.split('?', 1)[0]?.split('/').includes('..'))
    throw new StepFault(`The property '${name}' must not have the segment '..'.`);
  return path.toWellFormed().replace(/[\0-\x20\x7f-\uffff#]+/g, encodeURIComponent);
}

/** Only a POST without a form takes a key by which the service knows a repeated request. */
function isRepeatedByKey({ method, headers, body }: ApiRequest): boolean {
  return (
    method === 'POST' && headers['idempotency-key'] === undefined && body?.contentType.startsWith('multipart/') !== true
  );
}

export function showRequest(
  request: ApiRequest,
  retries: number,
  prefix: readonly string[] = [],
): readonly StepValue[] {
  const at = (name: string) => [...prefix, 'request', name];
  const masked = { authorization: '', ...request.headers };
  return [
    [at('method'), request.method],
    [at('uri'), BASE_PATH + request.path],
    [at('query'), request.query.shown],
    [at('path'), request.pathMembers],
    [at('headers'), showHeaders(masked)],
    ...(request.body === undefined ? [] : [[at('body'), request.body.shown] as const]),
    ...(retries > 0 ? [[at('retry-attempt'), String(retries)] as const] : []),
  ];
}

export function showResponse(response: ReceivedResponse, prefix: readonly string[] = []): readonly StepValue[] {
  const { status, headers, bytes } = response;
  const body = showBody(bytes, headers);
  const at = (name: string) => [...prefix, 'response', name];
  return [
    [at('code'), status],
    [at('headers'), showHeaders(headers)],
    ...(body === undefined ? [] : [[at('body'), body] as const]),
  ];
}

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

type Exchanged =
  | ({ readonly kind: 'response' } & ReceivedResponse)
  | { readonly kind: 'broken'; readonly reason: string };

interface SentRequest extends ApiRequest {
  readonly caller: StepInput['caller'];
  readonly origin: Origin;
  readonly idempotencyKey: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends a request to the own API and reads its response. */
async function exchange(callApi: CallApi, request: SentRequest): Promise<Exchanged> {
  const { caller, instanceId, method, path, query, body, signal } = request;
  const timeout = AbortSignal.timeout(REQUEST_MS);
  try {
    const response = await callApi({
      caller: { ...caller, instanceId },
      method,
      path: query.text === '' ? path : `${path}?${query.text}`,
      headers: headersOf(request),
      body: body?.bytes,
      signal: AbortSignal.any([signal, timeout]),
    });
    const bytes = await readBytes(response.body);
    if (bytes === undefined)
      return { kind: 'broken', reason: `The response has more than ${MOST_RESPONSE_BYTES} bytes.` };
    return { kind: 'response', status: response.status, headers: response.headers, bytes };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted)
      return { kind: 'broken', reason: `There was no response within ${REQUEST_MS / 1000} seconds.` };
    throw error;
  }
}

export function headersOf({
  headers,
  body,
  origin,
  idempotencyKey,
}: Pick<SentRequest, 'headers' | 'body' | 'origin' | 'idempotencyKey'>) {
  return {
    accept: 'application/json',
    ...headers,
    ...(body !== undefined && { 'content-type': body.contentType, 'content-length': String(body.bytes.length) }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    [ORIGIN_HEADER]: JSON.stringify(origin),
  };
}

/** Undefined: there are more bytes than a step may hold. */
export async function readBytes(body: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MOST_RESPONSE_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
