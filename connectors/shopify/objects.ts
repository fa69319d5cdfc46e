import {
  type ChangeAction,
  type ChangesInput,
  type ChangesPage,
  codec,
  type DiscoveryContext,
  defineObject,
  type FieldSpec,
  type Fields,
  isDenied,
  isUnauthorized,
  type Json,
  json,
  kinds,
  type ListInput,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderResponse,
} from '#connector';
import { DESCRIBED, type Described, fieldsIn, LINE_FIELDS, WRITTEN } from './described.ts';
import { ask, dataIn, LARGEST_PAGE, type Metafields, select } from './graphql.ts';
import { createTranslator } from './search.ts';

/** Returns the objects. Their metafields are read when an object is first used. */
export function discoverObjects(): Promise<Objects> {
  const entries = Object.entries(DESCRIBED).map(([name, described]) => {
    const { translator: _, shape: __, limits: ___, ...outline } = objectOf(name, described, NO_METAFIELDS);
    const describe = async (context: DiscoveryContext) =>
      objectOf(name, described, await readMetafields(context, described));
    return [name, { ...outline, fields: {}, changes: { reports: reportsOf(described) }, describe }] as const;
  });
  return Promise.resolve(Object.fromEntries(entries));
}

const reportsOf = ({ type }: Described): readonly ChangeAction[] =>
  type === 'Product' ? ['created', 'updated', 'deleted'] : ['created', 'updated'];

/** The metafields of an object: by alias, and as fields. */
interface Custom {
  readonly metafields: Metafields;
  readonly fields: Fields;
}

const NO_METAFIELDS: Custom = { metafields: {}, fields: {} };
const OBJECTS = 'json money dimension volume weight rating rich_text_field link'.split(' ');

const kindOf = kinds<string, undefined>({
  table: {
    boolean: { type: 'boolean' },
    number_integer: { type: 'integer' },
    number_decimal: { type: 'number', ...codec.decimal },
    date: { type: 'date' },
    ...Object.fromEntries(OBJECTS.map((name) => [name, { type: 'object' }])),
  },
  unknown: { type: 'string' },
});

/** Reads the definitions of the metafields of an object. Not every token may read them. */
async function readMetafields({ send, signal }: DiscoveryContext, { owner, written }: Described): Promise<Custom> {
  const query = `query { list: metafieldDefinitions(ownerType: ${owner}, first: ${LARGEST_PAGE}) { nodes { namespace key name type { name } } } }`;
  let found: readonly Json[] = [];
  try {
    found = json.objects(json.at(dataIn(await send(ask(query)), 'list'), 'nodes'), 'the definitions of metafields');
  } catch (error) {
    signal.throwIfAborted();
    if (!isDenied(error) || isUnauthorized(error)) throw error;
  }
  const described = found.map((definition, index) => {
    const textOf = (name: string) => json.text(definition[name], `the ${name} of a metafield`);
    const type = json.text(json.at(definition, 'type', 'name'), 'the type of a metafield');
    const field: FieldSpec = {
      ...(type.startsWith('list.') ? { type: 'array' } : kindOf(type, undefined)),
      ...{ native: `metafield${index}.jsonValue`, nativeType: type, label: textOf('name'), custom: true },
      ...(written !== undefined && { ...WRITTEN, clearable: false }),
    };
    return { alias: `metafield${index}`, namespace: textOf('namespace'), key: textOf('key'), type, field };
  });
  return {
    metafields: Object.fromEntries(
      described.map(({ alias, namespace, key, type }) => [alias, { namespace, key, type }]),
    ),
    fields: Object.fromEntries(described.map(({ namespace, key, field }) => [`${namespace}.${key}`, field])),
  };
}

function objectOf(name: string, described: Described, { metafields, fields }: Custom): ObjectSpec {
  const { label, description, aliases, searched, sorted } = described;
  return defineObject<string>({
    ...{ label, description, native: described.type },
    ...(aliases !== undefined && { aliases }),
    fields: { ...fieldsIn(described), ...fields },
    shape: { kind: 'any' },
    limits: { maxTerms: 50, maxInSize: 50, maxSortFields: 1 },
    translator: createTranslator(searched),
    list: listOf(name, sorted, described.type, metafields),
    ...operationsOn(described, metafields),
    ...(described.inner?.lineItems !== undefined && { children: { lineItems: linesOf(described.type) } }),
    // The search learns of a change some moments later, and Shopify does not say how many.
    changes: {
      ...{ updated: 'updatedAt', created: 'createdAt', overlapSeconds: 120 },
      ...(described.type === 'Product' && { feed: deletedProducts }),
    },
  });
}

const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';

/** Returns the rows and the pages of a connection at a path of the data. */
function connectionAt(...path: readonly string[]) {
  const rows = (body: unknown) => {
    if (json.at(body, 'data', path[0] ?? '') === null) throw notFound('Shopify has no such record.');
    return json.array(json.at(body, 'data', ...path, 'nodes'), 'the records');
  };
  const next = ({ body }: ProviderResponse) => {
    const page = json.at(body, 'data', ...path, 'pageInfo');
    return json.at(page, 'hasNextPage') === true ? json.at(page, 'endCursor') : undefined;
  };
  return { rows, paging: { kind: 'cursor', cursor: 'after', max: LARGEST_PAGE, next } } as const;
}

