import { isJsonObject } from '../../numbers/exact-json.ts';
import { ResponseError } from '../define.ts';

/** A JSON object in a response. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * Readers of values in a response. If a value is of another form, the readers with the parameter `what` throw an Error that names it. The
 * caller reads that sentence in `details`, and the log and the activity show it as the reason. Never put text of a response into `what`.
 */
export const json = {
  /** Returns whether a value is a JSON object. Arrays, null and `ExactNumber` are not. */
  isObject: isJsonObject,
  /**
   * Returns a JSON object.
   * @throws Error for anything else
   */
  object: (value: unknown, what: string): Json => (isJsonObject(value) ? value : lacks(what)),
  /**
   * Returns an array.
   * @throws Error for anything else
   */
  array: (value: unknown, what: string): readonly unknown[] => (Array.isArray(value) ? value : lacks(what)),
  /**
   * Returns an array of JSON objects.
   * @throws Error for anything else
   */
  objects: (value: unknown, what: string): readonly Json[] =>
    json.array(value, what).map((each) => json.object(each, what)),
  /**
   * Returns a text that is not empty.
   * @throws Error for anything else
   */
  text: (value: unknown, what: string): string => findText(value) ?? lacks(what),
  /** Returns a text that is not empty, or undefined for anything else. */
  findText,
  /**
   * Returns an id as text, from a number or a text that is not empty.
   * @throws Error for anything else
   */
  key: (value: unknown, what: string): string =>
    findText(typeof value === 'number' ? `${value}` : value) ?? lacks(what),
  /**
   * Returns a whole number from 0, written as number or digits.
   * @throws Error for anything else
   */
  count: (value: unknown, what: string): number => {
    const isWritten = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
    const count = isWritten ? Number(value) : -1;
    return Number.isSafeInteger(count) && count >= 0 ? count : lacks(what);
  },
  /** Returns the value under a path of member names, or undefined where there is none. */
  at: (value: unknown, ...names: readonly string[]): unknown => names.reduce(memberOf, value),
} as const;

function findText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function lacks(what: string): never {
  throw new ResponseError(`The response lacks ${what}.`);
}
