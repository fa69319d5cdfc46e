import { isDeepStrictEqual } from 'node:util';
import { AppError, cutText, type ErrorDetail, invalidRequest, MOST_FAULTS, pointer, unknownName } from '../errors.ts';
import { MASK } from '../instances/configuration.ts';

interface ReadBefore {
  /** The resource as the API currently shows it. */
  readonly shown: object;
  /** Members that change by themselves, so that the client may have read older values. */
  readonly drifting?: readonly string[];
}

/**
 * Checks the members of a body that cannot be changed. A client may send a resource back as it was read (decisions D16), and secrets may be
 * masked.
 * @throws AppError REQUEST_INVALID that names the members that are unknown or have another value
 */
export function assertAsRead(rest: object, { shown, drifting = [] }: ReadBefore): void {
  const faults: ErrorDetail[] = [];
  const now = new Map(Object.entries(shown));
  for (const [name, value] of Object.entries(rest)) {
    if (drifting.includes(name)) continue;
    const path = pointer('body', name);
    if (!now.has(name)) faults.push({ path, ...unknownName('member', name, now.keys()) });
    else if (value !== MASK && !isDeepStrictEqual(value, now.get(name))) {
      faults.push({ path, message: `'${cutText(name)}' cannot be changed. Leave it out, or send it as it was read.` });
    }
    if (faults.length > MOST_FAULTS) break;
  }
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Runs work whose errors contain the pointers of another request, and converts these with `move` to pointers of this
 * request.
 */
export async function withPointers<Result>(move: (pointer: string) => string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.details === undefined) throw error;
    const details = error.details.map(({ path, ...rest }) =>
      path === undefined ? rest : { ...rest, path: move(path) },
    );
    const { code, message, providerMessage, retryAfterSeconds, allow } = error;
    throw new AppError(code, message, { details, providerMessage, retryAfterSeconds, allow, cause: error });
  }
}

/** Converts a pointer for an operation that accepts in its body what other operations accept in path and query. */
export function inBody(pointer: string): string {
  return pointer.replace(/^\/(?:path|query)(?=\/)/, '/body');
}
