export { pushedField } from './check.ts';
export { type Condition, predicatesOf } from './condition.ts';
export { compareValues, compileCondition, type Row, type RowTest, reader } from './evaluate.ts';
export type * from './model.ts';
export { assertFullyPushed, type Decision, type OrderBy, type Plan } from './plan.ts';
export { type PreparedQuery, prepareQuery, type QueryText } from './query.ts';
