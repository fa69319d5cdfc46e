/**
 * Decimals on a grid: whole numbers of units of 10^-places. A negative number of places means tens, hundreds and so on. All texts are
 * canonical decimals (decimal.ts).
 */

/** The numbers of a grid on both sides of a number. Both equal the number if it lies on the grid. */
interface Neighbours {
  readonly below: string;
  readonly above: string;
}

/** Returns the greatest number of the grid that is at most this one, and the smallest that is at least this one. */
export function neighboursOn(text: string, decimals: number): Neighbours {
  const { units, isBetween } = unitsOf(text, decimals);
  return { below: printUnits(units, decimals), above: printUnits(isBetween ? units + 1n : units, decimals) };
}

/** Returns the number of the grid that lies this many units above (or below) a number of the grid. */
export function moveOn(text: string, decimals: number, steps: bigint): string {
  return printUnits(unitsOf(text, decimals).units + steps, decimals);
}

/** Returns the decimal places of a grid with so many significant digits around a number. Negative where even its tens are cut. */
export function decimalsOfSignificant(text: string, digits: number): number {
  const { whole, fraction } = partsOf(text);
  return whole === '0' ? digits + leadingZeros(fraction) : digits - whole.length;
}

/** Returns the decimal places of a grid with so many digits left and right of the point together. */
export function decimalsOfTotal(text: string, digits: number): number {
  const { whole } = partsOf(text);
  return whole === '0' ? digits : Math.max(0, digits - whole.length);
}

function partsOf(text: string): { readonly whole: string; readonly fraction: string } {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  return { whole, fraction };
}

function leadingZeros(fraction: string): number {
  const first = fraction.search(/[1-9]/);
  return first < 0 ? 0 : first;
}

/** Returns the number of whole units of a number, rounded down. */
function unitsOf(text: string, decimals: number): { readonly units: bigint; readonly isBetween: boolean } {
  const digits = BigInt(text.replace('.', ''));
  const missing = decimals - partsOf(text).fraction.length;
  if (missing >= 0) return { units: digits * 10n ** BigInt(missing), isBetween: false };
  const unit = 10n ** BigInt(-missing);
  const cut = digits / unit;
  const isBetween = cut * unit !== digits;
  // BigInt division cuts towards zero.
  return { units: isBetween && digits < 0n ? cut - 1n : cut, isBetween };
}

function printUnits(units: bigint, decimals: number): string {
  if (decimals <= 0) return String(units * 10n ** BigInt(-decimals));
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const magnitude = fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`;
  return units < 0n ? `-${magnitude}` : magnitude;
}

/** Returns the exact product of two canonical decimals. */
export function multiplyDecimals(a: string, b: string): string {
  const places = decimalsIn(a) + decimalsIn(b);
  return printUnits(BigInt(a.replace('.', '')) * BigInt(b.replace('.', '')), places);
}

/** A quotient: exact, or the two neighbours on a grid of so many decimals. */
interface Quotient extends Neighbours {
  readonly isExact: boolean;
}

/** Decimals of a quotient that does not end. */
const MOST_DECIMALS = 30;

/** Divides two canonical decimals. `divisor` is not 0. */
export function divideDecimals(dividend: string, divisor: string): Quotient {
  const places = Math.max(MOST_DECIMALS, decimalsIn(dividend) + decimalsIn(divisor) + MOST_DECIMALS);
  const numerator = BigInt(dividend.replace('.', '')) * 10n ** BigInt(places + decimalsIn(divisor));
  const denominator = BigInt(divisor.replace('.', '')) * 10n ** BigInt(decimalsIn(dividend));
  const cut = numerator / denominator;
  const isExact = cut * denominator === numerator;
  const isNegative = numerator < 0n !== denominator < 0n;
  const below = isExact || !isNegative ? cut : cut - 1n;
  return { below: printUnits(below, places), above: printUnits(isExact ? below : below + 1n, places), isExact };
}

function decimalsIn(text: string): number {
  return partsOf(text).fraction.length;
}
