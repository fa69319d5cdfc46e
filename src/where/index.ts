export { pushedField } from './check.ts';
export { type Condition, predicatesOf } from './condition.ts';
export { compileCondition, type RowTest } from './evaluate.ts';
export type * from './model.ts';
export { compareValues } from './order.ts';
export { assertFullyPushed, type Decision, type OrderBy, type Plan } from './plan.ts';
export { print } from './print.ts';
export { type PreparedQuery, prepareQuery, type QueryText } from './query.ts';
export { type Row, reader } from './row-values.ts';
