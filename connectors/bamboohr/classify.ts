import type { Failure, ProviderResponse } from '#connector';
import { findText, isObject } from './answer.ts';

/** Only refusals and errors carry this header; most of them have no body. */
const MESSAGE_HEADER = 'x-bamboohr-error-message';

/** A value that a field does not take; nothing that is there clashes with it. */
const INVALID_VALUE = 409;

/** Finds the words of a failure, and the failures behind a 200. */
export function classify(response: ProviderResponse): Failure | undefined {
  const message = findMessage(response);
  if (response.status < 300) return isFailure(response) ? { message } : undefined;
  return { kind: response.status === INVALID_VALUE ? 'rejected' : undefined, message };
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
