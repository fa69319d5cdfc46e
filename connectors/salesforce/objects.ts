import {
  type Changes,
  type Config,
  type ConnectorContext,
  defined,
  defineObject,
  type Json,
  json,
  type ObjectSpec,
  type Objects,
  path,
  records,
} from '#connector';
import { bulkIngestOf, bulkQueryOf } from './bulk.ts';
import { setting } from './config.ts';
import { toFieldSpec, toParentName } from './fields.ts';
import { FILES } from './files.ts';
import { CHANGED, CREATED, DELETED, deletionsOf, ID, INCLUDE_DELETED, listBelow, listOperation } from './query.ts';
import { translator } from './where.ts';

/**
 * Returns every object that the user can see, without its fields. This takes a single call, because an account has a thousand objects and
 * more.
 */
export async function discoverObjects({ send }: ConnectorContext): Promise<Objects> {
  const { body } = await send({ path: '/sobjects' });
  const described = json.array(json.at(body, 'sobjects'), 'the list of objects').filter(isOffered);
  const offered = new Map(described.map((object) => [object.name, object]));
  return Object.fromEntries(described.map((object) => [object.name, outlineOf(object, offered)]));
}

/** The description of an object or a field. Statements contain its name without quotes. */
type Described = Json & { readonly name: string };

type Offered = ReadonlyMap<string, Described>;

function isOffered(described: unknown): described is Described {
  if (!json.isObject(described) || described.deprecatedAndHidden === true) return false;
  return isName(described.name);
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z]\w*$/.test(name);
}

function outlineOf(object: Described, offered: Offered): ObjectSpec {
  const describe = (context: ConnectorContext) => describeObject(context, object, offered);
  const aliases = ALIASES[object.name];
  return defineObject({
    ...abilitiesOf(object),
    fields: {},
    describe,
    ...(isReplicated(object) && { changes: ALL }),
    ...(aliases !== undefined && { aliases }),
  });
}

/** Names of these objects that all CRMs share. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  Account: ['accounts'],
  Contact: ['contacts'],
  Lead: ['leads'],
  Opportunity: ['opportunities'],
  Task: ['tasks'],
};

const ALL = { reports: ['created', 'updated', 'deleted'] } as const satisfies Changes;

/**
 * Returns whether Salesforce keeps the times of changes and the deletions of the object's records. Source: SOAP API Developer Guide,
 * "DescribeSObjectResult".
 */
function isReplicated({ replicateable, queryable }: Described): boolean {
  return replicateable === true && queryable === true;
}

/** Reads the description of an object from Salesforce. */
async function readDescription({ config, send }: ConnectorContext, { name }: Described) {
  const { body } = await send({ path: path`/sobjects/${name}/describe` });
  const described = json.array(json.at(body, 'fields'), 'the fields of the object').filter(isOffered);
  return { described, fields: fieldsOf(described, config), relationships: json.at(body, 'childRelationships') };
}

async function describeObject(context: ConnectorContext, object: Described, offered: Offered): Promise<ObjectSpec> {
  const { described, fields, relationships } = await readDescription(context, object);
  const changes = object.queryable === true ? changesOf(object.name, fields) : undefined;
  const abilities = abilitiesOf(object);
  const externalIds = described.filter(({ externalId }) => externalId === true).map(({ name }) => name);
  const bulk = defined({
    query: object.queryable === true ? bulkQueryOf(object.name) : undefined,
    ingest: bulkIngestOf(object.name, { ...abilities, externalIds }),
  });
  return defineObject({
    ...abilities,
    fields,
    ...FILTERING,
    ...defined({ changes, bulk }),
    children: childrenOf(object, relationships, offered),
  });
}

/**
 * Returns the objects that refer to a record, by the names of the relationships. Some relationships have no name, and some children can be
 * queried only inside statements about the parent (`ActivityHistories`). Source: REST API Developer Guide, "sObject Describe".
 */
function childrenOf(parent: Described, relationships: unknown, offered: Offered): Objects {
  const entries = json.objects(relationships ?? [], 'the child relationships of the object').flatMap((relationship) => {
    const { relationshipName: name, childSObject, field, deprecatedAndHidden } = relationship;
    const child = offered.get(String(childSObject));
    if (!isName(name) || !isName(field) || deprecatedAndHidden === true || child?.queryable !== true) return [];
    return [[name, childOutline(child, { parent, name, field })] as const];
  });
  return Object.fromEntries(entries);
}

