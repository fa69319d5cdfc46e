import { expect } from 'chai';
import { AppError, type ErrorCode } from '../../src/errors.ts';

type Kind<Failure extends Error> = abstract new (...given: never[]) => Failure;

/**
 * The failure of work that must fail: an error of the service, unless another kind is named.
 * @throws when the work succeeds or fails otherwise
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

/** The failure of work that must fail by this code, with this message where it matters. */
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

/** As `failureOf`, of work that throws at once. */
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
