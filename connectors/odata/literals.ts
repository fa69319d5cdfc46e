/**
 * Values as they stand in a URL: in `$filter` and in a key. Source: OData ABNF 4.01, primitiveLiteral. Everything but text is
 * written bare, so it is checked against its type's shape first: no value can become syntax.
 */

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const BARE: ReadonlyMap<string, RegExp> = new Map([
  ['Edm.Byte', INTEGER],
  ['Edm.SByte', INTEGER],
  ['Edm.Int16', INTEGER],
  ['Edm.Int32', INTEGER],
  ['Edm.Int64', INTEGER],
  ['Edm.Decimal', DECIMAL],
  ['Edm.Double', DECIMAL],
  ['Edm.Single', DECIMAL],
  ['Edm.Guid', UUID],
  ['Edm.Boolean', /^(true|false)$/],
  ['Edm.Date', /^\d{4}-\d{2}-\d{2}$/],
  ['Edm.DateTimeOffset', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/],
  ['Edm.TimeOfDay', /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/],
]);

/** The literal of a value under its type; undefined when the text is no value of the type. */
export function literalOf(typeName: string, text: string): string | undefined {
  const bare = BARE.get(typeName);
  if (bare !== undefined) return bare.test(text) ? text : undefined;
  if (typeName === 'Edm.String') return quote(text);
  if (typeName === 'Edm.Duration') return DURATION.test(text) ? `duration'${text}'` : undefined;
  if (typeName.startsWith('Edm.')) return undefined;
  // An enumeration, under its qualified name: OData 4.0 does not take the bare member.
  return text.split(',').every((member) => MEMBER.test(member)) ? `${typeName}'${text}'` : undefined;
}

const DURATION = /^-?P(?=\d|T\d)(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/;

/** By name, or by value where a combination of flags has no name. Several flags stand in one literal. */
const MEMBER = /^(?:[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}_]*|-?\d+)$/u;

/** A quote inside is doubled; there are no other escapes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
