import {
  type ComparisonOperator,
  type Input,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListInput,
  type ListOperation,
  type ListQuery,
  list,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
  type Translator,
  type Value,
} from '#connector';
import { ALL_DECIMALS, amountOf, decimalsOf, minorAt } from './amounts.ts';

/**
 * A filter in both of Stripe's forms: the parameters of a list, which are always up to date, and the text of a search, which can do more
 * and is up to a minute behind. The list is used where its parameters are enough.
 */
export interface Filter {
  readonly inputs?: Inputs | undefined;
  readonly query?: string;
  /** The word that joins the clauses of the search. Stripe accepts one of them in a query. */
  readonly joined?: 'AND' | 'OR';
  /** The number of clauses. */
  readonly clauses: number;
  /** The currency of all rows that the filter finds. */
  readonly currency?: string;
  /** Returns the filter for rows of one currency. Without one, an amount in units of the currency stands for several in the smallest unit. */
  readonly within?: (currency: string) => Filter;
}

/** The filters of an object, by fields. */
export interface Filtering {
  /** The fields that a search can filter by, separated by blanks. Absent for an object without a search. */
  readonly search?: string;
  readonly inputs: Readonly<Record<string, Input>>;
}

/** A parameter that accepts several values. */
export const anyOf = (name: string): Input => ({ repeated: `${name}[]`, text: (_native, _operator, value) => value });

/** The parameters of a time: `created[gte]`. */
export const between = (name: string): Input => ({
  by: { '>': `${name}[gt]`, '>=': `${name}[gte]`, '<': `${name}[lt]`, '<=': `${name}[lte]` },
});

const LONGEST_QUERY = 5000;
/** Stripe documents no maximum of clauses, so queries stay small. */
const MOST_CLAUSES = 10;
const SHORTEST_PART = 3;

/** Returns the translator of an object's filters, with the shape and the limits of Stripe's search. */
export function filterBy({ search, inputs: table }: Filtering) {
  return {
    translator: createTranslator(search?.split(' '), table),
    ...(search !== undefined && { shape: { kind: 'and-xor-or' } as const }),
    limits: { maxTerms: MOST_CLAUSES, maxInSize: MOST_CLAUSES },
  };
}

function createTranslator(
  searched: readonly string[] | undefined,
  table: Filtering['inputs'],
): Translator<Filter> & Required<Pick<Translator<Filter>, 'and' | 'compare' | 'in'>> {
  const lists = inputs(table, ',', { text: printValue });
  // A parameter has one value, so two values are left to the search.
  const join: Join = (operands) => {
    const joined = lists.and?.(operands) ?? {};
    return lists.fault?.(joined) === undefined ? joined : undefined;
  };
  const isSearched = ({ name }: PushedField) =>
    searched?.includes(amountOf(name) ?? name) === true || name.startsWith('metadata.');
  const clause = (field: PushedField, print: (name: string) => string): Partial<Filter> =>
    searched !== undefined && isSearched(field) ? { query: print(searchName(field)) } : {};

  const inputsOf = (field: PushedField, operator: ComparisonOperator, value: Value) => {
    const isRange = operator === '=' && Object.hasOwn(Object(table[field.name]), 'by');
    const ends = isRange ? (['>=', '<='] as const) : [operator];
    return join(ends.map((end) => lists.compare?.(field, end, value) ?? {}));
  };

  return {
    nulls: 'different',
    and: (operands) => joinBy('AND', operands, join),
    or: (operands) => joinBy('OR', operands, join),
    compare: (field, operator, value) => {
      const amount = amountOf(field.name);
      if (amount !== undefined) return compareMajor(amount, operator, value);
      return {
        clauses: 1,
        ...clause(field, (name) => printClause(name, operator, value)),
        ...(hasInput(table[field.name], operator) && { inputs: inputsOf(field, operator, value) }),
        ...(field.name === 'currency' && operator === '=' && { currency: printValue(value) }),
      };
    },
    in: (field, values, negated) => {
      const amount = amountOf(field.name);
      if (amount !== undefined) return anyOfMajor(amount, values);
      const input = table[field.name];
      const isListed = !negated && typeof input === 'object' && 'repeated' in input;
      return {
        clauses: values.length,
        ...clause(field, (name) =>
          values.map((each) => printClause(name, negated ? '!=' : '=', each)).join(negated ? ' AND ' : ' OR '),
        ),
        ...(values.length > 1 && { joined: negated ? 'AND' : 'OR' }),
        ...(isListed && { inputs: join(values.map((value) => inputsOf(field, '=', value) ?? {})) }),
      };
    },
    like: (field, { text }) => ({
      clauses: 1,
      ...(text.length >= SHORTEST_PART && clause(field, (name) => `${name}~${quote(text)}`)),
    }),
    isNull: (field, negated) => ({ clauses: 1, ...clause(field, (name) => `${negated ? '-' : ''}${name}:null`) }),
    terms: ({ clauses }) => clauses,
    fault: (native) => {
      if (native.inputs !== undefined) return undefined;
      if (native.query === undefined) return 'neither the list nor the search of the provider has this combination';
      return native.query.length > LONGEST_QUERY ? 'the query is too long' : undefined;
    },
  };
}

