import { type Fault, type TableRow, valueAt } from '#connector/simulator';
import { invalid } from './fault.ts';

/** The types of fields in a search, which decide the comparison. Source: "Search", search query language. */
type Kind = 'token' | 'string' | 'numeric';

/** The fields of each search, and where a record has them. Source: "Search", supported query fields for each resource. */
const FIELDS: Readonly<Record<string, Readonly<Record<Kind, string>>>> = {
  charges: {
    token:
      'billing_details.address.postal_code currency customer disputed payment_method_details.card.last4 payment_method_details.card.exp_month payment_method_details.card.exp_year payment_method_details.card.brand payment_method_details.card.fingerprint refunded status',
    string: '',
    numeric: 'amount created',
  },
  customers: { token: '', string: 'email name phone', numeric: 'created' },
  invoices: {
    token: 'currency customer last_finalization_error_code last_finalization_error_type',
    string: 'number receipt_number status subscription',
    numeric: 'created total',
  },
  payment_intents: { token: 'currency customer status', string: '', numeric: 'amount created' },
  prices: { token: 'active currency type', string: 'lookup_key product', numeric: '' },
  products: { token: 'active shippable', string: 'description name url', numeric: '' },
  subscriptions: { token: 'status', string: '', numeric: 'canceled_at created' },
};

/** Members whose path is not the name of the field. */
const PATHS: Readonly<Record<string, string>> = {
  last_finalization_error_code: 'last_finalization_error.code',
  last_finalization_error_type: 'last_finalization_error.type',
  subscription: 'parent.subscription_details.subscription',
};

const MOST_CLAUSES = 10;
const FEWEST_LETTERS = 3;

/** A clause: an optional `-`, a field, an operator, and a text in quotes, a number or null. */
const CLAUSE =
  /\s*(-?)(metadata\[(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]|[a-z0-9_.]+)\s*(:|~|<=|>=|<|>)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']+)/iy;
const JOIN = /\s+(and|or)\s+|\s+/iy;

type Test = (row: TableRow) => boolean;

/**
 * Compiles a query to a test of rows.
 * @throws Fault 400 for a query that the search does not accept
 */
export function compileSearch(name: string, query: string): Test {
  const tests: Test[] = [];
  const joins = new Set<string>();
  for (let at = 0; ; ) {
    CLAUSE.lastIndex = at;
    const [clause, minus, field = '', operator = '', value = ''] = CLAUSE.exec(query) ?? [];
    if (clause === undefined)
      throw invalid('We were unable to parse your search query. Learn more: https://stripe.com/docs/search');
    const test = compileClause(name, field, operator, value);
    tests.push(minus === '-' ? (row) => !test(row) : test);
    at += clause.length;
    if (query.slice(at).trim() === '') break;
    JOIN.lastIndex = at;
    const [join = '', word = 'and'] = JOIN.exec(query) ?? [];
    joins.add(word.toLowerCase());
    at += join.length;
  }
  if (joins.size > 1) throw invalid('AND and OR cannot be combined in one query.');
  if (tests.length > MOST_CLAUSES) throw invalid(`A query has at most ${MOST_CLAUSES} clauses.`);
  return joins.has('or') ? (row) => tests.some((test) => test(row)) : (row) => tests.every((test) => test(row));
}

function compileClause(name: string, field: string, operator: string, written: string): Test {
  const kind = kindOf(name, field);
  const path = kind === 'metadata' ? undefined : (PATHS[field] ?? field);
  const key = unquote(/^metadata\[(.*)\]$/is.exec(field)?.[1] ?? '');
  const read = (row: TableRow) => (path === undefined ? Object(row.metadata ?? {})[key] : valueAt(row, path));
  if (operator === ':' && written.toLowerCase() === 'null') return (row) => read(row) == null;
  const isQuoted = /^["']/.test(written);
  const text = unquote(written);
  if (kind === 'numeric') {
    const number = Number(text);
    const compare = COMPARES[operator];
    if (compare === undefined || text.trim() === '' || Number.isNaN(number)) throw unsupported(field, operator);
    return (row) => read(row) != null && compare(Number(read(row)), number);
  }
  if (!isQuoted && !/^-?\d+$/.test(text)) throw invalid(`The value of \`${field}\` needs quotation marks.`);
  const wanted = text.toLowerCase();
  if (operator === ':' && kind !== 'string')
    return (row) => read(row) != null && String(read(row)).toLowerCase() === wanted;
  if (operator === ':') return (row) => read(row) != null && hasWords(String(read(row)), text);
  if (operator !== '~' || kind === 'token') throw unsupported(field, operator);
  if (text.length < FEWEST_LETTERS) throw invalid(`A substring needs ${FEWEST_LETTERS} characters.`);
  return (row) => read(row) != null && String(read(row)).toLowerCase().includes(wanted);
}

function kindOf(name: string, field: string): Kind | 'metadata' {
  if (/^metadata\[/i.test(field)) return 'metadata';
  const fields = FIELDS[name];
  const kind = (['token', 'string', 'numeric'] as const).find((each) => fields?.[each].split(' ').includes(field));
  if (kind === undefined) throw invalid(`Field \`${field}\` is an unsupported search field for resource \`${name}\`.`);
  return kind;
}

/** The comparisons of searches, and those of lists under their words. */
export const COMPARES: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
  ':': (left, right) => left === right,
};

/** An exact match of a string finds every text with all words of the query in the same order. */
function hasWords(text: string, query: string): boolean {
  const [words, wanted] = [wordsOf(text), wordsOf(query)];
  if (wanted.length === 0) return text.toLowerCase() === query.toLowerCase();
  return words.some((_, start) => wanted.every((word, index) => words[start + index] === word));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

function unquote(written: string): string {
  return /^["']/.test(written) ? written.slice(1, -1).replace(/\\(.)/gs, '$1') : written;
}

function unsupported(field: string, operator: string): Fault {
  return invalid(`The operator \`${operator}\` is not supported for the field \`${field}\`.`);
}
