import { AppError, type ErrorCode } from '../../src/errors.ts';

/** The error that the run throws, if it is one meant for the caller with that code. */
export function faultOf(run: () => unknown, code: ErrorCode): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError && error.code === code) return error;
    throw error;
  }
  throw new Error(`Expected ${code}, but nothing was thrown.`);
}

/** A tree without its positions, to compare what was meant and not where it stood. */
export function withoutLocs(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value) => (key === 'loc' ? undefined : value)));
}
