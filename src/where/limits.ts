/** What one filter may cost us. Each limit has its own message; lengths and depth are checked before the parser runs. */
export const LIMITS = {
  textBytes: 16 * 1024,
  predicates: 500,
  inMembers: 1000,
  nesting: 64,
  orderFields: 32,
} as const;
