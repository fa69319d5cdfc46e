import { AppError, inWords } from '../../../errors.ts';
import { parseRedirectUrl } from './redirect-url.ts';

/** The one member of a proxy's `configuration` that means something here; the others are the caller's. */
const TOKEN_ORIGINS = 'tokenOrigins';

/**
 * Reads a proxy's `configuration`, a JSON object as text.
 * @throws AppError REQUEST_INVALID; `path` is its place in the request
 */
export function readTokenOrigins(configuration: string, path: string): readonly string[] {
  const settings = parseObject(configuration);
  if (settings === undefined) throw invalid(path, `${inWords(path)} must be a text that holds a JSON object.`);
  const origins = settings[TOKEN_ORIGINS] ?? [];
  const read = Array.isArray(origins) ? origins.map(readOrigin) : [undefined];
  if (read.every((origin) => origin !== undefined)) return read;
  throw invalid(
    path,
    `${TOKEN_ORIGINS} in ${inWords(path)} must be a list of origins, such as https://acme.example.com.`,
  );
}

function readOrigin(text: unknown): string | undefined {
  const url = typeof text === 'string' ? parseRedirectUrl(text) : undefined;
  return url?.href === `${url?.origin}/` ? url?.origin : undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(path: string, message: string): AppError {
  return new AppError('REQUEST_INVALID', message, { details: [{ path, message }] });
}
