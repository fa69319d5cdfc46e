import { AppError } from '../errors.ts';
import { EgressError } from './error.ts';
import type { Egress } from './index.ts';

const MAX_LENGTH = 2048;

/**
 * @returns a function that looks at a URL which a caller wants to be called at later, by its place in the request; it throws
 * AppError REQUEST_INVALID that names the place and says why
 */
export function createCallbackCheck(egress: Pick<Egress, 'check'>) {
  return async (url: string, path: string): Promise<void> => {
    if (url.length > MAX_LENGTH) throw refused(path, `A callback URL has ${MAX_LENGTH} characters at most.`);
    if (!url.isWellFormed()) throw refused(path, 'The URL is not well-formed Unicode.');
    try {
      await egress.check(url);
    } catch (error) {
      if (error instanceof EgressError) throw refused(path, error.message, error);
      throw error;
    }
  };
}

function refused(path: string, reason: string, cause?: unknown): AppError {
  const key = path.slice(path.lastIndexOf('/') + 1);
  const message = `'${key}' cannot be called: ${reason}`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path, message }], cause });
}
