/**
 * Returns an array in the text form of PostgreSQL, with NULL for missing values; the types of the query builder know no arrays with gaps.
 * Bind the text as a parameter that the statement casts; never put it into the text of the statement.
 */
export function arrayLiteral(values: readonly Element[]): string {
  return `{${values.map(toElement).join(',')}}`;
}

type Element = string | number | boolean | Date | null | undefined;

/** Returns an array for each column of the rows: of `unnest`, which makes rows of them again. */
export function columnLiterals<Name extends string>(
  rows: readonly { readonly [Column in Name]?: Element }[],
  names: readonly Name[],
): string[] {
  return names.map((name) => arrayLiteral(rows.map((row) => row[name])));
}

function toElement(value: Element): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return String(value);
  return /["\\]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}

/** The OID of the type `text`, which never changes (pg_type.dat of PostgreSQL). */
const TEXT_OID = 25;
const DIMENSIONS = 1;
const MAY_HAVE_NULLS = 1;
const LOWER_BOUND = 1;
const HEADER_INTS = 5;
const INT_BYTES = 4;
/** Length of a null. */
const NULL = -1;

/**
 * Encodes a `text[]` in PostgreSQL's binary format (array_recv of its arrayfuncs.c), for texts that callers wrote. Nothing is escaped, and
 * megabytes are only copied, while a literal would require a look at each character, here and in PostgreSQL. The texts are UTF-8 without
 * NUL; `undefined` is NULL.
 */
export function binaryTexts(texts: readonly (Buffer | undefined)[]): Buffer {
  const size = texts.reduce((sum, text) => sum + INT_BYTES + (text?.length ?? 0), HEADER_INTS * INT_BYTES);
  const array = Buffer.allocUnsafe(size);
  const header = [DIMENSIONS, MAY_HAVE_NULLS, TEXT_OID, texts.length, LOWER_BOUND];
  let at = header.reduce((offset, int) => array.writeInt32BE(int, offset), 0);
  for (const text of texts) {
    at = array.writeInt32BE(text?.length ?? NULL, at);
    if (text !== undefined) at += text.copy(array, at);
  }
  return array;
}
