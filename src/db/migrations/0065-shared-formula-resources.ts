/** Formulas of an account may share a method and uri: a request names the formula instance that it runs. */
export const STATEMENTS: readonly string[] = [
  'drop index formula_resource',
  'create index formula_resource on formula (account_id, method, uri) where uri is not null',
];
