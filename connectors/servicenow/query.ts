import {
  json,
  type LikePattern,
  type ListInput,
  nativesOf,
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
 * Maximum length of an encoded filter. A URL has at most 8,192 characters, and a letter may take nine of them. The remainder is for the
 * host, fields, order and parent.
 */
const MAX_FILTER = 4500;
const MAX_FIELDS = 2500;

const PATTERNS: Readonly<Partial<Record<LikePattern['form'], string>>> = {
  prefix: 'STARTSWITH',
  suffix: 'ENDSWITH',
  contains: 'LIKE',
};

/**
 * Translates filters to encoded queries. `^OR` joins a condition to the one before it, and `^` joins the results, so the language has ANDs
 * of ORs without nesting. `^NQ` would begin another query, to which ServiceNow does not add the rules that hide rows from users
 * (KB0564887).
 */
const translator: Translator<string> = {
  and: (operands) => operands.join('^'),
  or: (operands) => operands.join('^OR'),
  compare: ({ native }, operator, value) => `${native}${operator}${literalOf(value)}`,
  in: ({ native }, values, negated) => {
    const literals = values.map(literalOf);
    if (!literals.some((literal) => literal.includes(','))) {
      return `${native}${negated ? 'NOT IN' : 'IN'}${literals.join(',')}`;
    }
    // A list cannot contain a comma.
    return literals.map((literal) => `${native}${negated ? '!=' : '='}${literal}`).join(negated ? '^' : '^OR');
  },
  // Patterns are never negated: see the texts of `fields.ts`. ServiceNow does not document whether blanks at the ends count.
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
 * Returns the list operation of a table. ServiceNow removes rows that the user may not see after it has cut the page. So a page may be
 * short or empty although others follow, and an offset does not count only visible rows.
 * @param scope returns a condition in addition to the filter
 */
export function listOf(table: string, scope: (input: ListInput<string>) => string | undefined = () => undefined) {
  return {
    request: (input: ListInput<string>): ProviderRequest => {
      const conditions = [scope(input), input.filter].filter((part) => part !== undefined);
      const fields = nativesOf(input).join(',');
      return {
        path: path`/table/${table}`,
        query: {
          ...PLAIN,
          sysparm_query: [...conditions, ...orderOf(input)].join('^'),
          sysparm_fields: fields === '' || lengthOf(fields) > MAX_FIELDS ? undefined : fields,
          sysparm_limit: input.limit,
          sysparm_offset: offsetOf(input),
          // These headers would repeat the query up to four times. Every response has the number of rows.
          sysparm_suppress_pagination_header: 'true',
        },
      };
    },
    read: (response: ProviderResponse, input: ListInput<string>) => {
      const end = offsetOf(input) + input.limit;
      const records = json.objects(json.at(response.body, 'result'), 'the records');
      // The number includes hidden rows, so it is not returned as the total.
      return { records, ...(end < countOf(response) && { next: String(end) }) };
    },
    maxPageSize: MAX_PAGE_SIZE,
  };
}

/** Returns the record of a response to an operation on a single record. */
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

/** Returns the terms of the order. Without a total order, pages repeat or skip rows. */
function orderOf({ orderBy }: Pick<ListInput<unknown>, 'orderBy'>): readonly string[] {
  const terms = orderBy.map(({ field, direction }) => `ORDERBY${direction === 'desc' ? 'DESC' : ''}${field.native}`);
  const isComplete = orderBy.some(({ field }) => field.native === ID);
  return isComplete ? terms : [...terms, `ORDERBY${ID}`];
}
