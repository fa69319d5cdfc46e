import { type ErrorDetail, MOST_FAULTS, unknownName } from '../errors.ts';
import type { ComparisonOperator, FieldRef, Filter, Literal, Loc } from './ast.ts';
import type { Checked } from './condition.ts';
import { faultyText } from './faults.ts';
import { readLikePattern } from './like.ts';
import type { FieldSpec, ParameterSpec, PushedField, Queryable, Value } from './model.ts';
import { readLiteral, type ScalarType, TYPE_EXAMPLES } from './values.ts';

const NULL_TESTS = ['IS NULL', 'IS NOT NULL'];
const BOOLEAN_OPERATORS = ['=', '!='];

/** A filter that fits its object: its fields exist, its values have types, and its parameters are separate. */
interface CheckedFilter {
  /** The filter without its parameters. It is absent when there is nothing else. */
  readonly condition?: Checked;
  readonly parameters: Readonly<Record<string, Value>>;
}

/**
 * Checks a parsed filter against the fields and parameters of an object.
 * @throws AppError WHERE_INVALID that lists all faults, 50 at most, with position and nearest name
 */
export function checkFilter(filter: Filter, queryable: Queryable): CheckedFilter {
  const checker = createChecker(queryable);
  const { rest, parameters } = checker.takeParameters(filter);
  const operands = rest.map(checker.check);
  checker.assertNoFaults();
  const [first] = operands;
  const condition: Checked | undefined = operands.length > 1 ? { kind: 'and', operands } : first;
  return condition === undefined ? { parameters } : { condition, parameters };
}

/**
 * Returns the fields with these names.
 * @throws AppError WHERE_INVALID that lists the unknown names with position and nearest name
 */
export function resolveFields(refs: readonly FieldRef[], queryable: Queryable): readonly PushedField[] {
  const unknown = refs.filter(({ name }) => listedField(name, queryable) === undefined).slice(0, MOST_FAULTS + 1);
  if (unknown.length > 0) {
    throw faultyText(
      'WHERE_INVALID',
      unknown.map((ref) => unknownField(ref, queryable)),
    );
  }
  return refs.flatMap((ref) => {
    const name = ownName(ref.name, queryable);
    const spec = listedField(name, queryable);
    return spec === undefined ? [] : [pushedField(name, spec)];
  });
}

/** Returns a field that the rows of a list have, by its name or an alias. */
function listedField(name: string, queryable: Queryable): FieldSpec | undefined {
  const own = ownName(name, queryable);
  const spec = Object.hasOwn(queryable.fields, own) ? queryable.fields[own] : undefined;
  return spec?.unlisted === true ? undefined : spec;
}

interface Alias {
  readonly field: string;
  /** The operator that `=` stands for. */
  readonly equals: ComparisonOperator;
}

/** Aliases are collected once per object, because it may have thousands of fields. */
const ALIASES = new WeakMap<Queryable['fields'], ReadonlyMap<string, Alias>>();

function findAlias(name: string, { fields }: Queryable): Alias | undefined {
  const known = ALIASES.get(fields) ?? readAliases(fields);
  ALIASES.set(fields, known);
  return Object.hasOwn(fields, name) ? undefined : known.get(name);
}

function readAliases(fields: Queryable['fields']): ReadonlyMap<string, Alias> {
  const aliases = Object.entries(fields).flatMap(([field, spec]) =>
    Object.entries(spec.aliases ?? {}).map(([name, equals]) => [name, { field, equals }] as const),
  );
  return new Map(aliases);
}

function ownName(name: string, queryable: Queryable): string {
  return findAlias(name, queryable)?.field ?? name;
}

/** Returns a field with its name and its native name. */
export function pushedField(name: string, spec: FieldSpec): PushedField {
  return { ...spec, name, native: spec.native ?? name };
}

const PLACEHOLDER: Value = { kind: 'string', value: '' };

