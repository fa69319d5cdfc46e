import {
  compileFilter,
  DAY_MS,
  escapePattern,
  type FilterField,
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
  does_not_contain: ['NOT LIKE', (text) => `%${escapePattern(text)}%`],
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
/** Each bound of a time, and whether it lies behind the day or the instant. */
const BOUNDS: Readonly<Record<string, readonly (readonly [Operator, Operator, isBehind: boolean])[]>> = {
  equals: [
    ['>=', '>=', false],
    ['<', '<=', true],
  ],
  before: [['<', '<', false]],
  after: [['>=', '>', true]],
  on_or_before: [['<', '<=', true]],
  on_or_after: [['>=', '>=', false]],
};
const TEXTS = new Set(['title', 'rich_text', 'url', 'email', 'phone_number']);
const CHOICES = new Set(['select', 'status']);
const LISTS = new Set(['multi_select', 'people', 'relation', 'created_by', 'last_edited_by']);
const TIMES = new Set(['date', 'created_time', 'last_edited_time']);
/** Whether a negation finds pages without a value is not documented. In the app it does. */
const OF_NULL = { '!=': true, 'NOT LIKE': true, 'NOT IN': true } as const;

/** Returns a test of pages for the filter of a query. */
export function compileQuery(filter: unknown, properties: readonly Property[], rule: TextRule) {
  const fields: FilterField[] = [];

  /** Adds a field for one test. Its name is its position. */
  const test = (field: FilterField, operator: Operator, ...values: FilterTest['values'][number][]): FilterTree => {
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
    const { property: name = filter.timestamp, type: _, timestamp: __, ...conditions } = filter;
    const property =
      filter.timestamp === undefined
        ? findProperty(properties, name)
        : { id: String(name), name: String(name), type: String(name) };
    const [[type = '', condition] = []] = Object.entries(conditions);
    if (type !== property.type) throw invalid(`database property ${property.type} does not match filter ${type}`);
    return parseCondition(property, Object(condition));
  }

  function parseCondition(property: Property, condition: Json): FilterTree {
    const [[word = '', value] = []] = Object.entries(condition);
    const inner: readonly [string, unknown] =
      property.type === 'formula' ? (Object.entries<unknown>(Object(value))[0] ?? ['', null]) : [word, value];
    const [name, wanted] = inner;
    const field = fieldOf(property, rule);
    if (name === 'is_empty' || name === 'is_not_empty')
      return test(field, name === 'is_empty' ? 'IS NULL' : 'IS NOT NULL');
    const text = TEXT[name];
    if (TEXTS.has(property.type) && text !== undefined) return test(field, text[0], text[1](String(wanted)));
    if (CHOICES.has(property.type)) {
      const names = [wanted].flat().map(String);
      const stranger = names.find((each) => property.options?.includes(each) !== true);
      if (stranger !== undefined)
        throw invalid(`${property.type} option "${stranger}" not found for property "${property.name}".`);
      return test(field, name === 'equals' ? 'IN' : 'NOT IN', ...names);
    }
    if (LISTS.has(property.type)) {
      const items = [wanted].flat();
      const read = (row: TableRow) => [heldBy(row, property)].flat().some((each) => items.includes(each));
      return test({ type: 'boolean', read }, '=', name === 'contains');
    }
    if (property.type === 'checkbox') return test(field, name === 'equals' ? '=' : '!=', wanted === true);
    const bounds = BOUNDS[name];
    if (TIMES.has(property.type) && bounds !== undefined) return timesOf(field, String(wanted), bounds);
    const operator = NUMBER[name];
    if (operator === undefined || typeof wanted !== 'number') throw invalid(`body failed validation: ${name}`);
    return test(field, operator, wanted);
  }

  /** A filter without a time of day is about the whole day in UTC. */
  function timesOf(field: FilterField, text: string, bounds: (typeof BOUNDS)[string]): FilterTree {
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) throw invalid(`body failed validation: "${text}" is no date`);
    const isDay = !text.includes('T');
    const operands = bounds.map(([ofDay, ofInstant, isBehind]) =>
      test(field, isDay ? ofDay : ofInstant, new Date(isDay && isBehind ? ms + DAY_MS : ms).toISOString()),
    );
    return { kind: 'and', operands };
  }

  const tree: FilterTree = filter == null ? { kind: 'and', operands: [] } : parse(filter, 1);
  return compileFilter(tree, { field: (name) => fields[Number(name)], ofNull: OF_NULL, refuse: invalid });
}

function findProperty(properties: readonly Property[], name: unknown): Property {
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
    const { property, timestamp, direction }: Json = Object(given);
    const sorted =
      timestamp === undefined
        ? findProperty(properties, property)
        : { id: String(timestamp), name: String(timestamp), type: String(timestamp) };
    return { ...fieldOf(sorted, rule), descending: direction === 'descending', nulls: 'last' };
  });
}
