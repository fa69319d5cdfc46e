/** The smallest and the largest value of each integer type. Source: OData CSDL 4.01, section 3.3. */
const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['Edm.Byte', [0n, 255n]],
  ['Edm.SByte', [-128n, 127n]],
  ['Edm.Int16', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['Edm.Int32', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['Edm.Int64', [-(2n ** 63n), 2n ** 63n - 1n]],
]);

/** Returns the smallest and the largest value of an integer type, or undefined for another type. */
export function integerRange(typeName: string): readonly [least: string, most: string] | undefined {
  const range = RANGES.get(typeName);
  return range && [`${range[0]}`, `${range[1]}`];
}

/** Number of significant digits that a double preserves for any decimal. */
export const DOUBLE_DIGITS = 15;
