import { AppError, type ErrorDetail, isAppError } from '../errors.ts';
import type { Connector, ConnectorContext, ObjectSpec } from './contract.ts';

/** Returns the connector as a frozen value, so that it cannot change after its check. */
export function defineConnector(connector: Connector): Connector {
  return Object.freeze(connector);
}

/** Returns all hubs under which instances of the element can be called, the main one first. */
export function hubsOf({ hub, moreHubs = [] }: Pick<Connector, 'hub' | 'moreHubs'>): readonly string[] {
  return [hub, ...moreHubs];
}

/** Returns the object as a frozen value, and ties its list operation and its translator to the same type of native filter. */
export function defineObject<Native>(object: ObjectSpec<Native>): ObjectSpec {
  // The registry hands a translator's output to this object's own operations only, so the type may be forgotten here.
  return Object.freeze(object) as ObjectSpec;
}

/**
 * Returns the error NOT_FOUND, which `read` or `run` throws when a successful response reports that there is no such record.
 * @param message the sentence that the caller reads
 * @param detail a further sentence in the `details` of the error
 */
export function notFound(message: string, detail?: string): Error {
  return new AppError('NOT_FOUND', message, detail === undefined ? {} : { details: [{ message: detail }] });
}

/** Returns whether a call failed because the provider has nothing with this name or id (NOT_FOUND). */
export function isNotFound(error: unknown): boolean {
  return isAppError(error, 'NOT_FOUND');
}

/** Returns whether a call failed because the provider rejects the credentials (INSTANCE_CREDENTIALS_FAILED). */
export function isUnauthorized(error: unknown): boolean {
  return isAppError(error, 'INSTANCE_CREDENTIALS_FAILED');
}

/**
 * Returns the result of requests whose failure must not prevent an instance, such as those of `examine`: undefined where they fail. Rejected
 * credentials and the end of the call are failures nevertheless.
 */
export async function ifAvailable<Result>(
  { signal }: Pick<ConnectorContext, 'signal'>,
  request: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await request();
  } catch (error) {
    signal.throwIfAborted();
    if (isUnauthorized(error)) throw error;
    return undefined;
  }
}

/**
 * Returns whether the provider refused a request or returned something else than requested. An outage and a rate limit are not a denial.
 */
export function isDenied(error: unknown): boolean {
  return isAppError(error, 'INSTANCE_CREDENTIALS_FAILED', 'PROVIDER_REJECTED', 'NOT_FOUND', 'PROVIDER_PROTOCOL');
}

/**
 * Returns the error PROVIDER_REJECTED, which `run` throws when the provider reports success but did not do everything. The caller reads the
 * message.
 */
export function rejected(message: string): Error {
  return new AppError('PROVIDER_REJECTED', message);
}

/** The error of a reader of the kit: it names what a response lacks. Its message holds no text of the response, so callers may read it. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
}

/** Returns the details of an error that callers may read: none of them holds a value of a response. */
export function detailsOf(cause: unknown): readonly ErrorDetail[] {
  if (isAppError(cause)) return cause.details ?? [];
  return cause instanceof ResponseError ? [{ message: cause.message }] : [];
}

/**
 * Returns the error PROVIDER_PROTOCOL, which discovery, `read` or `run` throws for a description or a response that cannot be used. The
 * caller reads the message.
 * @param cause the error behind it; its details become those of the new error
 */
export function unusable(message: string, cause?: unknown): Error {
  return new AppError('PROVIDER_PROTOCOL', message, cause === undefined ? {} : { cause, details: detailsOf(cause) });
}
