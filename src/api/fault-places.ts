import { AppError } from '../errors.ts';

/** Where faults stand in this request, for work whose errors say where they would stand in another: `move` takes a place and returns a place. */
export async function withPlaces<Result>(move: (place: string) => string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.details === undefined) throw error;
    const details = error.details.map(({ path, ...rest }) =>
      path === undefined ? rest : { ...rest, path: move(path) },
    );
    const { code, message, providerMessage, retryAfterSeconds, allow } = error;
    throw new AppError(code, message, {
      details,
      ...(providerMessage !== undefined && { providerMessage }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(allow !== undefined && { allow }),
      cause: error,
    });
  }
}

/** For an operation that takes in its body what others take in the path and the query. */
export function inBody(place: string): string {
  return place.replace(/^\/(?:path|query)(?=\/)/, '/body');
}
