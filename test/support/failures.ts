import { expect } from 'chai';
import { AppError, type ErrorCode } from '../../src/errors.ts';

type Kind<Failure extends Error> = abstract new (...given: never[]) => Failure;

/**
 * Returns the failure of work that must fail: an error of the service, unless another class is given.
 * @throws when the work succeeds or fails with another error
 */
export function failureOf(work: PromiseLike<unknown>): Promise<AppError>;
export function failureOf<Failure extends Error>(work: PromiseLike<unknown>, kind: Kind<Failure>): Promise<Failure>;
export async function failureOf(work: PromiseLike<unknown>, kind: Kind<Error> = AppError): Promise<Error> {
  const end = await work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return errorIn(end, kind);
}

/** Checks that work fails with this code and, if a message is given, with this message. */
export async function expectFailure(
  work: PromiseLike<unknown>,
  code: ErrorCode,
  message?: string | RegExp,
): Promise<AppError> {
  const failure = await failureOf(work);
  expect(failure.code, failure.message).to.equal(code);
  if (message instanceof RegExp) expect(failure.message).to.match(message);
  else if (message !== undefined) expect(failure.message).to.equal(message);
  return failure;
}

export const anyFailureOf = (work: PromiseLike<unknown>): Promise<Error> => failureOf(work, Error);

/** Returns the error that a function throws synchronously. */
export function thrownBy(work: () => unknown): AppError;
export function thrownBy<Failure extends Error>(work: () => unknown, kind: Kind<Failure>): Failure;
export function thrownBy(work: () => unknown, kind: Kind<Error> = AppError): Error {
  let end: { readonly error: unknown } | undefined;
  try {
    work();
  } catch (error) {
    end = { error };
  }
  return errorIn(end, kind);
}

function errorIn(end: { readonly error: unknown } | undefined, kind: Kind<Error>): Error {
  if (end === undefined) throw new Error('It succeeded, though it must fail.');
  if (end.error instanceof kind) return end.error;
  throw end.error;
}
