import { AppError, type ErrorDetail, nearestName } from '../errors.ts';
import type { FieldRef, Filter, Literal, Loc } from './ast.ts';
import type { Checked } from './condition.ts';
import { readLikePattern } from './like.ts';
import type { FieldSpec, ParameterSpec, PushedField, Queryable, Value } from './model.ts';
import { readLiteral, type ScalarType, TYPE_EXAMPLES } from './values.ts';

/** A filter that fits its object: fields known, values typed, parameters taken out. */
export interface CheckedFilter {
  /** Absent when the filter was made of parameters only. */
  readonly condition?: Checked;
  readonly parameters: Readonly<Record<string, Value>>;
}

/**
 * Checks a parsed filter against the fields and parameters of an object.
 * @throws AppError WHERE_INVALID that reports every fault at once, with position and nearest name.
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

/** The field of that name. @throws AppError WHERE_INVALID with the nearest name. */
export function resolveField(ref: FieldRef, queryable: Queryable): PushedField {
  const spec = Object.hasOwn(queryable.fields, ref.name) ? queryable.fields[ref.name] : undefined;
  if (spec !== undefined) return pushedField(ref.name, spec);
  throw invalid([unknownField(ref, queryable)]);
}

export function pushedField(name: string, spec: FieldSpec): PushedField {
  return { ...spec, name, native: spec.native ?? name };
}

function createChecker(queryable: Queryable) {
  const faults: ErrorDetail[] = [];
  const resolved = new Map<string, PushedField>();

  function report<Result>(loc: Loc, message: string, fallback: Result): Result {
    faults.push({ position: loc.offset, length: loc.length, message });
    return fallback;
  }

  function field(ref: FieldRef): PushedField {
    const known = resolved.get(ref.name);
    if (known !== undefined) return known;
    const spec = Object.hasOwn(queryable.fields, ref.name) ? queryable.fields[ref.name] : undefined;
    if (spec === undefined) faults.push(unknownField(ref, queryable));
    const found = pushedField(ref.name, spec ?? { type: 'string' });
    if (spec !== undefined) resolved.set(ref.name, found);
    return found;
  }

  function value(literal: Literal, name: string, spec: FieldSpec | ParameterSpec): Value {
    const placeholder: Value = { kind: 'string', value: '' };
    const type = scalarType(spec);
    if (type === undefined) {
      return report(
        literal.loc,
        `'${name}' is an ${spec.type}: only IS NULL and IS NOT NULL apply to it.`,
        placeholder,
      );
    }
    const typed = readLiteral(literal, type);
    return typed ?? report(literal.loc, `'${name}' is of type ${type}: expected ${TYPE_EXAMPLES[type]}.`, placeholder);
  }

  function fieldValue(literal: Literal, of: PushedField): Value {
    // An unknown field is reported once, not once more for its value.
    return Object.hasOwn(queryable.fields, of.name) ? value(literal, of.name, of) : { kind: 'string', value: '' };
  }

  function compare(node: Extract<Filter, { kind: 'compare' }>): Checked {
    const on = field(node.field);
    const ordered = node.operator !== '=' && node.operator !== '!=';
    if (ordered && on.type === 'boolean') {
      report(node.loc, `'${on.name}' is of type boolean: it takes = and !=, not ${node.operator}.`, undefined);
    }
    return { kind: 'compare', field: on, operator: node.operator, value: fieldValue(node.value, on), loc: node.loc };
  }

  function like(node: Extract<Filter, { kind: 'like' }>): Checked {
    const on = field(node.field);
    if (on.type !== 'string') report(node.loc, `'${on.name}' is of type ${on.type}: LIKE is for text.`, undefined);
    const pattern = readLikePattern(node.pattern.kind === 'string' ? node.pattern.text : '');
    return { kind: 'like', field: on, negated: node.negated, pattern, loc: node.loc };
  }

  function between(node: Extract<Filter, { kind: 'between' }>): Checked {
    const bounds = (['>=', '<='] as const).map(
      (operator): Checked =>
        compare({
          kind: 'compare',
          field: node.field,
          operator,
          value: operator === '>=' ? node.low : node.high,
          loc: node.loc,
        }),
    );
    const both: Checked = { kind: 'and', operands: bounds };
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

  function takeParameters(filter: Filter): { rest: readonly Filter[]; parameters: Record<string, Value> } {
    const specs = queryable.parameters ?? {};
    const parameters: Record<string, Value> = {};
    const isParameter = (name: string) => Object.hasOwn(specs, name) && !Object.hasOwn(queryable.fields, name);
    const rest = topLevel(filter).filter((node) => {
      const refs = fieldRefs(node).filter(({ name }) => isParameter(name));
      if (refs.length === 0) return true;
      const spec = node.kind === 'compare' ? specs[node.field.name] : undefined;
      if (node.kind !== 'compare' || node.operator !== '=' || spec === undefined) {
        for (const { name, loc } of refs)
          report(loc, `'${name}' is a parameter: it takes '=' only, joined by AND at the top level.`, undefined);
        return false;
      }
      const { name } = node.field;
      if (Object.hasOwn(parameters, name)) report(node.loc, `The parameter '${name}' is given twice.`, undefined);
      parameters[name] = value(node.value, name, spec);
      assertListed(node.value, name, spec, parameters[name]);
      return false;
    });
    return { rest, parameters };
  }

  function assertListed(literal: Literal, name: string, spec: ParameterSpec, given: Value): void {
    if (spec.values === undefined || given.kind !== 'string' || spec.values.includes(given.value)) return;
    report(literal.loc, `'${name}' takes one of: ${spec.values.join(', ')}.`, undefined);
  }

  function assertNoFaults(): void {
    if (faults.length > 0) throw invalid(faults);
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

function unknownField(ref: FieldRef, queryable: Queryable): ErrorDetail {
  const nearest = nearestName(ref.name, [...Object.keys(queryable.fields), ...Object.keys(queryable.parameters ?? {})]);
  const suggestion = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  const message = `There is no field '${ref.name}'.${suggestion}`;
  return { position: ref.loc.offset, length: ref.loc.length, message, ...(nearest !== undefined && { nearest }) };
}

function invalid(details: readonly ErrorDetail[]): AppError {
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return new AppError('WHERE_INVALID', `${first?.message}${more}`, { details });
}
