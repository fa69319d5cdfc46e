import type { PushedField } from '../connector/index.ts';
import { compileCondition, type PreparedQuery, predicatesOf, type Row } from '../where/index.ts';
import { createProjection, createRecordMapper, type RecordMapper } from './record.ts';

/** What happens to each row of a query; depends on nothing but the query, so it is made once. */
export interface RowSteps {
  /** The fields the provider is asked for: those to answer, to check again, to sort and to go on by. */
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
  /** Whether a row of a query of the plan, by its place, passes what is checked again. */
  readonly matches: (row: Row, query: number) => boolean;
  /** Leaves only the fields to answer. */
  readonly project: (row: Row) => Row;
}

export function createRowSteps({ plan, fields }: PreparedQuery): RowSteps {
  const checked = predicatesOf(plan.residual).map(({ field }) => field);
  const sorted = plan.sortPushed ? [] : plan.orderBy.map(({ field }) => field);
  const asked = outermost(fields);
  const continued = plan.goOnAfter === undefined ? [] : [plan.goOnAfter.idField];
  const needed = outermost([...fields, ...checked, ...sorted, ...continued]);
  const tests = plan.queries.map(({ residual }) => (residual === undefined ? undefined : compileCondition(residual)));
  const names = new Set(asked.map(({ name }) => name));
  return {
    fields: needed,
    map: createRecordMapper(needed),
    matches: (row, query) => tests[query]?.(row) ?? true,
    project: needed.every(({ name }) => names.has(name)) ? (row) => row : createProjection(asked),
  };
}

/** Without doubles, and without fields inside another one of them: read after it, they would make an object of its null. */
function outermost(fields: readonly PushedField[]): readonly PushedField[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return [...byName.values()].filter(({ name }) => !holdersOf(name).some((holder) => byName.has(holder)));
}

/** `a.b.c` → `a`, `a.b`. */
function holdersOf(name: string): readonly string[] {
  const path = name.split('.');
  return path.slice(1).map((_, index) => path.slice(0, index + 1).join('.'));
}
