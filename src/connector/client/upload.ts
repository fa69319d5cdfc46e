import { randomUUID } from 'node:crypto';
import { CollectedBytes } from '../../collected-bytes.ts';
import type { EgressStream } from '../../egress/index.ts';
import { AppError, isAppError } from '../../errors.ts';
import { currentTrace } from '../../trace.ts';
import type { ProviderResponse, UploadedFile, UploadForm, UploadRequest } from '../contract.ts';
import { type Bind, type Binding, headersTo, prepareOutgoing } from './binding.ts';
import { type Hold, noRoom } from './byte-budget.ts';
import {
  type AccessTokens,
  countRequest,
  DEFAULT_TIMEOUT_MS,
  type ExchangePorts,
  FAILURE_BYTES,
  judge,
  MAX_BYTES,
  noteRateLimit,
  noteRefusal,
  type ProviderCall,
  type Verdict,
} from './exchange.ts';
import { describeEgressError, isEgressError } from './failure.ts';
import { sendReported } from './reporting.ts';
import { readResponse } from './response.ts';
import { resolveTarget } from './url.ts';

/** A file that is sent to the provider. */
interface SentFile extends UploadedFile {
  /** The bytes, which can be read once. */
  readonly bytes: AsyncIterable<Buffer>;
}

interface Sender {
  readonly call: ProviderCall;
  /** The access tokens, where the connector uses OAuth. */
  readonly tokens: AccessTokens | undefined;
  readonly bind: Bind;
  readonly hold: Hold;
}

/**
 * Sends a file in one request, and never again, because its bytes are gone. If the provider rejects an access token, it is replaced for the
 * next request, which the caller must send.
 * @throws AppError
 */
export async function sendFile(
  ports: ExchangePorts,
  { call, tokens, bind, hold }: Sender,
  request: UploadRequest,
  file: SentFile,
): Promise<ProviderResponse> {
  const { connector, config, signal } = call;
  const held = tokens && { tokens, token: await tokens.current(signal) };
  const binding = bind(connector, config, held?.token);
  const verdict = await sendOnce(ports, { call, binding, hold }, request, file);
  if (verdict.kind === 'responded') return verdict.response;
  const { error } = verdict.failed;
  if (held === undefined || !isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) throw error;
  const another = await held.tokens.replace(held.token, signal);
  throw another === held.token ? error : tokenReplaced(connector.name, error);
}

interface SendingOnce extends Pick<Sender, 'call' | 'hold'> {
  readonly binding: Binding;
}

async function sendOnce(
  ports: ExchangePorts,
  { call, binding, hold }: SendingOnce,
  request: UploadRequest,
  file: SentFile,
): Promise<Verdict> {
  const { connector, signal } = call;
  const { simulator, redactor } = binding;
  const { outgoing, target, encoded } = prepareUpload(binding, request, file);
  const { method } = outgoing;
  const silenceMs = connector.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const toSimulator = simulator !== undefined;
  const body = createBody(file.bytes, encoded);
  let taken = 0;
  const take = (bytes: number) => {
    if (!hold.take(bytes)) return false;
    taken += bytes;
    return true;
  };
  const headers = headersTo(binding, outgoing.headers, target);
  call.signal.throwIfAborted();
  const waiting = call.gate?.take(call.signal);
  if (waiting !== undefined) await waiting;
  const pieces = body.pieces();
  const counted = countRequest(call);
  const wire = currentTrace()?.wire?.open({ headers, body: pieces }, redactor);
  try {
    const stream = await sendReported(
      ports,
      { element: connector.key, method, url: target, toSimulator, redactor, headers, wire },
      (tracedHeaders) =>
        ports.egress.stream({
          url: simulator?.enter(target) ?? target,
          method,
          headers: tracedHeaders,
          body: pieces,
          silenceMs,
          toSimulator,
          signal,
        }),
    );
    noteRateLimit(call, stream.headers, ports.clock, counted);
    const raw = { ...stream, body: await collect(stream, connector.name, take) };
    wire?.noteResponse(raw);
    const read = await readResponse({ hold, signal, noteMembers: call.noteMembers }, raw, outgoing.headers.accept);
    const said = connector.classify?.(read.response);
    const verdict = judge(ports.clock, { binding, outgoing, target }, read, {
      said,
      url: target,
      getsCredentials: true,
    });
    if (verdict.kind === 'failed') noteRefusal(call, verdict, counted);
    if (verdict.kind === 'responded' && !body.isWhole()) throw tooEarly(connector.name);
    return verdict;
  } catch (error) {
    signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    // A fault of the caller's form shows as a failure to send it.
    if (isAppError(error.cause)) throw error.cause;
    if (error.reason === 'timeout' && body.isAwaited()) throw tooSlow(silenceMs, error);
    const undertaking = { name: connector.name, linked: false, timeoutMs: silenceMs };
    return { kind: 'failed', failed: describeEgressError(error, undertaking) };
  } finally {
    hold.give(taken);
    call.gate?.ended();
  }
}

