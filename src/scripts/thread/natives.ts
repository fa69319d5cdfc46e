import { createHash, createHmac, randomBytes } from 'node:crypto';
import { countries } from 'countries-list';
import { currencies } from 'countries-list/currencies';
import iso3ByIso2 from 'countries-list/minimal/countries.2to3.min.json' with { type: 'json' };

/** A function of the host that scripts can reach: texts in, a text out. */
type Native = (...given: readonly string[]) => string;

/** The names in lower case, as scripts pass them to `CE.hmac(algorithm)(encoding)`. */
const HASHES: readonly string[] = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

/** The functions of the host, by the first element of a request of the prelude. None of them keeps anything or reads anything of a tenant. */
const NATIVES = new Map<string, Native>(
  Object.entries({
    random: () => String(Number(randomBytes(8).readBigUInt64LE() >> 11n) / 2 ** 53),
    randomString: () => randomBytes(12).toString('hex'),
    md5: (text = '') => createHash('md5').update(text).digest('hex'),
    b64: (text = '') => Buffer.from(text).toString('base64'),
    decode64: (text = '') => Buffer.from(text, 'base64').toString(),
    hmac: (algorithm = '', encoding = '', secret = '', text = '') =>
      createHmac(knownHash(algorithm), secret).update(text).digest(knownEncoding(encoding)),
    currencyCode: (country = '') => find(currencyByCountry, country),
    currencySymbol: (code = '') => find(symbolByCurrency, code),
    iso2CountryCode: (country = '') => find(iso2ByCountry, country),
    iso3CountryCode: (country = '') => find(iso3ByCountry, country),
  } satisfies Record<string, Native>),
);

/**
 * Executes a request of the prelude: a JSON array of the name of a function and its arguments.
 * @throws Error with a message for the author of the script
 */
export function callNative(request: string): string {
  const [name = '', ...given] = readTexts(request);
  const native = NATIVES.get(name);
  if (native === undefined) throw new Error('Unknown function of the host');
  return native(...given);
}

/** Returns the texts of a JSON array. A script that changed built-in objects may have produced anything else. */
export function readTexts(request: string): readonly string[] {
  const texts: unknown = JSON.parse(request);
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}

function knownHash(name: string): string {
  const algorithm = name.toLowerCase();
  if (HASHES.includes(algorithm)) return algorithm;
  throw new Error(`CE.hmac does not know the algorithm; it knows ${HASHES.join(', ')}`);
}

function knownEncoding(name: string): (typeof ENCODINGS)[number] {
  const encoding = ENCODINGS.find((known) => known === name.toLowerCase());
  if (encoding !== undefined) return encoding;
  throw new Error(`CE.hmac does not know the encoding; it knows ${ENCODINGS.join(', ')}`);
}

type Table = ReadonlyMap<string, string>;

function find(table: Table, name: string): string {
  return table.get(keyOf(name)) ?? '';
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

const iso3 = new Map<string, string>(Object.entries(iso3ByIso2));

/** The value of each country by its codes, its names and its aliases. */
function byCountry(value: (iso2: string, currency: string) => string): Table {
  return new Map(
    Object.entries(countries).flatMap(([iso2, { name, native, alias = [], currency }]) =>
      [...alias, native, name, iso3.get(iso2) ?? iso2, iso2].map(
        (known) => [keyOf(known), value(iso2, currency[0] ?? '')] as const,
      ),
    ),
  );
}

const iso2ByCountry = byCountry((iso2) => iso2);
const iso3ByCountry = byCountry((iso2) => iso3.get(iso2) ?? '');
const currencyByCountry = byCountry((_, currency) => currency);
const symbolByCurrency: Table = new Map(
  Object.entries(currencies).map(([code, { symbol }]) => [keyOf(code), symbol] as const),
);
