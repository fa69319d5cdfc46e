import {
  compileFilter,
  DAY_MS,
  type FilterTest,
  type FilterTree,
  filterFieldOf,
  type Members,
  type TableRow,
} from '#connector/simulator';
import { badQuery, type Comparison, parseTicketSql } from './ticket-sql.ts';

/**
 * Compiles a query.
 * @throws Fault 400 for a syntax error, and for unknown fields
 */
export function compileQuery(query: string, members: Members, queues: readonly TableRow[]): (row: TableRow) => boolean {
  const tree = parseTicketSql(query, (comparison) => toTest(comparison, members, queues));
  return compileFilter(tree, { field: (name) => fieldOf(members, name), refuse: (message) => badQuery(message) });
}

/** Folds a text as most databases do in comparisons. */
const fold = (text: string) => text.toLowerCase();

export function fieldOf(members: Members, name: string) {
  const field = filterFieldOf(members, name);
  return field && { ...field, fold };
}

const NOTHING: FilterTree = { kind: 'or', operands: [] };

function toTest({ field, operator, value }: Comparison, members: Members, queues: readonly TableRow[]): FilterTree {
  if (fieldOf(members, field) === undefined) throw badQuery(`Unknown field: ${field}`);
  const test = (wanted: FilterTest['operator'], ...values: readonly string[]): FilterTest => ({
    kind: 'test',
    field,
    operator: wanted,
    values,
  });
  if (operator.startsWith('IS')) return test(operator === 'IS' ? 'IS NULL' : 'IS NOT NULL');
  // Request Tracker reads it as the name of a column, even in quotes.
  if (/^CF\./i.test(value)) return NOTHING;
  const pattern = PATTERNS[operator.replace('NOT ', '')];
  if (pattern !== undefined) return test(operator.startsWith('NOT') ? 'NOT LIKE' : 'LIKE', pattern(value));
  if (!isComparison(operator)) throw badQuery(`Invalid operator ${operator}`);
  const { type, refersTo } = members[field] ?? {};
  if (refersTo === 'queues') return test(operator, queueOf(value, queues));
  if (type !== 'datetime') return test(operator, value);
  const ms = readLocal(value);
  const instant = (at: number) => new Date(at).toISOString();
  if (operator !== '=') return test(operator, instant(ms));
  const start = Math.floor((ms - SHIFT_MS) / DAY_MS) * DAY_MS + SHIFT_MS;
  return { kind: 'and', operands: [test('>=', instant(start)), test('<', instant(start + DAY_MS))] };
}

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  LIKE: (text) => `%${text}%`,
  STARTSWITH: (text) => `${text}%`,
  ENDSWITH: (text) => `%${text}`,
};

function isComparison(operator: string): operator is '=' | '!=' | '<' | '<=' | '>' | '>=' {
  return ['=', '!=', '<', '<=', '>', '>='].includes(operator);
}

function queueOf(value: string, queues: readonly TableRow[]): string {
  const queue = queues.find(({ id, Name }) => String(id) === value || fold(String(Name)) === fold(value));
  return String(queue?.id ?? 0);
}

const SHIFT_MS = 5 * 60 * 60 * 1000;

/** Reads a time of a query. The user's time zone is five hours behind UTC, and a zone in the text is ignored. */
function readLocal(text: string): number {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2}))?/.exec(text) ?? [];
  const ms = Date.parse(`${day}T${time}Z`) + SHIFT_MS;
  return Number.isNaN(ms) ? 0 : ms;
}
