/** The currencies whose number of decimals is not two, by that number. Source: ISO 4217:2015, table A.1, "Minor unit". */
const DECIMALS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};
const USUAL_DECIMALS = 2;
const BY_CURRENCY = new Map(
  Object.entries(DECIMALS).flatMap(([decimals, names]) =>
    names.split(' ').map((name) => [name, Number(decimals)] as const),
  ),
);

/**
 * Returns the number of decimals of a currency by ISO 4217: 2 for `EUR`, 0 for `JPY`, 3 for `KWD`. Use it where a provider stores amounts in
 * the smallest unit, with `codec.minorUnits`. Some providers differ from ISO 4217.
 */
export function decimalsOfCurrency(code: string): number {
  return BY_CURRENCY.get(code.toUpperCase()) ?? USUAL_DECIMALS;
}
