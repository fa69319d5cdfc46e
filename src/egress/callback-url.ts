import { AppError } from '../errors.ts';
import { EgressError } from './error.ts';
import type { Egress } from './index.ts';

const MAX_LENGTH = 2048;

/**
 * Asserts that a URL may be called later.
 * @param path JSON pointer of the URL in the request
 * @throws AppError REQUEST_INVALID with the location and the reason
 */
export async function assertCallable(egress: Pick<Egress, 'check'>, url: string, path: string): Promise<void> {
  if (url.length > MAX_LENGTH) throw refused(path, `A callback URL has ${MAX_LENGTH} characters at most.`);
  if (!url.isWellFormed()) throw refused(path, 'The URL is not well-formed Unicode.');
  try {
    await egress.check(url);
  } catch (error) {
    if (error instanceof EgressError) throw refused(path, error.message, error);
    throw error;
  }
}

function refused(path: string, reason: string, cause?: unknown): AppError {
  const key = path.slice(path.lastIndexOf('/') + 1);
  const message = `'${key}' cannot be called: ${reason}`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path, message }], cause });
}
