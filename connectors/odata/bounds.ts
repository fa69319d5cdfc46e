/**
 * Where a number stands among the values that a property can have: `possible`, or between two of them (`below` is the lower
 * one), or outside of all.
 */
export type Bracket =
  | { readonly kind: 'possible'; readonly text: string }
  | { readonly kind: 'between'; readonly below: string }
  | { readonly kind: 'above all' | 'below all' };

/** Smallest and largest value. Source: OData CSDL 4.01, section 3.3. */
const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['Edm.Byte', [0n, 255n]],
  ['Edm.SByte', [-128n, 127n]],
  ['Edm.Int16', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['Edm.Int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['Edm.Int64', [-(2n ** 63n), 2n ** 63n - 1n]],
]);

/** Undefined for what is no integer type. */
export function integerRange(typeName: string): readonly [least: string, most: string] | undefined {
  const range = RANGES.get(typeName);
  return range && [`${range[0]}`, `${range[1]}`];
}

/** `text` is a canonical decimal: no exponent, no needless zeros. */
export function bracketInteger(typeName: string, text: string): Bracket {
  const [whole = '', fraction] = text.split('.');
  const floor = BigInt(whole) - (fraction !== undefined && text.startsWith('-') ? 1n : 0n);
  const [least, most] = RANGES.get(typeName) ?? [floor, floor];
  if (floor < least) return { kind: 'below all' };
  if (floor > most || (floor === most && fraction !== undefined)) return { kind: 'above all' };
  return fraction === undefined ? { kind: 'possible', text } : { kind: 'between', below: `${floor}` };
}

/** A double keeps this many digits of any decimal. */
export const DOUBLE_DIGITS = 15;

/** For values of at most 15 digits: the literal, or the next lower number of 15 digits. */
export function bracketNumber(text: string): Bracket {
  const isNegative = text.startsWith('-');
  const [whole = '', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  const digits = `${whole}${fraction}`;
  const leadingZeros = digits.length - digits.replace(/^0+/, '').length;
  const dropped = digits.length - leadingZeros - DOUBLE_DIGITS;
  if (dropped <= 0 || /^0*$/.test(digits.slice(-dropped))) return { kind: 'possible', text };
  const unit = 10n ** BigInt(dropped);
  const magnitude = BigInt(digits) / unit + (isNegative ? 1n : 0n);
  return { kind: 'between', below: toDecimal((isNegative ? -magnitude : magnitude) * unit, fraction.length) };
}

/**
 * The nearest numbers on both sides that fifteen digits tell from this one. A service that keeps doubles may print one rounded, so
 * that what a row shows is not quite what the service compares with; it lies between these two.
 */
export function neighboursOf(text: string): { readonly low: string; readonly high: string } {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const missing = DOUBLE_DIGITS - `${whole}${fraction}`.replace(/^0+/, '').length;
  const scaled = BigInt(text.replace('.', '')) * 10n ** BigInt(Math.max(0, missing));
  const unit = 10n ** BigInt(Math.max(0, -missing));
  const decimals = fraction.length + Math.max(0, missing);
  // BigInt division cuts towards zero, so one unit more than it takes on one side.
  const cut = scaled / unit;
  const isCut = cut * unit !== scaled;
  const low = cut - (isCut && scaled < 0n ? 2n : 1n);
  const high = cut + (isCut && scaled > 0n ? 2n : 1n);
  return { low: toDecimal(low * unit, decimals), high: toDecimal(high * unit, decimals) };
}

function toDecimal(scaled: bigint, decimals: number): string {
  return scaled < 0n ? `-${placePoint(-scaled, decimals)}` : placePoint(scaled, decimals);
}

function placePoint(digits: bigint, decimals: number): string {
  const text = `${digits}`.padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const fraction = text.slice(text.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
