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
import { Fault, type TableRow, takePage } from '#connector/simulator';
import { numberIn, sorted, testOf } from './find.ts';
import { DEFINITIONS, type Records, valuesOf } from './records.ts';
import { emptyOf, SCHEMA } from './schema.ts';

type Args = TableRow;

export interface Execution {
  readonly records: Records;
  /** Root fields beside those of the records. */
  readonly roots: Readonly<Record<string, (args: Args) => unknown>>;
  readonly isStuck: boolean;
}

/** Returns one page of rows as a connection. */
export function connectionOf(rows: readonly unknown[], { first, after }: Args, isStuck = false) {
  if (typeof first !== 'number') throw new GraphQLError('you must provide one of first or last');
  if (first > 250 || first < 0) throw new GraphQLError('The value of first is from 0 to 250');
  const query = new URLSearchParams({ first: String(first), ...(after != null && { after: String(after) }) });
  const style = { kind: 'cursor', cursor: 'after', size: 'first', usual: 50, most: 250 } as const;
  const page = first === 0 ? { rows: [], next: undefined } : takePage(rows, style, { query, isStuck });
  return { nodes: page.rows, pageInfo: { hasNextPage: page.next !== undefined, endCursor: page.next ?? null } };
}

/** Runs a request against Shopify's schema, which judges the request and the response. */
export async function run({ records, roots, isStuck }: Execution, query: string, variables: Args) {
  const kinds = Object.values(records);
  const find = (type: string, id: unknown) => kinds.find((kind) => kind.type === type)?.table.find(String(id)) ?? null;

  function root(name: string, args: Args): unknown {
    const own = roots[name];
    if (own !== undefined) return own(args);
    const kind = kinds.find(({ one, list }) => name === list || name === one);
    if (kind !== undefined) {
      if (name === kind.one) return kind.table.find(String(args.id)) ?? null;
      const rows = kind.table.rows().filter(args.query == null ? () => true : testOf(kind, String(args.query)));
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
    const row = { ...given, ...kind.derive?.(given, input) };
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
    if (Array.isArray(held) && named.name.endsWith('Connection')) return connectionOf(held, args);
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
