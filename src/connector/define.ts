import { AppError, type ErrorDetail, isAppError } from '../errors.ts';
import type { Connector, ObjectSpec } from './contract.ts';

/** A connector is a frozen value: what it says cannot change after it was checked. */
export function defineConnector(connector: Connector): Connector {
  return Object.freeze(connector);
}

/** All hubs below which instances of the element answer. */
export function hubsOf({ hub, moreHubs = [] }: Pick<Connector, 'hub' | 'moreHubs'>): readonly string[] {
  return [hub, ...moreHubs];
}

/** Ties the list operation and the translator of one object to the same native filter type. */
export function defineObject<Native>(object: ObjectSpec<Native>): ObjectSpec {
  // The registry hands a translator's output to this object's own operations only, so the type may be forgotten here.
  return Object.freeze(object) as ObjectSpec;
}

/**
 * What `read` or `run` throws when a successful answer says that there is no such record.
 * @param detail what the caller must know beside it
 */
export function notFound(message: string, detail?: string): Error {
  return new AppError('NOT_FOUND', message, detail === undefined ? {} : { details: [{ message: detail }] });
}

/** Whether a call failed because there is nothing under the name or id. */
export function isNotFound(error: unknown): boolean {
  return isAppError(error, 'NOT_FOUND');
}

/** Whether a call failed because the provider refuses the credentials. */
export function isUnauthorized(error: unknown): boolean {
  return isAppError(error, 'INSTANCE_CREDENTIALS_FAILED');
}

/** Whether the provider answered something other than what was asked for, and not because it is out of order. */
export function isDenied(error: unknown): boolean {
  return isAppError(error, 'INSTANCE_CREDENTIALS_FAILED', 'PROVIDER_REJECTED', 'NOT_FOUND', 'PROVIDER_PROTOCOL');
}

/** What `run` throws when the provider says that it did something and did not, or not all of it. The caller reads the message. */
export function rejected(message: string): Error {
  return new AppError('PROVIDER_REJECTED', message);
}

/** What an answer lacks, in words that never come from an answer: a caller may read them. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** For `details`: words that are known to hold no value of an answer. */
export function detailsOf(cause: unknown): readonly ErrorDetail[] {
  if (isAppError(cause)) return cause.details ?? [];
  return cause instanceof AnswerError ? [{ message: cause.message }] : [];
}

/**
 * What discovery, `read` or `run` throws when the provider describes itself or answers in a way that cannot be used; the caller reads
 * the message.
 */
export function unusable(message: string, cause?: unknown): Error {
  return new AppError('PROVIDER_PROTOCOL', message, cause === undefined ? {} : { cause, details: detailsOf(cause) });
}
