import {
  json,
  type LikePattern,
  type ListInput,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  path,
  type Translator,
} from '#connector';
import { escapeText, literalOf } from './literals.ts';

/** Parameters of every read: values as they are stored, and only the id of references. */
export const PLAIN = { sysparm_display_value: 'false', sysparm_exclude_reference_link: 'true' } as const;

export const ID = 'sys_id';

/**
 * Maximum length of a filter, of the 8,192 characters of an address, in which a letter may take nine. The rest is for host, fields, order
 * and parent.
 */
const MAX_FILTER = 4500;
const MAX_FIELDS = 2500;

const PATTERNS: Readonly<Partial<Record<LikePattern['form'], string>>> = {
  prefix: 'STARTSWITH',
  suffix: 'ENDSWITH',
  contains: 'LIKE',
};

/**
 * Translates filters to encoded queries. `^OR` joins a condition to the one before it, and `^` joins the results: so an AND of ORs, without
 * nesting. `^NQ` would begin another query, to which ServiceNow does not add the rules that hide rows from users (KB0564887).
 */
export const translator: Translator<string> = {
  and: (operands) => operands.join('^'),
  or: (operands) => operands.join('^OR'),
  compare: ({ native }, operator, value) => `${native}${operator}${literalOf(value)}`,
  in: ({ native }, values, negated) => {
    const literals = values.map(literalOf);
    if (!literals.some((literal) => literal.includes(','))) {
      return `${native}${negated ? 'NOT IN' : 'IN'}${literals.join(',')}`;
    }
    // A list has no way to say a comma.
    return literals.map((literal) => `${native}${negated ? '!=' : '='}${literal}`).join(negated ? '^' : '^OR');
  },
  // Negated ones are never asked: see the texts of `fields.ts`. Whether blanks at the ends count is not documented.
  like: ({ native }, { form, text }) => {
    const sure = text.trim();
    if (sure === '') return `${native}ISNOTEMPTY`;
    return `${native}${(sure === text ? PATTERNS[form] : undefined) ?? 'LIKE'}${escapeText(sure)}`;
  },
  isNull: ({ native }, negated) => `${native}${negated ? 'ISNOTEMPTY' : 'ISEMPTY'}`,
  fault: (filter) =>
    lengthOf(filter) > MAX_FILTER
      ? `the provider accepts filters of at most ${MAX_FILTER} characters in a URL`
      : undefined,
};

function lengthOf(text: string): number {
  return encodeURIComponent(text.toWellFormed()).length;
}

export const FILTERING = {
  shape: { kind: 'cnf' },
  limits: { maxSortFields: 8 },
  translator,
} as const satisfies Partial<ObjectSpec<string>>;

const MAX_PAGE_SIZE = 1000;

/**
 * Rows of a table. `scope` says which, beside the filter. Rows that the user may not see are left out of a page after it was cut: so a page
 * may be short or empty and others follow, and a place in the list is that of no row that is seen.
 */
export function listOf(table: string, scope: (input: ListInput<string>) => string | undefined = () => undefined) {
  return {
    request: (input: ListInput<string>): ProviderRequest => {
      const conditions = [scope(input), input.filter].filter((part) => part !== undefined);
      const fields = [...new Set(input.fields.map(({ native }) => native))].join(',');
      return {
        path: path`/table/${table}`,
        query: {
          ...PLAIN,
          sysparm_query: [...conditions, ...orderOf(input)].join('^'),
          sysparm_fields: fields === '' || lengthOf(fields) > MAX_FIELDS ? undefined : fields,
          sysparm_limit: input.limit,
          sysparm_offset: offsetOf(input),
          // They would repeat the query up to four times. The number of rows comes with every answer.
          sysparm_suppress_pagination_header: 'true',
        },
      };
    },
    read: (response: ProviderResponse, input: ListInput<string>) => {
      const end = offsetOf(input) + input.limit;
      const records = json.objects(json.at(response.body, 'result'), 'the records');
      // It counts hidden rows too, so it is not told as the number of all.
      return { records, ...(end < countOf(response) && { next: String(end) }) };
    },
    maxPageSize: MAX_PAGE_SIZE,
  };
}

/** The answer to everything that is done to one record. */
export function recordIn({ body }: ProviderResponse): unknown {
  return json.object(json.at(body, 'result'), 'the record');
}

function offsetOf({ cursor = '0' }: Pick<ListInput<unknown>, 'cursor'>): number {
  return Number(cursor);
}

/** Returns the number of rows on all pages. */
export function countOf({ headers }: ProviderResponse): number {
  return json.count(headers['x-total-count'], 'the number of all rows');
}

/** Without an order that is the same every time, rows come twice or not at all. */
function orderOf({ orderBy }: Pick<ListInput<unknown>, 'orderBy'>): readonly string[] {
  const terms = orderBy.map(({ field, direction }) => `ORDERBY${direction === 'desc' ? 'DESC' : ''}${field.native}`);
  const isComplete = orderBy.some(({ field }) => field.native === ID);
  return isComplete ? terms : [...terms, `ORDERBY${ID}`];
}
