import {
  compileFilter,
  createTimeZone,
  escapePattern,
  Fault,
  type FilterLiteral,
  type FilterTest,
  FOLDS,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import { ATTRIBUTES, WORKSPACE } from './account.ts';

/** A field of a search: its type, and its place in a row. */
interface Searched {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly read: (row: TableRow) => unknown;
}

const at = (path: string) => (row: TableRow) => valueAt(row, path) ?? null;
const named = (type: Searched['type'], names: string) =>
  names.split(' ').map((name): [string, Searched] => [name, { type, read: at(name) }]);
const ids = (path: string) => (row: TableRow) => Object(valueAt(row, path) ?? []).map(({ id }: TableRow) => id);
const TERMS: Readonly<Record<string, string>> = { Customer: 'request', 'Back-office': 'task', Tracker: 'tracker' };
const TYPES: Readonly<Record<string, Searched['type']>> = { integer: 'integer', float: 'number', decimal: 'number' };
const typeOf = (type: string) =>
  TYPES[type] ?? (type === 'boolean' ? 'boolean' : type.startsWith('date') ? 'date' : 'string');

function custom(object: string, holder: string, nameOf: (name: string, index: number) => string) {
  return (ATTRIBUTES[object] ?? []).map(({ name, type }, index): [string, Searched] => [
    nameOf(name, index),
    { type: typeOf(type), read: (row) => Object(row[holder])[name] ?? null },
  ]);
}

/** The fields of each search. Source: the tables "Accepted Fields" of the document. */
const FIELDS: Readonly<Record<string, ReadonlyMap<string, Searched>>> = {
  contacts: new Map([
    ...named('string', 'id role name owner_id email email_domain phone external_id language_override browser os'),
    ...named('string', 'browser_language location.country location.region location.city ios_app_version ios_device'),
    ...named('string', 'ios_os_version ios_app_name ios_sdk_version android_app_version android_device'),
    ...named('string', 'android_app_name'),
    ...named('date', 'created_at updated_at signed_up_at last_seen_at last_contacted_at last_replied_at'),
    ...named('date', 'last_email_opened_at last_email_clicked_at ios_last_seen_at android_last_seen_at'),
    ...named('boolean', 'unsubscribed_from_emails marked_email_as_spam has_hard_bounced'),
    ...custom('contacts', 'custom_attributes', (name) => `custom_attributes.${name}`),
  ]),
  conversations: new Map<string, Searched>([
    ...named('string', 'id source.type source.id source.delivered_as source.subject source.author.id source.url'),
    ...named('string', 'source.author.type source.author.name source.author.email source.body state priority'),
    ...named('date', 'created_at updated_at waiting_since snoozed_until'),
    ...named('integer', 'admin_assignee_id team_assignee_id'),
    ...named('boolean', 'open read ai_agent_participated'),
    ['contact_ids', { type: 'string', read: ids('contacts.contacts') }],
    ...custom('conversations', 'custom_attributes', (name) => `custom_attributes.${name}`),
  ]),
  tickets: new Map<string, Searched>([
    ...named('string', 'id admin_assignee_id team_assignee_id'),
    ...named('date', 'created_at updated_at snoozed_until'),
    ...named('boolean', 'open'),
    ['title', { type: 'string', read: at('ticket_attributes._default_title_') }],
    ['description', { type: 'string', read: at('ticket_attributes._default_description_') }],
    ['category', { type: 'string', read: ({ category }) => TERMS[String(category)] ?? null }],
    ['ticket_type_id', { type: 'string', read: at('ticket_type.id') }],
    ['state', { type: 'string', read: at('ticket_state.category') }],
    ['contact_ids', { type: 'string', read: ids('contacts.contacts') }],
    ...custom('tickets', 'ticket_attributes', (_, index) => `ticket_attribute.${300 + index}`),
  ]),
};

type Test = (row: TableRow) => boolean;
type Operator = FilterTest['operator'];

const OPERATORS: Readonly<Record<string, Operator>> = {
  ...{ '=': '=', '!=': '!=', IN: 'IN', NIN: 'NOT IN', '<': '<', '>': '>', '<=': '<=', '>=': '>=' },
  ...{ '~': 'LIKE', '^': 'LIKE', $: 'LIKE', '!~': 'NOT LIKE' },
};
const TEXTS: readonly Operator[] = ['=', '!=', 'IN', 'NOT IN', 'LIKE', 'NOT LIKE'];
const NUMBERS: readonly Operator[] = ['=', '!=', 'IN', 'NOT IN', '<', '<=', '>', '>='];
const ACCEPTED: Readonly<Record<Searched['type'], readonly Operator[]>> = {
  ...{ string: TEXTS, boolean: TEXTS.slice(0, 4), integer: NUMBERS, number: NUMBERS, date: ['=', '<', '>'] },
};
const MOST_FILTERS = 15;
const zone = createTimeZone(WORKSPACE.timezone);

/** Returns the calendar day of an instant in the workspace's time zone. */
function dayOf(seconds: number): number {
  return Math.floor((seconds * 1000 + zone.offsetAt(seconds * 1000)) / 86_400_000);
}

/**
 * Compiles a query: `{ field, operator, value }`, or groups in at most two levels.
 * @throws Fault 400
 */
export function compileSearch(object: string, query: TableRow, level = 1): Test {
  const { field, operator, value } = query;
  if (operator !== 'AND' && operator !== 'OR')
    return compileLeaf(object, String(field), String(operator), value as FilterLiteral);
  const operands = Array.isArray(value) ? value : [];
  if (level > 2) throw refused('There is a limit of 2 nested filters');
  if (operands.length === 0 || operands.length > MOST_FILTERS)
    throw refused(`A group has 1 to ${MOST_FILTERS} filters`);
  const tests = operands.map((operand) => compileSearch(object, Object(operand), level + 1));
  return (row) => (operator === 'AND' ? tests.every((test) => test(row)) : tests.some((test) => test(row)));
}

function compileLeaf(object: string, name: string, word: string, value: FilterLiteral | FilterLiteral[]): Test {
  const searched = FIELDS[object]?.get(name);
  const operator = OPERATORS[word];
  if (searched === undefined || operator === undefined) throw refused(`Invalid field or operator: ${name} ${word}`);
  const { type, read } = searched;
  if (!ACCEPTED[type].includes(operator)) throw refused(`${word} is not supported on ${name}`);
  const values: readonly FilterLiteral[] = [value].flat();
  if (operator.endsWith('IN') !== Array.isArray(value)) throw refused(`${name}: the value does not fit ${word}`);
  if (value === null) return (row) => (read(row) === null) === (word === '=');
  const of = { type: type === 'date' ? 'integer' : type, fold: FOLDS['ignoring case'] } as const;
  const test = compileFilter(
    { kind: 'test', field: 'value', of, operator, values: values.map((each) => literalOf(searched, word, each)) },
    {
      // Whether a negation finds missing values is not documented. Here it does.
      ofNull: { '!=': true, 'NOT IN': true, 'NOT LIKE': true },
      refuse: () => refused(`${name}: the value is not valid`),
    },
  );
  const held = (each: unknown) => test({ value: type === 'date' && each !== null ? dayOf(Number(each)) : each });
  const isNegated = word === '!=' || word === 'NIN';
  return (row) => {
    const own = read(row);
    if (!Array.isArray(own)) return held(own);
    return isNegated ? own.every(held) : own.some(held);
  };
}

function literalOf({ type }: Searched, word: string, value: FilterLiteral): FilterLiteral {
  if (type === 'date') {
    if (!/^\d+$/.test(String(value))) throw refused('Timestamps are seconds since 1970');
    return dayOf(Number(value));
  }
  const text = escapePattern(String(value));
  const within = `%${text}%`;
  const patterns: Readonly<Record<string, string>> = { '~': within, '!~': within, '^': `${text}%`, $: `%${text}` };
  return patterns[word] ?? value;
}

function refused(message: string): Fault {
  return new Fault(400, 'parameter_invalid', message);
}
