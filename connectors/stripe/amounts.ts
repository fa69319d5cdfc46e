import { can, codec, type FieldSpec, type Fields, type Json, json, rejected } from '#connector';

/**
 * Amounts in units of their currency, beside Stripe's own amounts in the smallest unit: `amount_major` is 19.99 where `amount` is 1999 EUR,
 * and 1999 where it is 1999 JPY. Source: docs.stripe.com/currencies, "Minor units in API amounts".
 */

/** The currencies by the number of decimals that Stripe's amounts have. All others have two. */
const DECIMALS: readonly (readonly [decimals: number, currencies: string])[] = [
  // "Zero-decimal currencies" also lists UGX. "Special cases" says that UGX and ISK have no decimals, and that their amounts still have two.
  [0, 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'],
  // "Three-decimal currencies"
  [3, 'bhd jod kwd omr tnd'],
];
const USUAL = 2;
const BY_CURRENCY = new Map(
  DECIMALS.flatMap(([decimals, names]) => names.split(' ').map((name) => [name, decimals] as const)),
);
/** The numbers of decimals that amounts can have, from the fewest. */
export const ALL_DECIMALS = [0, USUAL, 3] as const;

/** Returns the number of decimals of Stripe's amounts in a currency. */
export function decimalsOf(currency: string): number {
  return BY_CURRENCY.get(currency.toLowerCase()) ?? USUAL;
}

const SUFFIX = '_major';

/** Returns the name of the amount that a field shows in units of its currency. Undefined for all other fields. */
export function amountOf(name: string): string | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;
}

/** Returns the name of the field that shows an amount in units of its currency. */
export function majorOf(amount: string): string {
  return amount + SUFFIX;
}

/** The amounts of an object, by names separated by blanks. Those that requests can set depend on a currency that is known. */
export interface Amounts {
  readonly all: string;
  readonly createable?: string;
  readonly updateable?: string;
  /** The amount without which no record is created, in either unit. */
  readonly required?: string;
}

/** Returns a field in units of the currency for each amount. Its filters find more rows than wanted where the currency is not known. */
export function majorFields(fields: Fields, amounts: Amounts, searched = ''): Fields {
  const has = (names: string | undefined, name: string) => names?.split(' ').includes(name) === true;
  return Object.fromEntries(
    amounts.all.split(' ').map((name): [string, FieldSpec] => {
      const isCurrencySure = fields.currency?.nullable === false;
      const spec: FieldSpec = {
        type: 'number',
        label: `${name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())}, in units of its currency`,
        nullable: !(isCurrencySure && fields[name]?.nullable === false),
        clearable: false,
        domain: { digits: { decimals: 3 } },
        createable: has(amounts.createable, name),
        updateable: has(amounts.updateable, name),
        read: readMajor,
        ...(has(searched, name) && { filter: { ...can.only('superset', '=', 'IN'), ...can.order('superset') } }),
      };
      return [majorOf(name), spec];
    }),
  );
}

/** Adds the members that the fields in units of the currency read. */
export function withMajor(record: Json, { all }: Amounts): Json {
  const { currency } = record;
  return {
    ...record,
    ...Object.fromEntries(all.split(' ').map((name) => [majorOf(name), { amount: record[name], currency }])),
  };
}

function readMajor(native: unknown): unknown {
  const { amount, currency } = json.object(native, 'an amount with its currency');
  if (typeof currency === 'string') return codec.minorUnits(decimalsOf(currency)).read(amount);
  // A customer without a currency has no balance.
  return amount === 0 ? 0 : null;
}

/** Returns whether values contain an amount in units of its currency. */
export function hasMajor(values: Json): boolean {
  return Object.keys(values).some((name) => amountOf(name) !== undefined);
}

/**
 * Returns values with Stripe's own amounts only.
 * @throws AppError PROVIDER_REJECTED for an amount without a currency, with too many decimals, or with two different values
 */
export function toMinor(values: Json, currency: unknown): Json {
  const made = Object.entries(values).map(([name, value]) => {
    const amount = amountOf(name);
    if (amount === undefined || value === null) return [name, value] as const;
    if (typeof currency !== 'string') throw rejected(`'${name}' needs a currency. Set '${amount}' instead.`);
    const minor = codec.minorUnits(decimalsOf(currency)).write(value);
    if (String(minor).includes('.')) {
      throw rejected(
        `'${name}' is ${String(value)}, and amounts in ${currency} have ${decimalsOf(currency)} decimals.`,
      );
    }
    if (Object.hasOwn(values, amount) && String(values[amount]) !== String(minor)) {
      throw rejected(`'${amount}' and '${name}' are different amounts. Set one of them.`);
    }
    return [amount, minor] as const;
  });
  return Object.fromEntries(made.filter(([name]) => amountOf(name) === undefined));
}

/** Returns the whole number that is at most an amount in the smallest unit, and whether it is the amount. */
export function minorAt(major: string, decimals: number): { readonly floor: string; readonly isWhole: boolean } {
  const text = String(codec.minorUnits(decimals).write(major));
  const [whole = '0', fraction] = text.split('.');
  if (fraction === undefined) return { floor: whole, isWhole: true };
  return { floor: String(BigInt(whole) - (text.startsWith('-') ? 1n : 0n)), isWhole: false };
}