interface Relationship {
  readonly parent: Described;
  readonly name: string;
  /** The field of the child that refers to the parent. */
  readonly field: string;
}

/** Returns a child list as an outline. Hundreds of objects refer to some objects, and few of these relationships are used. */
function childOutline(child: Described, { parent, name, field }: Relationship): ObjectSpec {
  const aliases = ALIASES[child.name]?.filter((alias) => alias === name.toLowerCase());
  const below = { parent: parent.name, hasParents: parent.retrieveable === true, field };
  const own = defined({
    native: name,
    label: json.findText(child.label),
    custom: child.custom === true,
    idField: ID,
    aliases,
  });
  return {
    ...own,
    fields: {},
    describe: async (context) => {
      const { fields } = await readDescription(context, child);
      return defineObject({ ...own, fields, ...FILTERING, list: listBelow(child.name, below) });
    },
  };
}

/**
 * Maximum duration of a transaction. A record has the time of its save, but others see it only when the transaction ends, at most ten
 * minutes later. Source: Apex Developer Guide, "Execution Governors and Limits", maximum execution time of a transaction.
 */
const LONGEST_TRANSACTION_SECONDS = 600;

/** Returns how changes are found: by the system fields, which some objects lack. Source: Object Reference, "System Fields". */
function changesOf(objectName: string, fields: ObjectSpec['fields']): Changes | undefined {
  const canAsk = (name: string) => Object.hasOwn(fields, name) && fields[name]?.filter?.['>='] !== undefined;
  if (!canAsk(CHANGED)) return undefined;
  return defined({
    updated: CHANGED,
    created: canAsk(CREATED) ? CREATED : undefined,
    overlapSeconds: LONGEST_TRANSACTION_SECONDS,
    feed: Object.hasOwn(fields, DELETED) ? deletionsOf(objectName) : undefined,
  });
}

function fieldsOf(described: readonly Described[], config: Config): ObjectSpec['fields'] {
  const options = { textIsExact: setting(config, 'text.exact') };
  const own = described.map((field) => [field.name, toFieldSpec(field, options)] as const);
  return Object.fromEntries([...own, ...described.flatMap((field) => toParentName(field, options))]);
}

/**
 * Limits of queries. A statement has at most 100,000 characters, including the names of the fields. An order has at most 32 fields, one of
 * which is the id that the connector adds. Source: SOQL and SOSL Limits for Search Queries.
 */
const FILTERING: Pick<ObjectSpec<string>, 'shape' | 'limits' | 'translator' | 'parameters'> = {
  shape: { kind: 'any' },
  limits: { maxLength: 40_000, maxSortFields: 31 },
  translator,
  parameters: {
    [INCLUDE_DELETED]: {
      type: 'boolean',
      description: 'TRUE finds records in the recycle bin as well; their IsDeleted is true.',
    },
  },
};

/** Returns the operations that are known without the fields. Whether this user may write a record is not known before the write. */
function abilitiesOf(object: Described): Omit<ObjectSpec<string>, 'fields'> {
  const { name } = object;
  const { get, create, update, remove } = recordsOf(name);
  return defined({
    label: json.findText(object.label),
    custom: object.custom === true,
    idField: ID,
    list: object.queryable === true ? listOperation(name) : undefined,
    get: object.retrieveable === true ? get : undefined,
    create: object.createable === true ? create : undefined,
    update: object.updateable === true ? update : undefined,
    remove: object.deletable === true ? remove : undefined,
    media: FILES[name],
  });
}

/**
 * Returns the operations on single records. A written record is read back, because Salesforce returns only its id or nothing. Source: REST
 * API Developer Guide, "sObject Rows".
 */
function recordsOf(objectName: string) {
  return records({
    // The response contains all fields, because a list of field names could make the URL too long.
    get: (id) => ({ path: path`/sobjects/${objectName}/${id}` }),
    create: {
      request: (values) => ({ method: 'POST', path: path`/sobjects/${objectName}`, json: values }),
      id: ({ body }) => json.text(json.at(body, 'id'), 'the id of the new record'),
    },
    update: (id, values) => ({ method: 'PATCH', path: path`/sobjects/${objectName}/${id}`, json: values }),
    remove: (id) => ({ method: 'DELETE', path: path`/sobjects/${objectName}/${id}` }),
  });
}
