import {
  compileFilter,
  type FilterField,
  type FilterTest,
  foldCases,
  type RowOrder,
  sortRows,
  type TableRow,
  type TextRule,
} from '#connector/simulator';
import { type Company, present } from './company.ts';
import { type Entity, findProperty, type Property } from './entities.ts';
import { invalidQuery } from './fault.ts';
import { type Condition, type Literal, parseStatement } from './statement.ts';
import { readTime } from './time.ts';

const FOLDS: Readonly<Record<TextRule, (text: string) => string>> = {
  'ignoring case': foldCases,
  'as written': (text) => text,
};

export function findEntity(company: Company, name: string) {
  return Object.values(company).find((each) => each.name.toLowerCase() === name.toLowerCase());
}

/**
 * Runs a query.
 * @returns the `QueryResponse`
 * @throws Fault 4000 and 4001
 */
export function runQuery(company: Company, query: string, text: TextRule): Readonly<Record<string, unknown>> {
  const { entity, fields, isCount, conditions, order, start, size } = parseStatement(query);
  const schema = findEntity(company, entity);
  if (schema === undefined) throw invalidQuery(`Metadata not found for Entity: ${entity}`);
  const selected = fields.map((field) => requireProperty(schema, field).name);
  const matches = compileConditions(schema, withActive(schema, conditions), FOLDS[text]);
  const terms = [...order, { field: 'Id', descending: false }].map((term) => orderOf(schema, term, FOLDS[text]));
  const found = schema.table.rows().filter(matches);
  if (isCount) return { totalCount: found.length };
  const page = sortRows(found, terms).slice(start - 1, start - 1 + size);
  if (page.length === 0) return {};
  return { [schema.name]: page.map((row) => present(row, selected)), startPosition: start, maxResults: page.length };
}

/** Adds a condition for active records, unless the query has a condition on `Active`. */
function withActive({ properties }: Entity, conditions: readonly Condition[]): readonly Condition[] {
  const asks = conditions.some(({ field }) => field.toLowerCase() === 'active');
  if (properties.Active === undefined || asks) return conditions;
  return [...conditions, { field: 'Active', operator: '=', values: [{ text: 'true', isQuoted: false }] }];
}

function requireProperty(schema: Entity, field: string) {
  const found = findProperty(schema, field);
  if (found === undefined) throw invalidQuery(`Property ${field} not found for Entity ${schema.name}`);
  return found;
}

function compileConditions(schema: Entity, conditions: readonly Condition[], fold: (text: string) => string) {
  const compared = conditions.map((condition) => {
    const { name, property } = requireProperty(schema, condition.field);
    if (!property.isFilterable) throw invalidQuery(`property '${condition.field}' is not queryable`);
    return compare(name, property, condition, fold);
  });
  const operands = compared.map(({ test }, index) => ({ ...test, field: String(index) }));
  return compileFilter(
    { kind: 'and', operands },
    {
      field: (index) => compared[Number(index)]?.field,
      refuse: (_message, index) =>
        invalidQuery(`a value is not valid for property '${conditions[Number(index)]?.field}'`),
    },
  );
}

interface Compared {
  readonly field: FilterField;
  readonly test: Pick<FilterTest, 'kind' | 'operator' | 'values'>;
}

/** Returns a property and a condition on it for the kit's evaluator. */
function compare(name: string, property: Property, condition: Condition, fold: (text: string) => string): Compared {
  const { operator, values } = condition;
  const { kind } = property;
  const isText = kind === 'text' || kind === 'email';
  const isOrdered = operator !== '=' && operator !== 'IN' && operator !== 'LIKE';
  if (operator === 'LIKE' && !isText) throw invalidQuery(`operator LIKE is not supported for property '${name}'`);
  if (kind === 'boolean' && isOrdered) {
    throw invalidQuery(`operator ${operator} is not supported for property '${name}'`);
  }
  const type = typeOf(property, isOrdered);
  const field = { type, read: readerOf(name, property, isOrdered), fold: isText ? fold : undefined };
  // "Null is represented as the string ' '": a blank within quotes.
  if (operator === '=' && isText && values[0]?.text === ' ') {
    return { field, test: { kind: 'test', operator: 'IS NULL', values: [] } };
  }
  const literals = values.map((literal) => literalOf(name, property, literal));
  // The percent sign is the only wildcard.
  const escaped = operator === 'LIKE' ? literals.map((literal) => literal.replace(/[\\_]/g, '\\$&')) : literals;
  return { field, test: { kind: 'test', operator, values: escaped } };
}

function literalOf(name: string, { kind }: Property, { text, isQuoted }: Literal): string {
  if (kind === 'time') {
    const ms = readTime(text);
    if (ms === undefined) throw invalidQuery(`value '${text}' is not valid for property '${name}'`);
    return new Date(ms).toISOString();
  }
  const needsQuotes = kind === 'text' || kind === 'email' || kind === 'date';
  if (needsQuotes && !isQuoted) throw invalidQuery(`value ${text} is not valid for property '${name}'`);
  return text;
}

/** Returns the type with which a property compares. Ids are texts, but sort as numbers. */
function typeOf({ kind }: Property, isOrdered: boolean): FilterField['type'] {
  if (kind === 'id' || kind === 'ref') return isOrdered ? 'integer' : 'string';
  return TYPES[kind] ?? 'string';
}

const TYPES: Readonly<Record<string, FilterField['type']>> = {
  boolean: 'boolean',
  decimal: 'number',
  date: 'date',
  time: 'datetime',
};

/** Returns a reader of the compared value: the `value` of a reference, or the `Address` of an e-mail address. */
function readerOf(name: string, { kind }: Property, isOrdered: boolean): (row: TableRow) => unknown {
  if (kind === 'time') {
    const member = name === 'MetaData.CreateTime' ? 'createdMs' : 'updatedMs';
    return (row) => new Date(Number(row[member])).toISOString();
  }
  if (kind === 'id' && isOrdered) return (row) => Number(row[name]);
  if (kind === 'ref') return (row) => identifierOf(Object(row[name]).value, isOrdered);
  if (kind === 'email') return (row) => Object(row[name]).Address ?? null;
  return (row) => row[name] ?? null;
}

function identifierOf(value: unknown, isOrdered: boolean): unknown {
  if (value === undefined) return null;
  return isOrdered ? Number(value) : value;
}

function orderOf(
  schema: Entity,
  { field, descending }: { readonly field: string; readonly descending: boolean },
  fold: (text: string) => string,
): RowOrder {
  const { name, property } = requireProperty(schema, field);
  if (!property.isSortable) throw invalidQuery(`property '${field}' is not sortable`);
  const type = typeOf(property, true);
  return { type, read: readerOf(name, property, true), descending, fold: type === 'string' ? fold : undefined };
}
