import { numberOf, textOf, textsOf } from '../arguments.ts';
import { chooseMembers } from '../default-fields.ts';
import type { ToolOutcome } from '../result.ts';
import {
  BOOLEAN,
  inputSchema,
  OBJECT,
  OBJECTS,
  type ObjectSchema,
  outputSchema,
  parameterSchema,
  propertySchemas,
  TEXT,
  TEXTS,
  type ToolSchema,
  WHOLE,
} from '../schemas.ts';
import { type ListPosition, readPosition, writePosition } from './pages.ts';
import {
  type AgentTool,
  DATA_NOTICE,
  defined,
  entriesOf,
  INSTANCE,
  memberOf,
  OBJECT_NAME,
  pathOf,
  type ToolContext,
} from './tool.ts';

const DEFAULT_LIMIT = 25;
const MOST_ROWS = 200;
/** Characters of a text in a list, unless the agent names the fields, and in a single record. */
const LIST_TEXT = 200;
const NAMED_TEXT = 1000;
const RECORD_TEXT = 4000;

const WHERE: ToolSchema = parameterSchema('Where');
const FIELDS: ToolSchema = { ...TEXTS, description: 'Default: the most important' };
const ORDER_BY: ToolSchema = parameterSchema('OrderBy', "As 'date desc, name'");
const LIMIT: ToolSchema = { ...parameterSchema('PageSize'), maximum: MOST_ROWS, default: DEFAULT_LIMIT };
const NEXT_PAGE: ToolSchema = parameterSchema('NextPage', 'From the last result; repeat the other arguments');
const QUERY = { where: WHERE, fields: FIELDS, orderBy: ORDER_BY, limit: LIMIT, nextPage: NEXT_PAGE };

const RECORDS: ObjectSchema = outputSchema(
  { records: OBJECTS, returned: WHOLE, total: WHOLE, nextPage: TEXT, notes: TEXTS },
  ['records', 'returned'],
);

const queryRecords: AgentTool = {
  name: 'query_records',
  description: `Returns records of an object. where is like SQL: status = 'Open' AND (updatedDate >= '2026-01-31' OR name LIKE 'A%'). Operators: = != < <= > >= IN (…), LIKE, BETWEEN, IS NULL, AND, OR, NOT. Text is in single quotes, '' is a quote in it. Field names are those of describe_object.`,
  operation: 'listRecords',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, ...QUERY }, ['object']),
  output: RECORDS,
  run: async (context) => {
    const object = textOf(context.args, 'object') ?? '';
    const metadata = `/objects${pathOf(object)}/metadata`;
    return listRecords(context, { path: pathOf(object), metadata });
  },
};

const listChildren: AgentTool = {
  name: 'list_children',
  description: 'Returns the records of a child object below one record. describe_object names the children.',
  operation: 'listChildRecords',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, id: TEXT, child: TEXT, ...QUERY }, ['object', 'id', 'child']),
  output: RECORDS,
  run: async (context) => {
    const [object = '', id = '', child = ''] = ['object', 'id', 'child'].map((name) => textOf(context.args, name));
    const metadata = `/objects${pathOf(object, child)}/metadata`;
    return listRecords(context, { path: pathOf(object, id, child), metadata });
  },
};

const searchAll: AgentTool = {
  name: 'search_all',
  description: 'Returns records of an object from all instances that have it. _instance says where each is from.',
  operation: 'listFederatedRecords',
  kind: 'read',
  input: inputSchema({ object: OBJECT_NAME, ...QUERY }, ['object']),
  output: RECORDS,
  run: (context) => {
    const object = textOf(context.args, 'object') ?? '';
    return listRecords(context, { path: `/federated${pathOf(object)}`, metadata: undefined });
  },
};

interface RecordSource {
  readonly path: string;
  /** Path of the metadata with the default fields; undefined where there is none. */
  readonly metadata: string | undefined;
}

