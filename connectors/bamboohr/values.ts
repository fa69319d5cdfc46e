import { ExactNumber, toDecimalText } from '#connector';

/**
 * BambooHR's values → ours, for `FieldSpec.read`, and back. BambooHR writes "no value" as null, as empty text, and in dates as
 * `0000-00-00`, depending on the endpoint.
 */

/** `0000-00-00` is none; a time behind the day (`2026-05-29 10:28:31`) is left out. */
export function readDate(native: unknown): unknown {
  if (typeof native !== 'string') return native;
  const day = /^(\d{4}-\d{2}-\d{2}) /.exec(native)?.[1] ?? native;
  return day === '' || day === '0000-00-00' ? null : day;
}

/** An option is never empty text. */
export function readOption(native: unknown): unknown {
  return native === '' ? null : native;
}

/** Several options: a list, or text where BambooHR joins them. */
export function readList(native: unknown): unknown {
  if (typeof native !== 'string') return native;
  return native === '' ? null : [native];
}

/** Whole numbers come as numbers or as text. */
export function readInteger(native: unknown): unknown {
  if (typeof native !== 'string') return native;
  return /^-?\d{1,15}$/.test(native) ? Number(native) : readOption(native);
}

const AMOUNT = /^(-?\d+(?:\.\d+)?)(?: [A-Z]{3})?$/;
/** Digits that survive a double unchanged. */
const EXACT_DIGITS = 15;

/**
 * An amount of money: `27000.00`, `27000.00 USD`, or `{ value, currency }`. The currency is left out.
 * An amount with more digits than a double may hold stays text, of which the core makes a number with all of them.
 */
export function readAmount(native: unknown): unknown {
  if (native instanceof ExactNumber) return native;
  if (typeof native === 'object' && native !== null) return readAmount(Reflect.get(native, 'value') ?? null);
  if (typeof native !== 'string') return native;
  const amount = AMOUNT.exec(native)?.[1];
  if (amount === undefined) return readOption(native);
  return amount.replace(/\D/g, '').length <= EXACT_DIGITS ? Number(amount) : amount;
}

/** Amounts by name. */
export function readAmounts(native: unknown): unknown {
  if (typeof native !== 'object' || native === null || Array.isArray(native)) return native;
  return Object.fromEntries(Object.entries(native).map(([name, amount]) => [name, readAmount(amount)]));
}

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ['yes', true],
  ['true', true],
  ['1', true],
  [1, true],
  ['no', false],
  ['false', false],
  ['0', false],
  [0, false],
]);

export function readBoolean(native: unknown): unknown {
  return BOOLEANS.get(native) ?? readOption(native);
}

/** `2025-02-11T22:30:07+0000` → `2025-02-11T22:30:07.000Z`. */
export function readInstant(native: unknown): unknown {
  if (typeof native !== 'string') return native;
  const time = new Date(native.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  return Number.isNaN(time.getTime()) ? readOption(native) : time.toISOString();
}

/** Empty text clears a field; null is not among the values that the field types page names. */
export function writeText(value: unknown): unknown {
  return value === null ? '' : value;
}

/** "A simple quantity value … using a period as a decimal point", as text. */
export function writeAmount(value: unknown): unknown {
  return value === null ? '' : String(toDecimalText(value));
}

/** A checkbox is ticked by `yes`; everything else unticks it. */
export function writeCheckbox(value: unknown): unknown {
  return value === true ? 'yes' : 'no';
}
