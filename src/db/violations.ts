/** Reasons for which PostgreSQL refuses a row: https://www.postgresql.org/docs/current/errcodes-appendix.html. */

/** Returns whether an error is a violated unique constraint (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** Returns whether an error is a violated foreign key: the referenced row does not exist (SQLSTATE 23503). */
export function isReferenceViolation(error: unknown): boolean {
  return codeOf(error) === '23503';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