async function listRecords(context: ToolContext, { path, metadata }: RecordSource): Promise<ToolOutcome> {
  const { api, args, instance, knownFields } = context;
  const named = textsOf(args, 'fields');
  const fields = named ?? (metadata === undefined ? undefined : await knownFields.read(context, metadata));
  const position = readPosition(textOf(args, 'nextPage'), numberOf(args, 'limit') ?? DEFAULT_LIMIT);
  const query = {
    where: textOf(args, 'where'),
    orderBy: textOf(args, 'orderBy'),
    fields: fields?.join(','),
    pageSize: position.limit,
    nextPage: position.token,
  };
  const { body, header } = await api.json({ path, query, instance }).catch((error: unknown) => {
    if (metadata !== undefined) knownFields.forget(context, metadata);
    throw error;
  });
  const rows = entriesOf(body).slice(position.skip);
  const members = fields === undefined ? chooseMembers(rows) : undefined;
  const entries = members === undefined ? rows : rows.map((row) => pick(row, [...members, '_instance']));
  return toRecordList(entries, { position, header, textLimit: named === undefined ? LIST_TEXT : NAMED_TEXT });
}

interface ListedPage {
  readonly position: ListPosition;
  readonly header: (name: string) => string | undefined;
  readonly textLimit: number;
}

function toRecordList(entries: readonly unknown[], { position, header, textLimit }: ListedPage): ToolOutcome {
  const total = header('elements-total-count');
  const token = header('elements-next-page-token');
  const notes = notesOf(header);
  const data = defined({
    notice: DATA_NOTICE,
    returned: entries.length,
    total: total === undefined ? undefined : Number(total),
    nextPage: token === undefined ? undefined : writePosition({ skip: 0, limit: position.limit, token }),
    notes: notes.length === 0 ? undefined : notes,
  });
  const whenCut = (count: number) => ({
    returned: count,
    nextPage: writePosition({ ...position, skip: position.skip + count }),
    notes: [
      ...notes,
      `${count} of ${entries.length} records fit into a result. Continue with nextPage, or name fewer fields.`,
    ],
  });
  return { data, list: { name: 'records', entries, textLimit, whenCut } };
}

function notesOf(header: ListedPage['header']): string[] {
  const partial = header('elements-partial-result');
  const failed = header('elements-federated-errors');
  return [
    ...(partial === undefined ? [] : [`The page ended early (${partial}). Continue with nextPage, or narrow where.`]),
    ...(failed === undefined ? [] : [`${failed} instances failed; their records are missing.`]),
  ];
}

const countRecords: AgentTool = {
  name: 'count_records',
  description:
    'Counts records. Where the provider has no count, it reads pages within a budget; isExact false means at least that many.',
  operation: 'listRecords',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, where: WHERE }, ['object']),
  output: outputSchema({ count: WHOLE, isExact: BOOLEAN }, ['count', 'isExact']),
  run: countByPages,
};

/** Rows per page of a count, which only have their identifier. */
const COUNTED_ROWS = 1000;
/** Maximum number of requests to the provider for one count. */
const COUNT_CALLS = 25;

async function countByPages({ api, args, instance, report }: ToolContext): Promise<ToolOutcome> {
  const object = textOf(args, 'object') ?? '';
  const { body: metadata } = await api.json({ path: `/objects${pathOf(object)}/metadata`, instance });
  const identifier = memberOf(metadata, 'identifier');
  const query = {
    where: textOf(args, 'where'),
    fields: typeof identifier === 'string' ? identifier : undefined,
    pageSize: COUNTED_ROWS,
  };
  let count = 0;
  let calls = COUNT_CALLS;
  let nextPage: string | undefined;
  do {
    const headers = { 'elements-max-provider-calls': String(calls) };
    const { body, header } = await api.json({ path: pathOf(object), query: { ...query, nextPage }, instance, headers });
    const total = header('elements-total-count');
    if (total !== undefined) return { data: { count: Number(total), isExact: true } };
    count += entriesOf(body).length;
    nextPage = header('elements-next-page-token');
    calls -= Math.max(1, Number(header('elements-provider-calls') ?? 1));
    report(count, `Counted ${count} records`);
  } while (nextPage !== undefined && calls > 0);
  return { data: { count, isExact: nextPage === undefined } };
}

