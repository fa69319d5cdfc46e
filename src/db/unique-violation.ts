/** Whether PostgreSQL refused a row because there is one of its kind: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
