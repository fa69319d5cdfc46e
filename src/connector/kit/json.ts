import { isJsonObject } from '../../numbers/exact-json.ts';
import { AnswerError } from '../define.ts';

/** A JSON object of an answer. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * What stands in an answer. The functions that take `what` throw an Error that names it when the answer has something else: the caller
 * reads it in `details`, and the log and the activity have it as the reason. Never put text of an answer into `what`.
 */
export const json = {
  isObject: isJsonObject,
  object: (value: unknown, what: string): Json => (isJsonObject(value) ? value : lacks(what)),
  array: (value: unknown, what: string): readonly unknown[] => (Array.isArray(value) ? value : lacks(what)),
  objects: (value: unknown, what: string): readonly Json[] =>
    json.array(value, what).map((each) => json.object(each, what)),
  /** Text that is not empty. */
  text: (value: unknown, what: string): string => findText(value) ?? lacks(what),
  /** The same, or undefined for anything else. */
  findText,
  /** A number or the text of one, of an id mostly, as text. */
  key: (value: unknown, what: string): string =>
    findText(typeof value === 'number' ? `${value}` : value) ?? lacks(what),
  /** A whole number from 0 up, written as number or text. */
  count: (value: unknown, what: string): number => findCount(value) ?? lacks(what),
  /** What stands under these names, one in the other; undefined where there is nothing. */
  at: (value: unknown, ...names: readonly string[]): unknown => names.reduce(memberOf, value),
} as const;

function findText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function findCount(value: unknown): number | undefined {
  const isWritten = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  return isWritten && Number.isSafeInteger(Number(value)) && Number(value) >= 0 ? Number(value) : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function lacks(what: string): never {
  throw new AnswerError(`The response lacks ${what}.`);
}
