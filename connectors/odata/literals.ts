/**
 * This file writes values for a URL: in `$filter` and in a key. Source: OData ABNF 4.01, primitiveLiteral. Everything except text has no
 * quotes, so it is checked against the pattern of its type first. No value can become syntax.
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

/** Returns the literal of a value for its type, or undefined if the text is no value of the type. */
export function literalOf(typeName: string, text: string): string | undefined {
  const bare = BARE.get(typeName);
  if (bare !== undefined) return bare.test(text) ? text : undefined;
  if (typeName === 'Edm.String') return quote(text);
  if (typeName === 'Edm.Duration') return DURATION.test(text) ? `duration'${text}'` : undefined;
  if (typeName.startsWith('Edm.')) return undefined;
  // The literal of an enumeration contains its qualified name, because OData 4.0 does not accept the member alone.
  return text.split(',').every((member) => MEMBER.test(member)) ? `${typeName}'${text}'` : undefined;
}

const DURATION = /^-?P(?=\d|T\d)(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/;

/** A member of an enumeration. It is a number if a combination of flags has no name. Several flags form one literal. */
const MEMBER = /^(?:[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}_]*|-?\d+)$/u;

/** Returns a quoted text. A quote inside is doubled, and there are no other escapes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
