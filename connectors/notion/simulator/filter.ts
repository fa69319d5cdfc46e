import {
  compileFilter,
  DAY_MS,
  escapePattern,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  FOLDS,
  type RowOrder,
  type TableRow,
  type TextRule,
} from '#connector/simulator';
import { heldBy, invalid, kindOf, type Property } from './properties.ts';

type Operator = FilterTest['operator'];
type Json = Readonly<Record<string, unknown>>;

/** Source: "Filter data source entries". */
const TEXT: Readonly<Record<string, readonly [Operator, (text: string) => string]>> = {
  equals: ['=', String],
  does_not_equal: ['!=', String],
  contains: ['LIKE', (text) => `%${escapePattern(text)}%`],
  starts_with: ['LIKE', (text) => `${escapePattern(text)}%`],
  ends_with: ['LIKE', (text) => `%${escapePattern(text)}`],
};
const NUMBER: Readonly<Record<string, Operator>> = {
  equals: '=',
  does_not_equal: '!=',
  greater_than: '>',
  less_than: '<',
  greater_than_or_equal_to: '>=',
  less_than_or_equal_to: '<=',
};
const TEXTS = new Set(['title', 'rich_text', 'url', 'email', 'phone_number']);
const CHOICES = new Set(['select', 'status']);
const TIMES = new Set(['date', 'created_time', 'last_edited_time']);
/** Whether a negation finds pages without a value is not documented. In the app it does. */
const OF_NULL = { '!=': true } as const;

/** Returns a test of pages for the filter of a query. */
export function compileQuery(filter: unknown, properties: readonly Property[], rule: TextRule) {
  const fields: FilterField[] = [];

  /** Adds a field for one test. Its name is its position. */
  const test = (field: FilterField, operator: Operator, ...values: FilterLiteral[]): FilterTree => {
    fields.push(field);
    return { kind: 'test', field: String(fields.length - 1), operator, values };
  };

  function parse(given: unknown, depth: number): FilterTree {
    const filter: Json = Object(given);
    for (const kind of ['and', 'or'] as const) {
      const operands = filter[kind];
      if (!Array.isArray(operands)) continue;
      if (depth > 2) throw invalid('body failed validation: filters are nested two levels deep');
      return { kind, operands: operands.map((each) => parse(each, depth + 1)) };
    }
    const { property: _, type: __, timestamp: ___, ...conditions } = filter;
    const property = propertyIn(filter, properties);
    const [[type = '', condition] = []] = Object.entries(conditions);
    if (type !== property.type) throw invalid(`database property ${property.type} does not match filter ${type}`);
    return parseCondition(property, Object(condition));
  }

  function parseCondition(property: Property, condition: Json): FilterTree {
    const [[name = '', wanted] = []] = Object.entries(condition);
    const field = fieldOf(property, rule);
    if (name === 'is_empty' || name === 'is_not_empty')
      return test(field, name === 'is_empty' ? 'IS NULL' : 'IS NOT NULL');
    const text = TEXT[name];
    if (TEXTS.has(property.type) && text !== undefined) return test(field, text[0], text[1](String(wanted)));
    if (CHOICES.has(property.type) && property.options?.includes(String(wanted)) !== true)
      throw invalid(`${property.type} option "${String(wanted)}" not found for property "${property.name}".`);
    if (TIMES.has(property.type)) return timeTest(field, name, String(wanted));
    const operator = NUMBER[name];
    if (operator === undefined) throw invalid(`body failed validation: ${name}`);
    return test(field, operator, wanted as FilterLiteral);
  }

  /** A time without a time of day stands for the whole day in UTC. */
  function timeTest(field: FilterField, name: string, text: string): FilterTree {
    const isUpper = name === 'on_or_before';
    if ((!isUpper && name !== 'on_or_after') || Number.isNaN(Date.parse(text)))
      throw invalid(`body failed validation: ${name} "${text}"`);
    if (!isUpper) return test(field, '>=', new Date(text).toISOString());
    if (text.includes('T')) return test(field, '<=', new Date(text).toISOString());
    return test(field, '<', new Date(Date.parse(text) + DAY_MS).toISOString());
  }

  const tree: FilterTree = filter == null ? { kind: 'and', operands: [] } : parse(filter, 1);
  return compileFilter(tree, { field: (name) => fields[Number(name)], ofNull: OF_NULL, refuse: invalid });
}

/** Finds what a condition or an order is about: a property by its name or id, or a time of the page. */
function propertyIn({ property: name, timestamp }: Json, properties: readonly Property[]): Property {
  const time = String(timestamp);
  if (timestamp !== undefined) return { id: time, name: time, type: time };
  const found = properties.find((each) => each.name === name || each.id === name);
  if (found === undefined) throw invalid(`Could not find property with name or id: ${String(name)}`);
  return found;
}

/** A property as filters and orders compare it. A range counts from its beginning. */
function fieldOf(property: Property, rule: TextRule) {
  const { type } = property;
  const { member } = kindOf(property);
  const fold = TEXTS.has(type) ? FOLDS[rule] : undefined;
  const read = (row: TableRow): unknown => {
    const value = type === 'date' ? Object(heldBy(row, property) ?? {}).start : heldBy(row, property);
    if (type === 'checkbox') return value === true;
    if (value == null || value === '' || (Array.isArray(value) && value.length === 0)) return null;
    return TIMES.has(type) ? new Date(String(value)).toISOString() : value;
  };
  const isCompared = member === 'number' || member === 'integer' || member === 'boolean';
  return { type: TIMES.has(type) ? 'datetime' : isCompared ? member : 'string', fold, read } satisfies FilterField;
}

/** Reads the order of a query. Where pages without a value stand is not documented. */
export function orderOf(sorts: unknown, properties: readonly Property[], rule: TextRule): readonly RowOrder[] {
  return (Array.isArray(sorts) ? sorts : []).map((given: unknown) => {
    const sort: Json = Object(given);
    const field = fieldOf(propertyIn(sort, properties), rule);
    return { ...field, descending: sort.direction === 'descending', nulls: 'last' };
  });
}
