import {
  type Condition,
  compileCondition,
  type FieldSpec,
  type Filter,
  isGroup,
  type Literal,
  type Predicate,
  parseWhere,
  predicatesOf,
  prepareCondition,
} from '../../where/index.ts';

/** An event as filters see it. */
// No interface, so that it is a row of the query language.
export type EventRow = {
  readonly type: string;
  readonly objectName: string | undefined;
  readonly objectId: string | undefined;
  readonly elementKey: string;
  readonly hub: string;
  readonly instance: { readonly id: number; readonly name: string; readonly tags: readonly string[] };
  /** The record. Undefined: the event has none. */
  readonly object: unknown;
};

/** Whether an event matches a filter. `undecided`: only its record would tell, and the event has none. */
type FilterVerdict = 'no' | 'undecided' | 'yes';

export interface EventFilter {
  readonly judge: (row: EventRow) => FilterVerdict;
}

/** Types of the fields of a record, by name, with what comparisons depend on. */
export type RecordTypes = Readonly<Record<string, Pick<FieldSpec, 'type' | 'collation' | 'aliases'>>>;

const RECORD_PREFIX = 'object.';
const TAGS = 'instance.tags';
const TEXT = { type: 'string', nullable: true } as const satisfies FieldSpec;

/** Fields of every event. Those of its record follow `object.`. */
export const EVENT_FIELDS = {
  type: TEXT,
  objectName: TEXT,
  objectId: TEXT,
  elementKey: TEXT,
  hub: TEXT,
  'instance.id': { type: 'integer' },
  'instance.name': TEXT,
  [TAGS]: TEXT,
} as const satisfies Readonly<Record<string, FieldSpec>>;

/** A field that a filter names. */
export interface NamedField {
  readonly name: string;
  readonly literals: readonly Literal[];
}

/**
 * Returns the fields that a filter names, each once, with the literals that it compares them with.
 * @throws AppError WHERE_SYNTAX
 */
export function fieldsOf(where: string): readonly NamedField[] {
  const literals = new Map<string, Literal[]>();
  for (const { name, literals: found } of namesOf(parseWhere(where)))
    literals.set(name, [...(literals.get(name) ?? []), ...found]);
  return [...literals].map(([name, found]) => ({ name, literals: found }));
}

/** Returns the name of a record's field without `object.`; undefined for a field of the event. */
export function recordField(name: string): string | undefined {
  return name.startsWith(RECORD_PREFIX) ? name.slice(RECORD_PREFIX.length) : undefined;
}

/**
 * Compiles a filter over events. Fields of records have the given types, and where these are unknown the types of the literals that they
 * are compared with.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export function compileEventFilter(where: string, types: RecordTypes = {}): EventFilter {
  const condition = prepareCondition(where, { fields: queryableFields(where, types) });
  if (condition === undefined) return { judge: () => 'yes' };
  const judge = compile(condition);
  return {
    judge: (row) => {
      try {
        return judge(row);
      } catch {
        // A text of the record is too long to be searched.
        return 'undecided';
      }
    },
  };
}

function queryableFields(where: string, types: RecordTypes): Record<string, FieldSpec> {
  const fields: Record<string, FieldSpec> = { ...EVENT_FIELDS };
  for (const { name, literals } of fieldsOf(where)) {
    if (Object.hasOwn(EVENT_FIELDS, name)) continue;
    const known = findRecordType(name, types);
    if (known === undefined) fields[name] = { type: typeOf(literals), nullable: true };
    else fields[known.name] = known.spec;
  }
  return fields;
}

/** Returns the described field that a filter means by its name or by an alias. Undefined for one that the object does not describe. */
export function findRecordType(named: string, types: RecordTypes) {
  const field = recordField(named);
  if (field === undefined) return undefined;
  const name = Object.hasOwn(types, field) ? field : aliasesOf(types).get(field);
  const spec = name === undefined ? undefined : types[name];
  if (name === undefined || spec === undefined) return undefined;
  const aliases = Object.entries(spec.aliases ?? {}).map(([alias, equals]) => [`${RECORD_PREFIX}${alias}`, equals]);
  const { type, collation } = spec;
  return {
    name: `${RECORD_PREFIX}${name}`,
    spec: {
      type,
      nullable: true,
      ...(collation !== undefined && { collation }),
      ...(aliases.length > 0 && { aliases: Object.fromEntries(aliases) }),
    } satisfies FieldSpec,
  };
}

