import type { Failure, ProviderResponse } from '#connector';
import { findText, isObject } from './answer.ts';

/** Only refusals and errors carry this header; most of them have no body. */
const MESSAGE_HEADER = 'x-bamboohr-error-message';

/** Where the status does not say it: a 403 is about this record or field, not about the key. */
const KINDS: ReadonlyMap<number, Failure['kind']> = new Map([
  [401, 'credentials'],
  [404, 'notFound'],
  [429, 'rateLimited'],
]);

/** Judges by status as the core does, in BambooHR's own words, and finds the failures behind a 200. */
export function classify(response: ProviderResponse): Failure | undefined {
  const message = findMessage(response);
  if (response.status < 300) return isFailure(response) ? withMessage('rejected', message) : undefined;
  return message === undefined ? undefined : withMessage(getKind(response.status), message);
}

function getKind(status: number): Failure['kind'] {
  return KINDS.get(status) ?? (status >= 500 ? 'unavailable' : 'rejected');
}

function withMessage(kind: Failure['kind'], message: string | undefined): Failure {
  return message === undefined ? { kind } : { kind, message };
}

/** Some endpoints answer 200 with `success: false`, or with nothing but the header. */
function isFailure({ headers, body }: ProviderResponse): boolean {
  return headers[MESSAGE_HEADER] !== undefined || (isObject(body) && body.success === false);
}

/** The header, or a problem's detail, which names the offending field (`title` never does). */
function findMessage({ headers, body }: ProviderResponse): string | undefined {
  const inHeader = findText(headers[MESSAGE_HEADER]);
  if (inHeader !== undefined || !isObject(body)) return inHeader;
  return findText(body.detail) ?? findText(body.message) ?? findText(body.error) ?? findText(body.title);
}
