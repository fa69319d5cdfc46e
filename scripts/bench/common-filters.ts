import fc from 'fast-check';
import type { FieldSpec, ObjectSpec } from '../../src/connector/index.ts';
import type { FieldRef, Filter, Literal } from '../../src/where/ast.ts';
import { filtersOn } from '../../suite/filters.ts';
import { literalsFor, NOWHERE, patternsFor } from '../../suite/literals.ts';
import type { Row } from '../../suite/target.ts';

/** One set of filters for all providers: random trees over an object with a field of each type, then put on the fields that another object has. */

const COMMON_FIELDS = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'date' },
  datetime: { type: 'datetime' },
} as const satisfies Record<string, FieldSpec>;

type CommonType = keyof typeof COMMON_FIELDS;

const COMMON_ROWS: readonly Row[] = Array.from({ length: 12 }, (_, index) => ({
  string: `Name ${String.fromCharCode(65 + index)}`,
  number: index * 12.5,
  integer: index * 100,
  boolean: index % 2 === 0,
  date: `2024-${String(index + 1).padStart(2, '0')}-15`,
  datetime: `2024-${String(index + 1).padStart(2, '0')}-15T08:30:00.000Z`,
}));

/** The same for the same seed. */
export function commonFilters(count: number, seed: number): readonly Filter[] {
  return fc.sample(filtersOn({ object: { fields: COMMON_FIELDS }, rows: COMMON_ROWS }), { numRuns: count, seed });
}

/** What stands in for a type that an object has no field of: much the same can be asked of it. */
const NEAREST: Readonly<Record<CommonType, readonly CommonType[]>> = {
  string: ['string'],
  number: ['number', 'integer'],
  integer: ['integer', 'number'],
  boolean: ['boolean'],
  date: ['date', 'datetime'],
  datetime: ['datetime', 'date'],
};

/** A field in the place of a common one. */
interface Stand {
  readonly name: string;
  readonly literals: readonly Literal[];
}

/**
 * The filters on the fields of an object, those of a type in turn, with literals of its rows in the places of common ones. Predicates of a
 * type that the object has no field of are left out, and so are filters of which nothing is left.
 */
export function putOn({ fields }: Pick<ObjectSpec, 'fields'>, rows: readonly Row[], filters: readonly Filter[]) {
  const stands = Object.entries(fields).map(([name, spec]) => {
    return { name, type: spec.type, literals: literalsFor(name, spec, rows) };
  });
  const turns = new Map<CommonType, number>();
  const standFor = (type: CommonType): Stand | undefined => {
    const candidates = NEAREST[type].map((near) => stands.filter((stand) => stand.type === near));
    const found = candidates.find(({ length }) => length > 0) ?? [];
    const turn = turns.get(type) ?? 0;
    turns.set(type, turn + 1);
    return found[turn % found.length];
  };
  return filters.flatMap((filter) => putFilter(filter, standFor) ?? []);
}

function putFilter(filter: Filter, standFor: (type: CommonType) => Stand | undefined): Filter | undefined {
  if (filter.kind === 'and' || filter.kind === 'or') {
    const operands = filter.operands.flatMap((operand) => putFilter(operand, standFor) ?? []);
    return operands.length > 1 ? { ...filter, operands } : operands[0];
  }
  if (filter.kind === 'not') {
    const operand = putFilter(filter.operand, standFor);
    return operand && { ...filter, operand };
  }
  const type = typeOf(filter.field);
  const stand = standFor(type);
  if (stand === undefined) return undefined;
  const field: FieldRef = { name: stand.name, loc: NOWHERE };
  const common = COMMON_LITERALS[type];
  const put = (literal: Literal) => atSameRank(literal, common, stand.literals);
  switch (filter.kind) {
    case 'compare':
      return { ...filter, field, value: put(filter.value) };
    case 'in':
      return { ...filter, field, values: filter.values.map(put) };
    case 'between':
      return { ...filter, field, low: put(filter.low), high: put(filter.high) };
    case 'like':
      return {
        ...filter,
        field,
        pattern: atSameRank(filter.pattern, patternsFor(common), patternsFor(stand.literals)),
      };
    case 'isNull':
      return { ...filter, field };
  }
}

function typeOf({ name }: FieldRef): CommonType {
  for (const [type, { type: known }] of Object.entries(COMMON_FIELDS)) if (type === name) return known;
  throw new Error(`There is no common field '${name}'.`);
}

function commonLiterals(type: CommonType): readonly Literal[] {
  return literalsFor(type, COMMON_FIELDS[type], COMMON_ROWS);
}

const COMMON_LITERALS: Readonly<Record<CommonType, readonly Literal[]>> = {
  string: commonLiterals('string'),
  number: commonLiterals('number'),
  integer: commonLiterals('integer'),
  boolean: commonLiterals('boolean'),
  date: commonLiterals('date'),
  datetime: commonLiterals('datetime'),
};

/** Both lists have first what occurs, then what is near it, then what never occurs. */
function atSameRank(literal: Literal, from: readonly Literal[], to: readonly Literal[]): Literal {
  const text = JSON.stringify(literal);
  const rank = from.findIndex((each) => JSON.stringify(each) === text);
  const found = to[Math.floor((rank / from.length) * to.length)];
  if (rank < 0 || found === undefined) throw new Error(`Nothing stands in for the literal ${text}.`);
  return found;
}
