/**
 * An array as PostgreSQL reads it from text, with NULL for what is missing: the query builder's types know no arrays with gaps. It is bound as a
 * parameter and cast by the statement, never put into its text.
 */
export function arrayLiteral(values: readonly (string | number | boolean | null | undefined)[]): string {
  return `{${values.map(toElement).join(',')}}`;
}

function toElement(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
