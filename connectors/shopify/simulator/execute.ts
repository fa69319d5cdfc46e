import {
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLFieldResolver,
  getNamedType,
  isObjectType,
  Kind as Node,
  parse,
  type SelectionSetNode,
  validate,
  valueFromASTUntyped,
} from 'graphql';
import {
  compileFilter,
  Fault,
  type FilterTree,
  foldCases,
  type SearchIndex,
  sortRows,
  type TableRow,
  takePage,
  valueAt,
} from '#connector/simulator';
import { DEFINITIONS, type Kind, type Records, valuesOf } from './records.ts';
import { emptyOf, SCHEMA, searchFields } from './schema.ts';
import { parseSearch } from './search.ts';

type Args = Readonly<Record<string, unknown>>;

/** Where a search field or a sort key reads, if its name in camel case is not the member. */
const PATHS: Readonly<Record<string, string>> = {
  financial_status: 'displayFinancialStatus',
  fulfillment_status: 'displayFulfillmentStatus',
  customer_id: 'customer',
  product_id: 'product',
  inventory_total: 'totalInventory',
  total_spent: 'amountSpent.amount',
  orders_count: 'numberOfOrders',
  current_total_price: 'currentTotalPriceSet.shopMoney.amount',
  total_price: 'totalPriceSet.shopMoney.amount',
  order_number: 'number',
  customer_date: 'createdAt',
  country: 'defaultAddress.country',
};
const CUSTOMER: Readonly<Record<string, string>> = {
  email: 'defaultEmailAddress.emailAddress',
  phone: 'defaultPhoneNumber.phoneNumber',
  name: 'lastName',
};

const numberIn = (id: unknown) => Number(/\d+$/.exec(String(id ?? ''))?.[0] ?? Number.NaN);

function pathOf({ type }: Kind, name: string): string {
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return (type === 'Customer' ? CUSTOMER[name] : undefined) ?? PATHS[name] ?? camel;
}

/** Texts are found by their words, without regard to case. Source: "Shopify API search syntax". */
const wordsOf = (text: unknown) => foldCases(String(text)).match(/[\p{L}\p{N}]+/gu) ?? [];

function findsText(held: unknown, value: string, isPrefix: boolean): boolean {
  const [words, wanted] = [wordsOf(held), wordsOf(value)];
  if (wanted.length === 0) return false;
  return words.some((_, start) =>
    wanted.every((word, index) => {
      const found = words[start + index] ?? '';
      return isPrefix && index === wanted.length - 1 ? found.startsWith(word) : found === word;
    }),
  );
}

const COMPARES: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/**
 * Returns the test of a search.
 * @throws Fault for fields that the list does not name, which Shopify ignores with a warning
 */
function testOf(kind: Kind, query: string): (row: TableRow) => boolean {
  const types = searchFields(kind.list);
  const tests = new Map<string, (row: TableRow) => boolean>();
  const tree = parseSearch(query, ({ field, comparator, value, isPrefix }): FilterTree => {
    const name = `t${tests.size}`;
    const type = types.get(field);
    if (type === undefined) throw new Fault(400, 'BAD_SEARCH', `${kind.list} has no search field '${field}'.`);
    const path = pathOf(kind, field);
    const read = (row: TableRow) => (field === 'tag' ? row.tags : valueAt(row, path));
    const toNumber =
      type === 'time' ? (given: unknown) => Date.parse(String(given)) : type === 'id' ? numberIn : Number;
    const bound = toNumber(value);
    const compare = COMPARES[comparator] ?? (() => false);
    const isText = type === 'string';
    if (!isText && type !== 'boolean' && !(value === '' && isPrefix) && Number.isNaN(bound))
      throw new Fault(400, 'BAD_SEARCH', `'${value}' is no value of ${field}.`);
    tests.set(name, (row) => {
      const held = read(row);
      if (value === '' && isPrefix) return Array.isArray(held) ? held.length > 0 : held != null && held !== '';
      if (held == null) return false;
      if (type === 'boolean') return String(held) === value;
      if (!isText) return compare(toNumber(held), bound);
      if (field === 'status' && kind.type === 'Order') return statusOf(row) === value || value === 'any';
      return [held].flat().some((each) => findsText(each, value, isPrefix));
    });
    return { kind: 'test', field: name, operator: '=', values: [true] };
  });
  return compileFilter(tree, {
    field: (name) => ({ type: 'boolean', read: (row) => tests.get(name)?.(row) }),
  });
}

