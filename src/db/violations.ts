/** Reasons for which PostgreSQL refuses a row: https://www.postgresql.org/docs/current/errcodes-appendix.html. */

/** Returns whether an error is a violated unique constraint (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** Returns whether an error is a violated foreign key: the referenced row does not exist (SQLSTATE 23503). */
export function isReferenceViolation(error: unknown): boolean {
  return codeOf(error) === '23503';
}

/** Returns the code of an error: the SQLSTATE if it is PostgreSQL's, and otherwise that of Node.js or of the driver. Empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
