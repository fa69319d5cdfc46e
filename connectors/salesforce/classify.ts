import type { Failure, FailureKind, ProviderResponse } from '#connector';
import { findText, isObject, type Json } from './answer.ts';

/** What the status alone would judge otherwise. Source: REST API Developer Guide, "Status Codes and Error Responses". */
const KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ['INVALID_SESSION_ID', 'credentials'],
  ['REQUEST_LIMIT_EXCEEDED', 'rateLimited'],
  ['SERVER_UNAVAILABLE', 'unavailable'],
  ['UNABLE_TO_LOCK_ROW', 'unavailable'],
  ['QUERY_TIMEOUT', 'unavailable'],
  ['ENTITY_IS_DELETED', 'notFound'],
  ['NOT_FOUND', 'notFound'],
]);

/** Failures come as `[{ errorCode, message, fields }]`, and so inside the answer of a composite request. */
export function classify(response: ProviderResponse): Failure | undefined {
  const { status, body } = findPart(response.body) ?? response;
  if (status < 400) return undefined;
  const [first] = Array.isArray(body) ? body.filter(isObject) : [];
  return { kind: KINDS.get(String(first?.errorCode)), status, message: first && describeError(first) };
}

function describeError({ errorCode, message, fields }: Json): string | undefined {
  const texts = [errorCode, message].flatMap((text) => findText(text) ?? []);
  const named = Array.isArray(fields) && fields.length > 0 ? ` (${fields.join(', ')})` : '';
  return texts.length === 0 ? undefined : `${texts.join(': ')}${named}`;
}

/** A composite request answers 200 whatever became of its parts; ours has one. */
export function findPart(body: unknown): { readonly status: number; readonly body: unknown } | undefined {
  const parts = isObject(body) ? body.compositeResponse : undefined;
  const [only] = Array.isArray(parts) ? parts : [];
  return isObject(only) ? { status: Number(only.httpStatusCode), body: only.body } : undefined;
}