function createChecker(queryable: Queryable) {
  const faults: ErrorDetail[] = [];
  const resolved = new Map<string, PushedField>();

  function add(fault: ErrorDetail): void {
    faults.push(fault);
    if (faults.length > MOST_FAULTS) assertNoFaults();
  }

  function report({ offset, length }: Loc, message: string, expected?: readonly string[]): void {
    add({ position: offset, length, message, ...(expected !== undefined && { expected }) });
  }

  function field(ref: FieldRef): PushedField {
    const known = resolved.get(ref.name);
    if (known !== undefined) return known;
    const spec = listedField(ref.name, queryable);
    if (spec === undefined) add(unknownField(ref, queryable));
    const found = pushedField(ownName(ref.name, queryable), spec ?? { type: 'string' });
    if (spec !== undefined) resolved.set(ref.name, found);
    return found;
  }

  function value(literal: Literal, name: string, spec: FieldSpec | ParameterSpec): Value {
    const type = scalarType(spec);
    const typed = type && readLiteral(literal, type);
    if (typed !== undefined) return typed;
    if (type === undefined) {
      report(literal.loc, `'${name}' is an ${spec.type}: only IS NULL and IS NOT NULL apply to it.`, NULL_TESTS);
    } else {
      report(literal.loc, `'${name}' is of type ${type}: expected ${TYPE_EXAMPLES[type]}.`, [TYPE_EXAMPLES[type]]);
    }
    return PLACEHOLDER;
  }

  function fieldValue(literal: Literal, of: PushedField): Value {
    // An unknown field is reported once, not once more for its value.
    return listedField(of.name, queryable) === undefined ? PLACEHOLDER : value(literal, of.name, of);
  }

  function assertOrdered(on: PushedField, operator: string, loc: Loc): void {
    if (on.type !== 'boolean') return;
    report(loc, `'${on.name}' is of type boolean. It accepts = and !=, not ${operator}.`, BOOLEAN_OPERATORS);
  }

  function compare(node: Extract<Filter, { kind: 'compare' }>): Checked {
    const on = field(node.field);
    const equals = findAlias(node.field.name, queryable)?.equals ?? '=';
    const operator = node.operator === '=' ? equals : node.operator;
    if (operator !== '=' && operator !== '!=') assertOrdered(on, operator, node.loc);
    return { kind: 'compare', field: on, operator, value: fieldValue(node.value, on), loc: node.loc };
  }

  function like(node: Extract<Filter, { kind: 'like' }>): Checked {
    const on = field(node.field);
    if (on.type !== 'string') report(node.loc, `'${on.name}' is of type ${on.type}. LIKE works only on text.`);
    const pattern = readLikePattern(node.pattern.kind === 'string' ? node.pattern.text : '');
    return { kind: 'like', field: on, negated: node.negated, pattern, loc: node.loc };
  }

  function between(node: Extract<Filter, { kind: 'between' }>): Checked {
    const on = field(node.field);
    assertOrdered(on, 'BETWEEN', node.loc);
    const low: Checked = { kind: 'compare', field: on, operator: '>=', value: fieldValue(node.low, on), loc: node.loc };
    const high: Checked = { ...low, operator: '<=', value: fieldValue(node.high, on) };
    const both: Checked = { kind: 'and', operands: [low, high] };
    return node.negated ? { kind: 'not', operand: both } : both;
  }

  function membership(node: Extract<Filter, { kind: 'in' }>): Checked {
    const on = field(node.field);
    const values = node.values.map((literal) => fieldValue(literal, on));
    return { kind: 'in', field: on, negated: node.negated, values, loc: node.loc };
  }

  function check(node: Filter): Checked {
    switch (node.kind) {
      case 'and':
      case 'or':
        return { kind: node.kind, operands: node.operands.map(check) };
      case 'not':
        return { kind: 'not', operand: check(node.operand) };
      case 'compare':
        return compare(node);
      case 'in':
        return membership(node);
      case 'like':
        return like(node);
      case 'isNull':
        return { kind: 'isNull', field: field(node.field), negated: node.negated, loc: node.loc };
      case 'between':
        return between(node);
    }
  }

  function isParameter(name: string): boolean {
    return queryable.parameters !== undefined && Object.hasOwn(queryable.parameters, name) && !isField(name);
  }

  function isField(name: string): boolean {
    return Object.hasOwn(queryable.fields, name);
  }

  /** Separates the parameters from the filter and returns both. */
  function takeParameters(filter: Filter): { rest: readonly Filter[]; parameters: Record<string, Value> } {
    const taken = new Map<string, Value>();
    const rest = topLevel(filter).filter((node) => {
      const refs = fieldRefs(node).filter(({ name }) => isParameter(name));
      if (refs.length > 0) takeParameter(node, refs, taken);
      return refs.length === 0;
    });
    return { rest, parameters: Object.fromEntries(taken) };
  }

  function takeParameter(node: Filter, refs: readonly FieldRef[], taken: Map<string, Value>): void {
    const spec = node.kind === 'compare' ? queryable.parameters?.[node.field.name] : undefined;
    if (node.kind !== 'compare' || node.operator !== '=' || spec === undefined) {
      for (const { name, loc } of refs) {
        report(loc, `'${name}' is a parameter. It accepts only '=', joined by AND at the top level.`, ['=']);
      }
      return;
    }
    const { name } = node.field;
    if (taken.has(name)) report(node.loc, `The parameter '${name}' appears twice. Use it once.`);
    const given = value(node.value, name, spec);
    taken.set(name, given);
    if (spec.values === undefined || given.kind !== 'string' || spec.values.includes(given.value)) return;
    if (given !== PLACEHOLDER)
      report(node.value.loc, `'${name}' must be one of: ${spec.values.join(', ')}.`, spec.values);
  }

  function assertNoFaults(): void {
    if (faults.length > 0) throw faultyText('WHERE_INVALID', faults);
  }

  return { check, takeParameters, assertNoFaults };
}

function topLevel(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.operands.flatMap(topLevel) : [filter];
}

function fieldRefs(filter: Filter): readonly FieldRef[] {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.operands.flatMap(fieldRefs);
  return filter.kind === 'not' ? fieldRefs(filter.operand) : [filter.field];
}

function scalarType({ type }: { readonly type: FieldSpec['type'] }): ScalarType | undefined {
  return type === 'object' || type === 'array' ? undefined : type;
}

function unknownField({ name, loc }: FieldRef, queryable: Queryable): ErrorDetail {
  const range = { position: loc.offset, length: loc.length };
  if (Object.hasOwn(queryable.fields, ownName(name, queryable))) {
    return { ...range, message: `The provider returns the field '${name}' only for single records, not in lists.` };
  }
  const listed = Object.keys(queryable.fields).filter((field) => listedField(field, queryable) !== undefined);
  return { ...range, ...unknownName('field', name, [...listed, ...Object.keys(queryable.parameters ?? {})]) };
}
