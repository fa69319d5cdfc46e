export type { FieldRef, Filter, Literal } from './ast.ts';
export { pushedField } from './check.ts';
export { foldText } from './collation.ts';
export {
  type Condition,
  conjuncts,
  isGroup,
  join as joinConditions,
  operatorOf,
  type Predicate,
  predicatesOf,
} from './condition.ts';
export type { Constant, Decision } from './decisions.ts';
export { compileCondition, type RowTest } from './evaluate.ts';
export { printLikePattern, readLikePattern } from './like.ts';
export type * from './model.ts';
export { compareValues } from './order.ts';
export { LIMITS as WHERE_LIMITS, parseFieldList, parseOrderBy, parseWhere } from './parse.ts';
export {
  assertFullyPushed,
  type OrderBy,
  type Plan,
  type ProviderQuery,
} from './plan.ts';
export { print, quoteText } from './print.ts';
export {
  type ParsedQuery,
  type PreparedQuery,
  parseQuery,
  planParsed,
  prepareCondition,
  prepareQuery,
  prepareSql,
  type QueryText,
  recordFields,
  type SqlQueryable,
} from './query.ts';
export { isMapped, type MappedQueryable, type Rewriting, type Rewritten } from './rewriting.ts';
export { isPlainName, type Row, readBoolean, readDate, reader } from './row-values.ts';
export { readSelect, type Selected } from './select.ts';
export { EXACT_IN_SQL, type Sql, type SqlColumns, toSql } from './sql.ts';
export { isKeyword } from './tokens.ts';
export { readLiteral, type ScalarType } from './values.ts';