function statusOf({ cancelledAt, closedAt }: TableRow): string {
  if (cancelledAt != null) return 'cancelled';
  return closedAt == null ? 'open' : 'closed';
}

function sorted(kind: Kind, rows: readonly TableRow[], { sortKey, reverse }: Args): readonly TableRow[] {
  const path = pathOf(kind, String(sortKey).toLowerCase());
  const isTime = path.endsWith('At');
  const read = (row: TableRow) => {
    const held = sortKey === 'ID' ? numberIn(row.id) : valueAt(row, path);
    return /(?:amount|^number\w*)$/.test(path) && held != null ? Number(held) : held;
  };
  const type = isTime ? 'datetime' : rows.some((row) => typeof read(row) === 'number') ? 'number' : 'string';
  const all = sortRows(rows, [{ type, read, fold: foldCases }]);
  return reverse === true ? all.toReversed() : all;
}

export interface Execution {
  readonly records: Records;
  readonly index: SearchIndex;
  /** Root fields beside those of the records. */
  readonly roots: Readonly<Record<string, (args: Args) => unknown>>;
  readonly isStuck: boolean;
}

function connectionOf(rows: readonly unknown[], { first, after }: Args, isStuck = false) {
  if (typeof first !== 'number') throw new GraphQLError('you must provide one of first or last');
  if (first > 250 || first < 0) throw new GraphQLError('The value of first is from 0 to 250');
  const query = new URLSearchParams({ first: String(first), ...(after != null && { after: String(after) }) });
  const style = { kind: 'cursor', cursor: 'after', size: 'first', usual: 50, most: 250 } as const;
  const page = first === 0 ? { rows: [], next: undefined } : takePage(rows, style, { query, isStuck });
  return { nodes: page.rows, pageInfo: { hasNextPage: page.next !== undefined, endCursor: page.next ?? null } };
}

