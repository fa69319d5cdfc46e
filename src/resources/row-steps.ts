import type { PushedField } from '../connector/index.ts';
import { compileCondition, type PreparedQuery, predicatesOf, type Row } from '../where/index.ts';
import { createRecordMapper, type RecordMapper } from './record.ts';

/** What happens to each row of a query; depends on nothing but the query, so it is made once. */
export interface RowSteps {
  /** The fields the provider is asked for: those to answer, to check again and to sort by. */
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
  readonly matches: (row: Row) => boolean;
  /** Leaves only the fields to answer. */
  readonly project: (row: Row) => Row;
}

export function createRowSteps({ plan, fields }: PreparedQuery): RowSteps {
  const checked = predicatesOf(plan.residual).map(({ field }) => field);
  const sorted = plan.sortPushed ? [] : plan.orderBy.map(({ field }) => field);
  const extra = missingFrom(fields, [...checked, ...sorted]);
  const needed = [...fields, ...extra];
  return {
    fields: needed,
    map: createRecordMapper(needed),
    matches: plan.residual === undefined ? () => true : compileCondition(plan.residual),
    project: extra.length === 0 ? (row) => row : createProjection(fields),
  };
}

function missingFrom(fields: readonly PushedField[], others: readonly PushedField[]): readonly PushedField[] {
  const there = new Set(fields.map(({ name }) => name));
  const topLevel = (name: string) => name.split('.', 1)[0] ?? name;
  const missing = others.filter(({ name }) => !there.has(name) && !there.has(topLevel(name)));
  return [...new Map(missing.map((field) => [field.name, field])).values()];
}

function createProjection(fields: readonly PushedField[]): (row: Row) => Row {
  return createRecordMapper(fields.map(({ name, type }) => ({ name, native: name, type })));
}
