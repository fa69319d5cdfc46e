/** Decimals as canonical text (`-12.5`: no exponent, no plus, no redundant zeros), so that no value passes through a double. */

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** More digits than any provider stores. The limit prevents that `1e999999` becomes a megabyte of zeros. */
const MAX_DIGITS = 400;
/** Additional characters: sign, point and exponent. */
const MAX_CHARACTERS = MAX_DIGITS + 8;

/** Returns the canonical text of a number as people and JSON write it. Undefined when it is none, or has more than 400 digits. */
export function canonicalDecimal(text: string): string | undefined {
  const trimmed = text.trim();
  const match = trimmed.length > MAX_CHARACTERS ? null : NUMBER.exec(trimmed);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (Math.max(digits.length, point, digits.length - point) > MAX_DIGITS) return undefined;
  return assemble(sign, shiftPoint(digits, point));
}

function shiftPoint(digits: string, point: number): { whole: string; fraction: string } {
  const padded = digits.padEnd(point, '0').padStart(digits.length - Math.min(point, 0), '0');
  const at = Math.max(point, 0);
  return { whole: padded.slice(0, at), fraction: padded.slice(at) };
}

function assemble(sign: string, parts: { whole: string; fraction: string }): string {
  const whole = parts.whole.replace(/^0+(?=\d)/, '') || '0';
  const fraction = parts.fraction.slice(0, endOfDigits(parts.fraction));
  const magnitude = fraction === '' ? whole : `${whole}.${fraction}`;
  return sign === '-' && magnitude !== '0' ? `-${magnitude}` : magnitude;
}

/** Returns the offset of the zeros at the end of the text. A pattern would read every run of zeros once for each of them. */
function endOfDigits(fraction: string): number {
  let end = fraction.length;
  while (fraction[end - 1] === '0') end--;
  return end;
}

/** Compares two canonical decimals and returns a number as for `sort`. */
export function compareDecimals(a: string, b: string): number {
  if (a === b) return 0;
  const negative = a.startsWith('-');
  if (negative !== b.startsWith('-')) return negative ? -1 : 1;
  return negative ? compareMagnitudes(b.slice(1), a.slice(1)) : compareMagnitudes(a, b);
}

function compareMagnitudes(a: string, b: string): number {
  const [wholeA = '', fractionA = ''] = a.split('.');
  const [wholeB = '', fractionB = ''] = b.split('.');
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
  if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1;
  return fractionA < fractionB ? -1 : fractionA > fractionB ? 1 : 0;
}

/** The range of magnitudes in which a double surely has its full precision. */
const [LEAST_MAGNITUDE, GREATEST_MAGNITUDE] = [1e-290, 1e290];

/**
 * Returns the double of a decimal, where comparing doubles has the same result as comparing decimals: at most 15 digits, and a magnitude in
 * which doubles have their full precision. Otherwise undefined.
 */
export function faithfulDouble(text: string): number | undefined {
  if (text.replace(/^-?0*\.?0*|\./g, '').length > 15) return undefined;
  const double = Number(text);
  const magnitude = Math.abs(double);
  return double === 0
    ? zeroOf(text)
    : magnitude > LEAST_MAGNITUDE && magnitude < GREATEST_MAGNITUDE
      ? double
      : undefined;
}

/** A tiny decimal becomes the double 0 without being 0. */
function zeroOf(text: string): 0 | undefined {
  return text === '0' ? 0 : undefined;
}
