import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { AppError } from '../errors.ts';
import { askForBody, MB, MOST_STREAMED_BYTES, sizeText, tooLarge } from '../http/body-bytes.ts';
import { hasBody, signalEnd } from '../http/connection.ts';
import { safeFileHeaders } from '../http/file-headers.ts';
import type { Resources } from '../resources/index.ts';
import type { Caller } from './authorization.ts';
import { assertKeyMayPass } from './key-scopes.ts';
import type { PassthroughOperationId } from './operation.ts';
import { notFound, wrongMethod } from './problem.ts';
import { callHeaders } from './records.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const METHODS: Readonly<Record<Method, PassthroughOperationId>> = {
  GET: 'passGet',
  POST: 'passPost',
  PUT: 'passPut',
  PATCH: 'passPatch',
  DELETE: 'passDelete',
};

/** A body that can be sent again with another access token is kept; a larger one is only passed on. */
const MOST_KEPT_BYTES = MB;

const PREFIX = '/passthrough/';

/**
 * Sends any request to the provider with the credentials of the instance, and returns the provider's response. It runs before the
 * validation of the API, which does not know these requests.
 */
export type Passthrough = (request: Request, response: Response, caller: Caller) => Promise<void>;

/** Returns whether a request to an instance is a passthrough. */
export function isPassthrough({ path }: Request): boolean {
  return /^\/passthrough(?:\/|$)/.test(path);
}

export function isPassed({ path }: Pick<Request, 'path'>): boolean {
  return path.startsWith(PREFIX);
}

export function createPassthrough(resources: Pick<Resources, 'pass'>): Passthrough {
  return async (request, response, { instance, key }) => {
    if (!isPassed(request)) return notFound(request);
    const method = methodOf(request);
    if (key !== undefined) assertKeyMayPass(key, METHODS[method], request);
    response.locals.operation = METHODS[method];
    if (instance === undefined) throw new AppError('INTERNAL', 'A call on an instance without one');
    const passed = {
      method,
      path: request.path.slice(PREFIX.length - 1),
      search: searchOf(request.url),
      headers: passedHeaders(request.headers),
      ...(await takeBody(request, response)),
    };
    const { response: received, report } = await resources.pass({ instance, signal: signalEnd(response) }, passed);
    assertLength(received.headers, received.cancel);
    for (const [name, value] of Object.entries({ ...callHeaders(instance, report) }))
      if (value !== undefined) response.setHeader(name, value);
    for (const [name, value] of Object.entries(passedBackHeaders(received.headers)))
      if (value !== undefined) response.setHeader(name, received.redactor.redact(value));
    response.status(received.status);
    // The words of an address that is not public are not shown, unless the call succeeded.
    const isShown = received.quotable || received.status < 300;
    if (response.locals.isHead === true || !isShown) {
      received.cancel();
      if (!isShown) for (const name of ['Content-Length', 'Content-Encoding']) response.removeHeader(name);
      response.end();
      return;
    }
    await sendBody(limited(received.body, tooMuchReceived), response);
  };
}

function methodOf(request: Request): Method {
  const method = Object.keys(METHODS).find((known): known is Method => known === request.method);
  if (method === undefined) throw wrongMethod(request, Object.keys(METHODS));
  return method;
}

function searchOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

interface TakenBody {
  readonly body?: Buffer | AsyncIterable<Buffer>;
  readonly bodyLength?: number;
}

/**
 * Reads or passes on the body.
 * @throws AppError PAYLOAD_TOO_LARGE, at once where the length is known, otherwise while the body is passed on
 */
async function takeBody(request: Request, response: Response): Promise<TakenBody> {
  if (!hasBody(request.headers)) return {};
  const contentLength = request.headers['content-length'];
  const length = contentLength === undefined ? undefined : Number(contentLength);
  if (length !== undefined && length > MOST_STREAMED_BYTES) throw tooMuchSent();
  askForBody(request, response);
  // Ending the request early must not end the connection, because the caller must still receive the reason.
  const pieces = limited(request.iterator({ destroyOnReturn: false }), tooMuchSent);
  if (length === undefined) return { body: pieces };
  if (length > MOST_KEPT_BYTES) return { body: pieces, bodyLength: length };
  return { body: Buffer.concat(await Array.fromAsync(pieces)), bodyLength: length };
}

async function* limited(pieces: AsyncIterable<Buffer>, excess: () => AppError): AsyncGenerator<Buffer, void> {
  let taken = 0;
  for await (const piece of pieces) {
    taken += piece.length;
    if (taken > MOST_STREAMED_BYTES) throw excess();
    yield piece;
  }
}

function tooMuchSent(): AppError {
  return tooLarge(MOST_STREAMED_BYTES);
}

function tooMuchReceived(): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `The response of the provider is larger than ${sizeText(MOST_STREAMED_BYTES)}.`,
  );
}

function assertLength(headers: Readonly<Record<string, string>>, cancel: () => void): void {
  if (!(Number(headers['content-length']) > MOST_STREAMED_BYTES)) return;
  cancel();
  throw tooMuchReceived();
}

/** A response that has begun cannot become an error. It ends where it broke, which the caller sees by its framing and the log by `cut`. */
async function sendBody(pieces: AsyncIterable<Buffer>, response: Response): Promise<void> {
  try {
    await pipeline(pieces, response);
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

/**
 * The request headers that are not passed to the provider: those that authenticate, those of the connection and of the way to this service
 * (RFC 9110, 7.6.1 and Fetch, "forbidden request-header"), and those of the caller's traces (W3C Trace Context, Baggage).
 */
const KEPT_BACK =
  /^(?:authorization|cookie2?|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|expect|proxy-.*|sec-.*|origin|referer|forwarded|x-forwarded-.*|x-real-ip|via|user-agent|access-control-.*|elements-.*|traceparent|tracestate|baggage)$/;

function passedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const ofConnection = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] => {
      // Clients send this by default, and the connector's own header is better.
      if (name === 'accept' && value === '*/*') return [];
      if (value === undefined || KEPT_BACK.test(name) || ofConnection.has(name)) return [];
      return [[name, typeof value === 'string' ? value : value.join(', ')]];
    }),
  );
}

/**
 * The response headers that are passed on in addition to the type: those that describe the body, and the provider's own. It leaves out
 * those that a browser, a cache or a proxy would follow as ours: cookies, challenges, policies, `X-Accel-Redirect`.
 */
const PASSED_ON =
  /^(?:content-(?:encoding|language|length|location|range)|accept-ranges|etag|last-modified|date|location|link|retry-after|preference-applied|x-(?!accel-|sendfile|lighttpd-|reproxy-|content-type-options$|frame-options$|xss-protection$|permitted-|dns-prefetch|robots-tag$|forwarded-|powered-by$).+)$/;

function passedBackHeaders(headers: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(Object.entries(headers).filter(([name]) => PASSED_ON.test(name))),
    ...safeFileHeaders({ contentType: headers['content-type'], contentDisposition: headers['content-disposition'] }),
  };
}
