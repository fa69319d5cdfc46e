import { ApiError, type ErrorDetail, NetworkError } from '@causeway/client';
import type { Colors } from 'picocolors/types.js';
import { pointAt, printable, printableJson } from './texts.js';

/**
 * Prints an error for people: its message, the filter with carets under the error, suggestions, the code and the
 * request.
 */
export function errorText(error: unknown, filter: string | undefined, colors: Colors): string {
  const head = `${colors.red(colors.bold('Error:'))} ${printable(messageOf(error))}`;
  if (!(error instanceof ApiError)) return head;
  const details = error.details.filter(({ message }) => message !== error.message && !error.message.includes(message));
  return [
    head,
    ...error.details.flatMap((detail) => placeOf(detail, filter, colors)),
    ...details.map(({ path, message }) => `  ${path === undefined ? '' : `${printable(path)}: `}${printable(message)}`),
    ...(error.providerMessage === undefined ? [] : [`  The provider says: ${printable(error.providerMessage)}`]),
    ...(error.retryAfterSeconds === undefined ? [] : [`  Try again in ${Math.ceil(error.retryAfterSeconds)} s.`]),
    colors.dim(`  ${[error.code, error.requestId && `request ${error.requestId}`].filter(Boolean).join(' · ')}`),
  ].join('\n');
}

/** Prints an error as JSON, for programs. */
export function errorJson(error: unknown): string {
  const { code, status, requestId, details, providerMessage, retryAfterSeconds } =
    error instanceof ApiError ? error : ({} as Partial<ApiError>);
  const message = messageOf(error);
  return printableJson({ error: { message, code, status, requestId, details, providerMessage, retryAfterSeconds } });
}

/** Returns the message of an error. The reason of a failed connection is in its causes. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof NetworkError)) return error.message;
  const reasons: string[] = [];
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    reasons.push(cause.message || String(Object(cause).code ?? cause.name));
  }
  return [error.message.replace(/\.$/, ''), ...reasons.slice(-1)].join(': ');
}

function placeOf(
  { position, length = 1, nearest, expected = [] }: ErrorDetail,
  filter: string | undefined,
  colors: Colors,
) {
  if (position === undefined || filter === undefined) return [];
  const [line, carets] = pointAt(filter, position, length);
  const hint = nearest === undefined ? expected.slice(0, 5).join(', ') : `did you mean ${nearest}?`;
  return ['', `  ${line}`, `  ${colors.red(carets)} ${colors.yellow(printable(hint))}`.trimEnd(), ''];
}
