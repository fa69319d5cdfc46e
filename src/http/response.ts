import type { Response } from 'express';
import { AppError, type CallerBudget } from '../errors.ts';
import type { RecordFile } from '../resources/media.ts';
import { chooseResponse } from '../resources/media.ts';
import { packedTag } from './byte-ranges.ts';
import { encodingOf } from './compression.ts';
import { sendPieces } from './json-response.ts';

/** Headers of a response. Undefined values are left out. */
export type ResponseHeaders = Readonly<Record<string, string | number | undefined>>;

/** A response with bytes instead of JSON. */
export interface FileResponse {
  readonly file: Buffer;
  readonly headers: ResponseHeaders & { readonly 'Content-Type': string };
}

/** A response that is streamed. The status says if it has only a part of the file, or nothing. */
export interface StreamResponse {
  readonly status: 200 | 206 | 304;
  /** Returns the pieces of the body. It is not called where no body is sent. An error in it breaks the connection. */
  readonly pieces: () => AsyncIterable<Buffer | string>;
  readonly headers: ResponseHeaders & { readonly 'Content-Type'?: string };
}

/** Response of any operation's handler. The status is 200. */
export type HandlerResponse = FileResponse | StreamResponse | JsonResponse;

interface JsonResponse {
  readonly body: unknown;
  /** Memory that the body takes, about, where that is known: whether it is large needs no look at it then. */
  readonly bytes?: number | undefined;
  readonly headers?: ResponseHeaders;
}

export function sendResponse(response: Response, result: HandlerResponse): void {
  // The validator checks a body by its content type and, without one, by the caller's Accept header.
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const name in result.headers) {
    const value = result.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  if ('pieces' in result) sendStream(response, result);
  else if ('file' in result) response.send(result.file);
  else {
    response.locals.bodyBytes = result.bytes;
    response.json(result.body);
  }
}

/**
 * Sends a stream after its headers are set. A whole file is compressed where the caller accepts that. A range has bytes of the uncompressed
 * file.
 */
function sendStream(response: Response, { status, pieces }: StreamResponse): void {
  response.status(status);
  const encoding = status === 200 ? encodingOf(response) : undefined;
  if (encoding !== undefined) {
    response.removeHeader('Content-Length');
    response.setHeader('Accept-Ranges', 'none');
    const tag = response.getHeader('ETag');
    if (typeof tag === 'string') response.setHeader('ETag', packedTag(tag, encoding));
  }
  if (status === 304 || response.locals.isHead === true) {
    if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
    if (status === 304) response.removeHeader('Content-Type');
    response.end();
    return;
  }
  sendPieces(response, pieces(), encoding).catch((error: unknown) => response.req.next?.(error));
}

/** Sets the headers of the rate limit (draft-ietf-httpapi-ratelimit-headers-06). */
export function setBudget(response: Response, { limit, remaining, resetSeconds }: CallerBudget): void {
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', resetSeconds);
}

/**
 * Asserts that the caller accepts JSON.
 * @throws AppError NOT_ACCEPTABLE
 */
export function assertAcceptsJson(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*' || chooseResponse(accept, []).kind === 'record') return;
  throw new AppError('NOT_ACCEPTABLE', 'This path returns JSON. Send Accept: application/json.');
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w.-]+=(?:[\w!#$&^.+:'()-]+|"[^"\\\p{Cc}]*"))*$/u;

/** Types that a browser shows without running what is in them. */
const INERT_TYPE =
  /^(?:application\/(?:pdf|octet-stream|(?:[\w.-]+\+)?json)|image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/(?:plain|csv))$/;

/** A name for the file and nothing else (RFC 6266): no folder, no quoting within quotes. */
const DISPOSITION =
  /^(?:attachment|inline)((?:\s*;\s*filename\*?\s*=\s*(?:"[^"\\/\p{Cc}]*"|[\w!#$%&'+.^`|~-]+)){0,2})$/iu;

/**
 * Returns headers for bytes of a provider under this service's own origin, which a browser must not display as a page of ours. The type is
 * never guessed, scripts do not run, and types that may have scripts are downloaded instead of shown.
 */
export function safeFileHeaders({
  contentType,
  contentDisposition,
  name,
}: Partial<Pick<RecordFile, 'contentType' | 'contentDisposition' | 'name'>>) {
  const type = contentType !== undefined && MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
  return {
    'Content-Type': type,
    'Content-Disposition': dispositionOf(type, contentDisposition ?? (name && writeDisposition(name))),
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
}

export function fileResponse({ bytes, ...file }: RecordFile): FileResponse {
  return { file: bytes, headers: safeFileHeaders(file) };
}

function dispositionOf(type: string, given: string | undefined): string | undefined {
  const [essence = ''] = type.toLowerCase().split(/[;\s]/);
  const names = given === undefined ? undefined : DISPOSITION.exec(given)?.[1];
  if (!INERT_TYPE.test(essence) || (given !== undefined && names === undefined)) return `attachment${names ?? ''}`;
  return given;
}

/** Characters that file systems or quoted texts do not allow. */
const AWKWARD = /["\\/:*?<>|%]/g;

/** Returns a `Content-Disposition` header (RFC 6266) with the name in ASCII and, if it differs, also in UTF-8 (RFC 8187). */
export function writeDisposition(name: string): string | undefined {
  const whole = (name.split(/[\\/]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  if (whole === '') return undefined;
  const plain = whole
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/gu, '_')
    .replaceAll(AWKWARD, '_');
  const exact = `; filename*=UTF-8''${encodeURIComponent(whole).replaceAll(/['()*]/g, percentEncode)}`;
  return `attachment; filename="${plain}"${plain === whole ? '' : exact}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
