import type { Schemas } from '../api.ts';

export type MappedType = Schemas['MappedFieldType'];

export const MAPPED_TYPES = [
  'string',
  'number',
  'boolean',
  'date',
  'array',
  'object',
] as const satisfies readonly MappedType[];

/** A value in the configuration of a field. */
export type MappedValue = string | number | boolean | null;

/** The text of a control for an empty text. An empty control means null. */
const EMPTY_TEXT = '""';

/** Returns a value of the configuration as the text of a control. */
export function printValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return value === '' ? EMPTY_TEXT : String(value);
}

/** Returns the value of a text, in the type of the field if the text is valid for it. An empty text is null. */
export function readValue(text: string, type: MappedType): MappedValue {
  if (text === '') return null;
  if (text === EMPTY_TEXT) return '';
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  // A number that a double cannot represent exactly stays a text, so that no digit is lost.
  if (type === 'number' && String(Number(text)) === text && Number.isFinite(Number(text))) return Number(text);
  return text;
}