/** Joins parameters. It returns undefined where one of them would need two values. */
type Join = (operands: readonly Inputs[]) => Inputs | undefined;

function joinBy(word: 'AND' | 'OR', given: readonly Filter[], join: Join): Filter {
  const currency = word === 'AND' ? given.find((each) => each.currency !== undefined)?.currency : undefined;
  const operands = currency === undefined ? given : given.map((operand) => operand.within?.(currency) ?? operand);
  const [first] = operands;
  if (first !== undefined && operands.length === 1) return first;
  const queries = operands.flatMap(({ query, joined = word }) => (query !== undefined && joined === word ? query : []));
  const listed = operands.flatMap(({ inputs: own }) => (own === undefined ? [] : [own]));
  return {
    clauses: operands.reduce((sum, { clauses }) => sum + clauses, 0),
    joined: word,
    ...(queries.length === operands.length && { query: queries.join(` ${word} `) }),
    ...(word === 'AND' && listed.length === operands.length && { inputs: join(listed) }),
  };
}

/** Compares an amount in units of its currency, with all amounts that it can be in the smallest unit. */
function compareMajor(amount: string, operator: ComparisonOperator, value: Value): Filter {
  if (operator === '=') return anyOfMajor(amount, [value]);
  const major = printValue(value);
  const isUpper = operator === '<' || operator === '<=';
  // The widest bound is the one of the currencies with the fewest decimals or with the most.
  const isFarthest = isUpper !== major.startsWith('-');
  const decimals = ALL_DECIMALS.at(isFarthest ? -1 : 0) ?? 0;
  return {
    ...clausesOf([boundAt(amount, operator, major, decimals)]),
    within: (currency) => clausesOf([boundAt(amount, operator, major, decimalsOf(currency))]),
  };
}

function boundAt(amount: string, operator: ComparisonOperator, major: string, decimals: number): string {
  const { floor, isWhole } = minorAt(major, decimals);
  if (isWhole) return amount + operator + floor;
  return amount + (operator.startsWith('<') ? '<=' : '>') + floor;
}

function anyOfMajor(amount: string, values: readonly Value[]): Filter {
  const at = (all: readonly number[]) => {
    const found = values.flatMap((value) => all.map((decimals) => minorAt(printValue(value), decimals)));
    const minors = found.filter(({ isWhole }) => isWhole).map(({ floor }) => floor);
    // No row has such an amount, so the rows that are found are checked in vain.
    const [some = '0'] = found.map(({ floor }) => floor);
    return clausesOf([...new Set(minors.length === 0 ? [some] : minors)].map((minor) => `${amount}:${minor}`));
  };
  return { ...at(ALL_DECIMALS), within: (currency) => at([decimalsOf(currency)]) };
}