/** Runs a request against Shopify's schema, which judges the request and the response. */
export async function run({ records, index, roots, isStuck }: Execution, query: string, variables: Args) {
  const kinds = Object.values(records);
  const find = (type: string, id: unknown) => kinds.find((kind) => kind.type === type)?.table.find(String(id)) ?? null;

  function root(name: string, args: Args): unknown {
    const own = roots[name];
    if (own !== undefined) return own(args);
    const kind = kinds.find(({ one, list }) => name === list || name === one);
    if (kind !== undefined) {
      if (name === kind.one) return kind.table.find(String(args.id)) ?? null;
      const searched = typeof args.query === 'string' && args.query.trim() !== '' ? args.query : undefined;
      const rows = searched === undefined ? kind.table.rows() : index.rows(kind).filter(testOf(kind, searched));
      return connectionOf(sorted(kind, rows, args), args, isStuck);
    }
    return mutate(name, args);
  }

  function mutate(name: string, args: Args): unknown {
    const [, one = '', verb = ''] = /^(\w+)(Create|Update|Delete)$/.exec(name) ?? [];
    const kind = kinds.find((each) => each.one === one);
    if (kind === undefined) throw new GraphQLError(`The simulator has no ${name}.`);
    const input = Object(args.input ?? args.order ?? args.product ?? {});
    const id = String(args.id ?? args.orderId ?? input.id ?? '');
    const old = kind.table.find(id);
    const failed = (field: string, message: string) => ({
      userErrors: [{ field: field === '' ? null : [field], message }],
    });
    if (verb !== 'Create' && old === undefined) return failed('id', `${kind.type} does not exist`);
    if (verb === 'Delete') {
      kind.table.remove(id);
      return { deletedId: id, [`deleted${kind.type}Id`]: id, userErrors: [], shop: SHOP };
    }
    const given = { ...old, ...valuesOf(kind, input, old) };
    const row = { ...given, ...(verb === 'Create' || 'lineItems' in input ? kind.derive?.(given) : undefined) };
    const wrong = kind.wrong?.(row);
    if (wrong !== undefined) return failed(...wrong);
    return { [one]: old === undefined ? kind.table.insert(row) : kind.table.update(id, row), userErrors: [] };
  }

  const resolve: GraphQLFieldResolver<unknown, unknown> = (source, args, _, info) => {
    const { fieldName, returnType, parentType } = info;
    if (parentType.name === 'QueryRoot' || parentType.name === 'Mutation') return root(fieldName, args);
    const row = Object(source);
    const held = row[fieldName];
    const named = getNamedType(returnType);
    if (fieldName === 'legacyResourceId') return String(numberIn(row.id));
    if (fieldName === 'metafield') {
      const all: readonly TableRow[] = Array.isArray(row.metafields) ? row.metafields : [];
      return all.find(({ namespace, key }) => namespace === (args.namespace ?? 'custom') && key === args.key) ?? null;
    }
    if (named.name.endsWith('Connection') && held?.nodes === undefined) {
      const variants = records.productVariants?.table.rows().filter(({ product }) => product === row.id) ?? [];
      return connectionOf(fieldName === 'variants' ? variants : (held ?? []), args);
    }
    if (isObjectType(named) && typeof held === 'string') return find(named.name, held);
    return held ?? emptyOf(returnType);
  };

  const document = parse(query);
  const errors = validate(SCHEMA, document);
  if (errors.length > 0) return { result: { errors }, cost: 0, isContradiction: true };
  const cost = Math.max(
    ...document.definitions.map((each) => ('selectionSet' in each ? costOf(each.selectionSet, variables) : 0)),
  );
  if (cost > 1000) {
    const extensions = { code: 'MAX_COST_EXCEEDED', cost, maxCost: 1000 };
    return {
      result: { errors: [{ message: `Query cost is ${cost}, which exceeds 1000`, extensions }] },
      cost,
      isContradiction: true,
    };
  }
  const result = await execute({ schema: SCHEMA, document, variableValues: variables, fieldResolver: resolve });
  // A search that is not valid contradicts no schema.
  const isContradiction = (result.errors ?? []).some(({ originalError }) => !(originalError instanceof Fault));
  return { result, cost, isContradiction };
}

/** The cost of a query: one point for each object, and for a connection as many as it may have. Source: "API rate limits". */
function costOf(selection: SelectionSetNode | undefined, variables: Args): number {
  const fields = (selection?.selections ?? []).filter((each): each is FieldNode => each.kind === Node.FIELD);
  return fields.reduce((sum, field) => {
    if (field.selectionSet === undefined || field.name.value === 'pageInfo') return sum;
    const inner = costOf(field.selectionSet, variables);
    const first = field.arguments?.find(({ name }) => name.value === 'first');
    if (first === undefined) return sum + (field.name.value === 'nodes' ? inner : inner + 1);
    return sum + Number(valueFromASTUntyped(first.value, variables) ?? 0) * (inner + 1);
  }, 0);
}

export const SHOP = {
  ...{ id: 'gid://shopify/Shop/1', name: 'Demo', email: 'demo@example.com', contactEmail: 'demo@example.com' },
  ...{ myshopifyDomain: 'demo.myshopify.com', currencyCode: 'USD', ianaTimezone: 'Europe/Zurich' },
};

/** Returns the definitions of metafields for an owner. */
export function definitionsFor(args: Args) {
  return connectionOf(
    DEFINITIONS.filter(({ ownerType }) => ownerType === args.ownerType),
    args,
  );
}

export { connectionOf };