function prepareUpload(binding: Binding, request: UploadRequest, file: SentFile) {
  const { form, headers: own, method = 'POST', ...address } = request;
  const encoded: EncodedBody = form === undefined ? { type: file.type } : encodeForm(form, file);
  const type = { 'content-type': encoded.type };
  // Only this function knows the content type of a form. For a plain file the connector may know better.
  const outgoing = prepareOutgoing(binding, {
    method,
    headers: form === undefined ? { ...type, ...own } : { ...own, ...type },
  });
  const target = resolveTarget(binding, address);
  return { outgoing, target, encoded };
}

interface EncodedBody {
  readonly type: string;
  /** The parts of the body before and after the bytes of the file. */
  readonly head?: Buffer;
  readonly tail?: Buffer;
}

function createBody(bytes: AsyncIterable<Buffer>, { head, tail }: EncodedBody) {
  let isWhole = false;
  let isAwaited = false;

  async function* pieces(): AsyncGenerator<Buffer, void> {
    if (head !== undefined) yield head;
    isAwaited = true;
    for await (const piece of bytes) {
      isAwaited = false;
      yield piece;
      isAwaited = true;
    }
    isAwaited = false;
    if (tail !== undefined) yield tail;
    isWhole = true;
  }

  return {
    pieces,
    /** Whether the request has read the whole body. */
    isWhole: () => isWhole,
    /** Whether the body waits for bytes of the caller. */
    isAwaited: () => isAwaited,
  };
}

/** Encodes a form (RFC 7578) with a file as its last part. */
function encodeForm({ parts, file: fileName }: UploadForm, file: SentFile): EncodedBody {
  const boundary = `causeway-${randomUUID()}`;
  const texts = parts.map(
    ({ name, value, type }) => `--${boundary}\r\n${printPartHead(name, undefined, type)}\r\n\r\n${value}\r\n`,
  );
  const head = `${texts.join('')}--${boundary}\r\n${printPartHead(fileName, file.name, file.type)}\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

function printPartHead(name: string, fileName: string | undefined, type: string | undefined): string {
  const named = fileName === undefined ? '' : `; filename="${escapeName(fileName)}"`;
  const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`;
  return `Content-Disposition: form-data; name="${escapeName(name)}"${named}${typed}`;
}

/** Escapes the characters that would end the name, as browsers do (HTML, "multipart form data"). */
function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/**
 * Collects a response: up to the maximum of a success, or as much of a failure as its words need.
 * @throws AppError PROVIDER_PROTOCOL, OVERLOADED
 */
async function collect(
  { status, body }: EgressStream,
  name: string,
  take: (bytes: number) => boolean,
): Promise<Buffer> {
  const isSuccess = status >= 200 && status < 300;
  const most = isSuccess ? MAX_BYTES : FAILURE_BYTES;
  const collected = new CollectedBytes();
  for await (const piece of body) {
    if (!take(piece.length)) throw noRoom();
    collected.add(piece);
    if (collected.length <= most) continue;
    if (!isSuccess) break;
    throw new AppError('PROVIDER_PROTOCOL', `The response of ${name} is too large: it is more than ${most} bytes.`);
  }
  return collected.join();
}

/** The new token is ready at once. */
const RETRY_AFTER_SECONDS = 1;

function tokenReplaced(name: string, cause: AppError): AppError {
  return new AppError(
    'PROVIDER_UNAVAILABLE',
    `${name} rejected the access token during the upload. Causeway now has a new one. Send the file again.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

function tooSlow(silenceMs: number, cause: unknown): AppError {
  return new AppError('REQUEST_TIMEOUT', `No bytes of the file arrived for ${silenceMs / 1000} s.`, { cause });
}

function tooEarly(name: string): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `${name} responded before it had the whole file, so it may have stored only a part of it. Check the file there.`,
  );
}
