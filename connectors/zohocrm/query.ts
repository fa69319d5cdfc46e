import {
  type ConnectorContext,
  infix,
  type Json,
  json,
  type ListOperation,
  type ListQuery,
  list,
  nativesOf,
  type ProviderRequest,
  plainText,
  quoteDoubled,
  type Value,
} from '#connector';
import { isReserved } from './fields.ts';

/** Joins by pairs, `((a and b) and c)`, as COQL demands it. */
const inPairs = (word: string) => (operands: readonly string[]) =>
  operands.reduce((joined, operand) => `(${joined} ${word} ${operand})`);

/** Returns a quoted text. Source: "FAQs on COQL API", the escape of single quotes. */
function literal(value: Value): string {
  if (value.kind === 'number') return value.text;
  return quoteDoubled(value.kind === 'datetime' ? writeInstant(value.text) : plainText(value));
}

/** Returns an instant in UTC as Zoho CRM documents instants: with an offset, and without a fraction. */
export function writeInstant(text: string): string {
  return text.replace(/(?:\.\d+)?Z$/, '+00:00');
}

/** Filters as the WHERE clause of COQL. Source: "Query API - An Overview", "Query API - Limitations". */
const translator = {
  ...infix({
    and: 'and',
    or: 'or',
    words: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
    literal,
    in: (field, literals) => `${field} in (${literals.join(', ')})`,
    notIn: (field, literals) => `${field} not in (${literals.join(', ')})`,
    like: {
      prefix: (field, _, { text }) => `${field} like ${quoteDoubled(`${text}%`)}`,
      suffix: (field, _, { text }) => `${field} like ${quoteDoubled(`%${text}`)}`,
      contains: (field, _, { text }) => `${field} like ${quoteDoubled(`%${text}%`)}`,
    },
    isNull: (field) => `${field} is null`,
    isNotNull: (field) => `${field} is not null`,
  }),
  and: inPairs('and'),
  or: inPairs('or'),
};

export const FILTERING = {
  translator,
  shape: { kind: 'any' },
  limits: { maxTerms: 25, maxInSize: 50, maxLength: 8000, resultWindow: 100_000, maxSortFields: 10 },
} as const;

const MOST_COLUMNS = 50;
/** Records that cost one credit. A page can have 2,000. */
const MOST_RECORDS = 200;

/** Returns a query. A query that finds nothing has no body. */
function select(statement: string): ProviderRequest {
  // A query by POST changes nothing, so it may be sent again.
  return { method: 'POST', path: '/crm/v8/coql', idempotent: true, json: { select_query: statement } };
}

function columns(natives: readonly string[]): string {
  return natives.map((native) => (isReserved(native) ? `'${native}'` : native)).join(', ');
}

/** Returns whether a response has no body. Zoho CRM sends none where it finds nothing. */
export const isEmpty = (body: unknown) => body == null || body === '';

const toRows = (body: unknown) => (isEmpty(body) ? [] : json.objects(json.at(body, 'data'), 'the records'));

/** Returns the list of a module. A query selects up to 50 fields, so the others are read by further queries. */
export function listOf(module: string): ListOperation<string> {
  const withId = (natives: readonly string[]) => ['id', ...natives.filter((native) => native !== 'id')];
  const pages = list<string>({
    request: ({ natives, filter, order, page }: ListQuery<string>) =>
      select(
        `select ${columns(withId(natives).slice(0, MOST_COLUMNS))} from ${module} where ${filter ?? 'id is not null'}` +
          ` order by ${order} limit ${page.limit} offset ${page.offset}`,
      ),
    rows: toRows,
    paging: {
      kind: 'offset',
      ...{ offset: 'offset', size: 'limit', max: MOST_RECORDS },
      more: ({ body }) => json.at(body, 'info', 'more_records') === true,
    },
    order: { term: (native, direction) => `${native} ${direction}`, join: ', ', id: 'id' },
  });
  return {
    ...pages,
    run: async (context, input) => {
      const page = pages.read(await context.send(pages.request(input, context.config)), input);
      const others = withId(nativesOf(input)).slice(MOST_COLUMNS);
      return others.length === 0 ? page : { ...page, records: await addColumns(context, module, page.records, others) };
    },
  };
}

/** Reads the other columns of records. A record that was deleted in between keeps those that it has. */
async function addColumns(
  { send }: ConnectorContext,
  module: string,
  records: readonly unknown[],
  natives: readonly string[],
): Promise<readonly Json[]> {
  const rows = records.map((record) => json.object(record, 'a record'));
  const byId = new Map(rows.map((row) => [String(row.id), row]));
  for (let column = 0; column < natives.length; column += MOST_COLUMNS - 1) {
    const some = columns(['id', ...natives.slice(column, column + MOST_COLUMNS - 1)]);
    for (let row = 0; row < rows.length; row += FILTERING.limits.maxInSize) {
      const ids = rows.slice(row, row + FILTERING.limits.maxInSize).map(({ id }) => quoteDoubled(String(id)));
      const { body } = await send(
        select(`select ${some} from ${module} where id in (${ids.join(', ')}) limit ${MOST_RECORDS}`),
      );
      for (const more of toRows(body)) byId.set(String(more.id), { ...byId.get(String(more.id)), ...more });
    }
  }
  return rows.map((row) => byId.get(String(row.id)) ?? row);
}