/** The fields by their aliases, collected once for each object. */
const ALIASES = new WeakMap<RecordTypes, ReadonlyMap<string, string>>();

function aliasesOf(types: RecordTypes): ReadonlyMap<string, string> {
  const known = ALIASES.get(types);
  if (known !== undefined) return known;
  const aliases = new Map(
    Object.entries(types).flatMap(([name, { aliases: names = {} }]) =>
      Object.keys(names).map((alias) => [alias, name] as const),
    ),
  );
  ALIASES.set(types, aliases);
  return aliases;
}

/** The type of a field that nothing else tells: that of the values it is compared with, or text if these differ. */
function typeOf(literals: readonly Literal[]): FieldSpec['type'] {
  const kinds = new Set(literals.map(({ kind }) => kind));
  const [kind = 'string'] = kinds;
  if (kinds.size === 2 && kinds.has('date') && kinds.has('datetime')) return 'datetime';
  return kinds.size > 1 ? 'string' : kind;
}

function namesOf(filter: Filter): readonly NamedField[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.operands.flatMap(namesOf);
    case 'not':
      return namesOf(filter.operand);
    case 'compare':
      return [{ name: filter.field.name, literals: [filter.value] }];
    case 'in':
      return [{ name: filter.field.name, literals: filter.values }];
    case 'like':
      return [{ name: filter.field.name, literals: [filter.pattern] }];
    case 'between':
      return [{ name: filter.field.name, literals: [filter.low, filter.high] }];
    case 'isNull':
      return [{ name: filter.field.name, literals: [] }];
  }
}

type Judge = (row: EventRow) => FilterVerdict;

/** The source that a part of a condition reads: only the event, only the record, or a mix. Tags are a mix too, because they are several values. */
type Reads = 'event' | 'record' | 'mixed';

function readsOf(condition: Condition): Reads {
  const all = new Set(predicatesOf(condition).map(readsOfPredicate));
  const [only = 'event'] = all;
  return all.size > 1 ? 'mixed' : only;
}

function readsOfPredicate({ field: { name } }: Predicate): Reads {
  if (name === TAGS) return 'mixed';
  return recordField(name) === undefined ? 'event' : 'record';
}

// As few tests as possible: each part that reads the event alone, or the record alone, is one of the language's own.
function compile(condition: Condition): Judge {
  const reads = readsOf(condition);
  if (reads === 'mixed') {
    if (!isGroup<Condition>(condition)) return compileTags(condition);
    const judges = condition.operands.map(compile);
    return condition.kind === 'and' ? allOf(judges) : anyOf(judges);
  }
  const test = compileCondition(condition);
  if (reads === 'event') return (row) => (test(row) ? 'yes' : 'no');
  return (row) => {
    if (row.object === undefined) return 'undecided';
    return test(row) ? 'yes' : 'no';
  };
}

function allOf(judges: readonly Judge[]): Judge {
  return (row) => {
    let verdict: FilterVerdict = 'yes';
    for (const judge of judges) {
      const one = judge(row);
      if (one === 'no') return 'no';
      if (one === 'undecided') verdict = 'undecided';
    }
    return verdict;
  };
}

function anyOf(judges: readonly Judge[]): Judge {
  return (row) => {
    let verdict: FilterVerdict = 'no';
    for (const judge of judges) {
      const one = judge(row);
      if (one === 'yes') return 'yes';
      if (one === 'undecided') verdict = 'undecided';
    }
    return verdict;
  };
}

/**
 * Compiles a predicate on tags. It matches if any tag does; a negated one if every tag does, so that `instance.tags != 'a'` means that no
 * tag is `a`. Without tags, `instance.tags` is null, and only negated predicates and IS NULL match.
 */
function compileTags(predicate: Predicate): Judge {
  if (predicate.kind === 'isNull') {
    return ({ instance }) => ((instance.tags.length === 0) !== predicate.negated ? 'yes' : 'no');
  }
  const test = compileCondition({ ...predicate, field: { ...predicate.field, name: 'tag' } });
  const matches = (tag: string) => test({ tag });
  const isNegated = predicate.kind === 'compare' ? predicate.operator === '!=' : predicate.negated;
  return ({ instance: { tags } }) => ((isNegated ? tags.every(matches) : tags.some(matches)) ? 'yes' : 'no');
}