const explainQuery: AgentTool = {
  name: 'explain_query',
  description: 'Checks a query without running it: which part the provider evaluates, and the number of calls.',
  operation: 'explainQuery',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, where: WHERE, fields: TEXTS, orderBy: TEXT }, ['object']),
  output: outputSchema(
    propertySchemas('QueryExplanation', ['pushdown', 'pushed', 'residual', 'estimatedProviderCalls']),
    ['pushdown'],
  ),
  run: async ({ api, args, instance }) => {
    const body = {
      objectName: textOf(args, 'object'),
      where: textOf(args, 'where'),
      orderBy: textOf(args, 'orderBy'),
      fields: textsOf(args, 'fields')?.join(','),
    };
    const explained = await api.json({ method: 'POST', path: '/query/explain', body: defined(body), instance });
    return { data: { ...Object(explained.body) } };
  },
};

const getRecord: AgentTool = {
  name: 'get_record',
  description: 'Returns one record. Name fields to see long texts in full.',
  operation: 'getRecord',
  kind: 'read',
  input: inputSchema({ ...INSTANCE, object: OBJECT_NAME, id: TEXT, fields: TEXTS }, ['object', 'id']),
  output: outputSchema({ record: OBJECT }, ['record']),
  run: async ({ api, args, instance }) => {
    const [object = '', id = ''] = ['object', 'id'].map((name) => textOf(args, name));
    const { body } = await api.json({ path: pathOf(object, id), instance });
    const fields = textsOf(args, 'fields');
    return toRecord(
      fields === undefined ? body : pick(body, fields),
      fields === undefined ? RECORD_TEXT : 4 * RECORD_TEXT,
    );
  },
};

/** Returns the outcome of a tool with one record. */
export function toRecord(record: unknown, textLimit = RECORD_TEXT): ToolOutcome {
  return { data: { notice: DATA_NOTICE }, one: { name: 'record', value: record, textLimit } };
}

const listEvents: AgentTool = {
  name: 'list_events',
  description: 'Lists events of an instance: records that were created, updated or deleted.',
  operation: 'listThisInstanceEvents',
  kind: 'read',
  input: inputSchema({
    ...INSTANCE,
    where: parameterSchema('EventWhere', "As objectName = 'contacts' AND timestamp >= '2026-01-31'"),
    limit: LIMIT,
    nextPage: NEXT_PAGE,
  }),
  output: outputSchema({ events: OBJECTS, returned: WHOLE, nextPage: TEXT }, ['events', 'returned']),
  run: async ({ api, args, instance }) => {
    const position = readPosition(textOf(args, 'nextPage'), numberOf(args, 'limit') ?? DEFAULT_LIMIT);
    const query = { where: textOf(args, 'where'), pageSize: position.limit, nextPage: position.token };
    const { body, header } = await api.json({ path: '/instances/events', query, instance });
    const { data, list } = toRecordList(entriesOf(body).slice(position.skip), {
      position,
      header,
      textLimit: LIST_TEXT,
    });
    return { data, list: list && { ...list, name: 'events' } };
  },
};

export const READING_TOOLS: readonly AgentTool[] = [
  queryRecords,
  explainQuery,
  countRecords,
  getRecord,
  listChildren,
  searchAll,
  listEvents,
];

function pick(record: unknown, names: readonly string[]): unknown {
  if (typeof record !== 'object' || record === null) return record;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueAt(record, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Returns a member, also of a nested object: `address.city`. */
function valueAt(record: unknown, name: string): unknown {
  const own = memberOf(record, name);
  if (own !== undefined || !name.includes('.')) return own;
  return name.split('.').reduce(memberOf, record);
}
