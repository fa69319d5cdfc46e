import type { IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError } from '../errors.ts';
import type { WebhookRoom } from '../events/webhooks/index.ts';
import type { WebhookTarget } from '../events/webhooks/receive.ts';
import { askForBody, assertLength, openBodyRoom, readBody } from '../http/body-bytes.ts';
import { hasBody } from '../http/connection.ts';
import { assertJsonShape, LARGE } from '../http/json-body.ts';
import { assertFewParameters, searchOf } from '../pairs.ts';
import type { Trace } from '../trace.ts';
import type { KnownCaller } from './redact-call.ts';

interface WebhookParts {
  /** Memory limit of this process for the bodies of requests. */
  readonly bodyBudget: ByteBudget;
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

const NOTHING = Buffer.alloc(0);
/** An element of XML has two. */
const MOST_TAGS = 20_000;

/**
 * Creates the handler of `/events/{elementKey}/{instanceKey}`, which receives the webhooks of providers. An unknown address is rejected
 * without a query and before the body is read. Wrong addresses are not limited: rejecting them costs less than counting them, and a
 * provider calls many instances from few addresses.
 */
export function createWebhookHandler(
  webhooks: Pick<WebhookRoom, 'find' | 'receive'>,
  { bodyBudget, publicUrl }: WebhookParts,
): RequestHandler {
  return async (request, response) => {
    response.set('Cache-Control', 'no-store');
    const { elementKey, instanceKey } = request.params;
    const target = await webhooks.find(String(elementKey), String(instanceKey));
    const { instance, redactor } = target;
    note(response, { redactor, instance });
    const trace: Trace = response.locals.trace;
    trace.redactor = redactor;
    trace.instanceId = instance.id;
    assertFewParameters(searchOf(request.originalUrl));
    const call = {
      method: request.method,
      url: publicUrl() + request.originalUrl,
      headers: singleHeaders(request.headers),
      body: await readBytes(request, response, target, bodyBudget),
    };
    const { status, headers, body } = await webhooks.receive(target, call);
    response.status(status);
    // As they are: Express would add a charset.
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(body);
  };
}

function note(response: Response, caller: KnownCaller): void {
  response.locals.caller = caller;
}

/** @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED, UNSUPPORTED_MEDIA_TYPE, REQUEST_INVALID */
async function readBytes(
  request: Request,
  response: Response,
  { instance, maxBytes }: WebhookTarget,
  budget: ByteBudget,
): Promise<Buffer> {
  if (!hasBody(request.headers)) return NOTHING;
  assertLength(request, maxBytes);
  askForBody(request, response);
  const bytes = await readBody(request, maxBytes, openBodyRoom(budget, instance.accountId, response));
  // Judged by what it is: who reads it may not look at what it is called. Forms are counted by what decodes them.
  const first = bytes.find((byte) => byte > SPACE && !BYTE_ORDER_MARK.includes(byte));
  const mayBeJson = first === OPEN_OBJECT || first === OPEN_ARRAY;
  if (mayBeJson) await assertJsonShape(bytes, { ...LARGE, bytes: maxBytes }, response);
  if (first === OPEN_TAG) assertFewTags(bytes);
  return bytes;
}

/** Rejects a body with too many tags before it is parsed. */
function assertFewTags(bytes: Buffer): void {
  let tags = 0;
  for (let at = bytes.indexOf(OPEN_TAG); at >= 0; at = bytes.indexOf(OPEN_TAG, at + 1)) tags++;
  if (tags <= MOST_TAGS) return;
  throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${MOST_TAGS} tags.`);
}

const SPACE = 0x20;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const OPEN_TAG = 0x3c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

function singleHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
