export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws Error when Salesforce answered something else. */
export function getObject(value: unknown, what: string): Json {
  if (isObject(value)) return value;
  throw new Error(`Salesforce answered without ${what}.`);
}

/** @throws Error when Salesforce answered something else. */
export function getArray(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`Salesforce answered without ${what}.`);
}

/** Non-empty text. */
export function findText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
