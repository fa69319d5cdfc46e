/** A JSON object of an answer. */
export type Json = Readonly<Record<string, unknown>>;

/** @throws Error naming `what` was expected; the core reports it as an answer it does not understand. */
export function getObject(value: unknown, what: string): Json {
  if (!isObject(value)) throw new Error(`BambooHR answered without ${what}.`);
  return value;
}

/** @throws Error naming `what` was expected. */
export function getArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`BambooHR answered without ${what}.`);
  return value;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text, or undefined for anything else. */
export function findText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