function clausesOf(clauses: readonly string[]): Filter {
  return {
    clauses: clauses.length,
    query: clauses.join(' OR '),
    ...(clauses.length > 1 && { joined: 'OR' as const }),
  };
}

function hasInput(input: Input | undefined, operator: string): boolean {
  if (input === undefined) return false;
  return typeof input === 'object' && 'by' in input ? operator !== '!=' : operator === '=';
}

/** `metadata["order_id"]` for the field `metadata.order_id`. */
function searchName({ name }: PushedField): string {
  return name.replace(/^metadata\.(.*)$/s, (_, key: string) => `metadata[${quote(key)}]`);
}

/** The field whose false includes records that are refunded in part and records that are not refunded at all. */
const REFUNDED = 'refunded';

function printClause(name: string, operator: string, value: Value): string {
  if (name === REFUNDED && value.kind === 'boolean') {
    return `${value.value === (operator === '=') ? '' : '-'}${name}:"true"`;
  }
  const text = value.kind === 'number' || value.kind === 'datetime' ? printValue(value) : quote(printValue(value));
  return operator === '=' || operator === '!='
    ? `${operator === '=' ? '' : '-'}${name}:${text}`
    : name + operator + text;
}

function printValue(value: Value): string {
  if (value.kind === 'datetime') return String(Math.floor(value.epochMs / 1000));
  return value.kind === 'string' || value.kind === 'boolean' ? String(value.value) : value.text;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '\\"')}"`;
}

const MOST_ROWS = 100;

/** A list of Stripe. */
export interface Source {
  readonly path: string;
  /** The members that only a request for them includes, separated by blanks. */
  readonly expand?: string;
  /** The parameters of every request to the list. */
  readonly always?: Readonly<Record<string, string>>;
  /** Adds members to a record that Stripe does not have. */
  readonly readRecord?: (row: unknown) => Json;
}

/** Returns the names of the requested members that must be expanded. */
export function expansionsOf({ expand = '' }: Source, natives: readonly string[], prefix = ''): Inputs {
  const names = natives.filter((native) => expand.split(' ').includes(native)).map((native) => prefix + native);
  return names.length === 0 ? {} : { 'expand[]': names };
}

/** Returns the operation for a list and its search. */
export function listOf(source: Source): ListOperation<Filter> {
  const byId = pagesOf(source, {
    cursor: 'starting_after',
    next: ({ body }) => (json.at(body, 'has_more') === true ? lastId(body) : undefined),
    request: ({ filter, page, natives, parentId }) => ({
      path: source.path.replace('{id}', encodeURIComponent(parentId ?? '')),
      query: { ...source.always, ...filter?.inputs, ...page, ...expansionsOf(source, natives, 'data.') },
    }),
  });
  const byPage = pagesOf(source, {
    cursor: 'page',
    next: ({ body }) => json.at(body, 'next_page'),
    request: ({ filter, page, natives }) => ({
      path: `${source.path}/search`,
      query: { query: filter?.query, ...page, ...expansionsOf(source, natives, 'data.') },
    }),
  });
  const choose = ({ filter }: ListInput<Filter>) =>
    filter === undefined || filter.inputs !== undefined ? byId : byPage;
  return {
    ...byId,
    request: (input, config) => choose(input).request(input, config),
    read: (response, input) => choose(input).read(response, input),
  };
}

interface Pages {
  readonly cursor: string;
  readonly next: (response: ProviderResponse) => unknown;
  readonly request: (query: ListQuery<Filter>) => ProviderRequest;
}

function pagesOf({ path, readRecord }: Source, { cursor, next, request }: Pages) {
  return list<Filter>({
    request,
    rows: (body) => json.array(json.at(body, 'data'), `the records of ${path}`),
    ...(readRecord !== undefined && { readRecord }),
    paging: { kind: 'cursor', cursor, size: 'limit', max: MOST_ROWS, next },
  });
}

function lastId(body: unknown): string {
  return json.text(json.at(json.array(json.at(body, 'data'), 'the records').at(-1), 'id'), 'the id of the last record');
}