/** The deletions of products, the only ones that Shopify lists. Source: the query `deletionEvents` of the schema. */
const deletedProducts: Operation<ChangesInput, ChangesPage> = {
  request: ({ since, cursor }) =>
    ask(
      `query ($first: Int!, $after: String, $query: String) { list: deletionEvents(first: $first, after: $after, query: $query, subjectTypes: [PRODUCT], sortKey: CREATED_AT) { nodes { occurredAt subjectId } ${PAGE_INFO} } }`,
      { first: LARGEST_PAGE, after: cursor, query: `occurred_at:>='${since}'` },
    ),
  read: (response) => {
    const { rows, paging } = connectionAt('list');
    const changes = rows(response.body).map((event) => ({
      id: json.text(/\d+$/.exec(String(json.at(event, 'subjectId')))?.[0], 'the id of a deleted product'),
      action: 'deleted' as const,
      at: json.text(json.at(event, 'occurredAt'), 'the time of a deletion'),
    }));
    const next = json.findText(paging.next(response));
    return { changes, ...(next !== undefined && { next }) };
  },
};

function listOf(name: string, sorted: Described['sorted'], type: string, metafields: Metafields) {
  const request = ({ fields, orderBy, filter, limit, cursor }: ListInput<string>) => {
    const { text, most } = select(fields, metafields);
    const [term] = orderBy;
    return ask(
      `query ($first: Int!, $after: String, $query: String, $sortKey: ${type}SortKeys, $reverse: Boolean) { list: ${name}(first: $first, after: $after, query: $query, sortKey: $sortKey, reverse: $reverse) { nodes { ${text} } ${PAGE_INFO} } }`,
      {
        ...{ first: Math.min(limit, most), after: cursor, query: filter },
        ...(term !== undefined && { sortKey: sorted[term.field.name], reverse: term.direction === 'desc' }),
      },
    );
  };
  return list<string>({ request, ...connectionAt('list') });
}

/** Returns the items of orders or draft orders, which can be more than are read with a record. */
function linesOf(type: string): ObjectSpec {
  const request = ({ fields, limit, cursor, parentId }: ListInput<string>) => {
    const { text, most } = select(fields, {});
    return ask(
      `query ($id: ID!, $first: Int!, $after: String) { record: ${singularOf(type)}(id: $id) { lineItems(first: $first, after: $after) { nodes { ${text} } ${PAGE_INFO} } } }`,
      { id: `gid://shopify/${type}/${parentId}`, first: Math.min(limit, most), after: cursor },
    );
  };
  return defineObject<string>({
    label: 'Line items',
    fields: LINE_FIELDS,
    list: list<string>({ request, ...connectionAt('record', 'lineItems') }),
  });
}

const singularOf = (type: string) => type.charAt(0).toLowerCase() + type.slice(1);

function operationsOn({ type, create, update, written }: Described, metafields: Metafields) {
  const singular = singularOf(type);
  const toGlobal = (id: string) => `gid://shopify/${type}/${id}`;
  const readAt =
    (...path: readonly string[]) =>
    ({ body }: ProviderResponse) => {
      const record = json.at(body, 'data', ...path);
      if (json.isObject(record)) return record;
      throw notFound('Shopify has no such record.');
    };
  const get: ObjectSpec['get'] = {
    request: ({ id, fields }) =>
      ask(`query ($id: ID!) { record: ${singular}(id: $id) { ${select(fields, metafields).text} } }`, {
        id: toGlobal(id),
      }),
    read: readAt('record'),
  };
  if (written === undefined) return { get };
  const result = (fields: Parameters<typeof select>[0]) =>
    `{ ${singular} { ${select(fields, metafields).text} } userErrors { field message } }`;
  const hasOwnId = type === 'DraftOrder';
  return {
    get,
    create: {
      request: ({ values, fields }) =>
        ask(
          `mutation ($values: ${create}!) { result: ${singular}Create(${written.create}: $values) ${result(fields)} }`,
          { values: toInput(values, metafields) },
        ),
      read: readAt('result', singular),
    },
    update: {
      request: ({ id, values, fields }) => {
        const input = toInput(values, metafields);
        const [declared, used] = hasOwnId ? ['$id: ID!, ', 'id: $id, '] : ['', ''];
        return ask(
          `mutation (${declared}$values: ${update}!) { result: ${singular}Update(${used}${written.update}: $values) ${result(fields)} }`,
          hasOwnId ? { id: toGlobal(id), values: input } : { values: { ...input, id: toGlobal(id) } },
        );
      },
      read: readAt('result', singular),
    },
    remove: {
      request: ({ id }) =>
        ask(
          `mutation ($id: ID!) { result: ${singular}Delete(${type === 'Order' ? 'orderId: $id' : 'input: { id: $id }'}) { userErrors { field message } } }`,
          { id: toGlobal(id) },
        ),
      read: () => undefined,
    },
  } satisfies Partial<ObjectSpec>;
}

/** The members of inputs whose values are read elsewhere. */
const INPUTS: Readonly<Record<string, readonly [input: string, member: string]>> = {
  defaultEmailAddress: ['email', 'emailAddress'],
  defaultPhoneNumber: ['phone', 'phoneNumber'],
};

function toInput(values: Json, metafields: Metafields): Json {
  const written: Json[] = [];
  const entries = Object.entries(values).flatMap(([name, value]) => {
    const metafield = metafields[name];
    if (metafield === undefined) {
      const [input, member] = INPUTS[name] ?? [name === 'note2' ? 'note' : name];
      return [[input, member === undefined ? value : json.at(value, member)]];
    }
    const inner = json.at(value, 'jsonValue');
    written.push({ ...metafield, value: typeof inner === 'string' ? inner : JSON.stringify(inner) });
    return [];
  });
  return { ...Object.fromEntries(entries), ...(written.length > 0 && { metafields: written }) };
}
