import {
  type ConnectorContext,
  can,
  codec,
  defined,
  defineObject,
  fieldsOf,
  type Inputs,
  inputs,
  isDenied,
  isUnauthorized,
  type Json,
  json,
  list,
  type ObjectSpec,
  type Objects,
  path,
  records,
} from '#connector';
import { ID, ID_FIELD, toFieldSpec } from './fields.ts';
import official from './official.json' with { type: 'json' };
import { deletionsOf, FILTERING, type Groups, listOf, PAGING, recordsOf } from './search.ts';

/** An object of HubSpot's own. Its name is also its type in paths. */
interface Standard {
  readonly typeId: string;
  /** The word of its webhooks. */
  readonly noun: string;
  readonly label: string;
  /** The properties with the times of the last change and of the creation. */
  readonly times: readonly [updated: string, created: string];
  readonly alias?: string;
}

const RECORD = ['hs_lastmodifieddate', 'createdate'] as const;
const ACTIVITY = ['hs_lastmodifieddate', 'hs_createdate'] as const;

/** Objects that every account has. Source: "Understanding the CRM", "Object type IDs". */
export const STANDARD: Readonly<Record<string, Standard>> = {
  contacts: { typeId: '0-1', noun: 'contact', label: 'Contacts', times: ['lastmodifieddate', 'createdate'] },
  companies: { typeId: '0-2', noun: 'company', label: 'Companies', times: RECORD, alias: 'accounts' },
  deals: { typeId: '0-3', noun: 'deal', label: 'Deals', times: RECORD, alias: 'opportunities' },
  tickets: { typeId: '0-5', noun: 'ticket', label: 'Tickets', times: RECORD, alias: 'incidents' },
  products: { typeId: '0-7', noun: 'product', label: 'Products', times: RECORD },
  line_items: { typeId: '0-8', noun: 'line_item', label: 'Line items', times: RECORD },
  notes: { typeId: '0-46', noun: 'note', label: 'Notes', times: ACTIVITY },
  meetings: { typeId: '0-47', noun: 'meeting', label: 'Meetings', times: ACTIVITY },
  calls: { typeId: '0-48', noun: 'call', label: 'Calls', times: ACTIVITY },
  emails: { typeId: '0-49', noun: 'email', label: 'E-mails', times: ACTIVITY },
  tasks: { typeId: '0-27', noun: 'task', label: 'Tasks', times: ACTIVITY },
};

/** Returns the objects of HubSpot and those that the account has defined, without their fields. */
export async function discoverObjects(context: ConnectorContext): Promise<Objects> {
  const custom = (await readSchemas(context)).map((schema) => customOutline(schema));
  const standard = Object.entries(STANDARD).map(([name, { label, times, alias }]) => {
    const aliases = alias === undefined ? undefined : [alias];
    return [name, outlineOf({ type: name, times, required: [], about: defined({ label, aliases }) })] as const;
  });
  return Object.fromEntries([...custom, ...standard, ['owners', owners]]);
}

/** Reads the definitions of custom objects. Not every account has them, and not every token may read them. */
async function readSchemas({ send, signal }: ConnectorContext): Promise<readonly Json[]> {
  try {
    const { body } = await send({ path: '/crm-object-schemas/v3/schemas' });
    return json.objects(json.at(body, 'results'), 'the definitions of custom objects');
  } catch (error) {
    signal.throwIfAborted();
    if (isDenied(error) && !isUnauthorized(error)) return [];
    throw error;
  }
}

interface Source {
  /** The type in paths. */
  readonly type: string;
  readonly times: Standard['times'];
  readonly required: readonly unknown[];
  readonly about: Pick<ObjectSpec, 'label' | 'aliases' | 'custom' | 'native'>;
}

function customOutline(schema: Json): readonly [name: string, object: ObjectSpec] {
  const type = json.text(schema.objectTypeId, 'the type of a custom object');
  const label = json.findText(json.at(schema, 'labels', 'plural'));
  const required = json.array(schema.requiredProperties ?? [], 'the required properties');
  const about = defined({ label, custom: true, native: type });
  return [json.text(schema.name, 'the name of a custom object'), outlineOf({ type, times: ACTIVITY, required, about })];
}

const ALL = { reports: ['created', 'updated', 'deleted'] } as const;

function outlineOf(source: Source): ObjectSpec {
  const { type, about } = source;
  return defineObject<Groups>({
    ...about,
    fields: {},
    list: listOf(type),
    ...recordsOf(type),
    changes: ALL,
    describe: (context) => describeObject(context, source),
  });
}

/** Reads the properties of an object: HubSpot's and those that the account added. */
async function describeObject(
  { send }: ConnectorContext,
  { type, times, required, about }: Source,
): Promise<ObjectSpec> {
  const { body } = await send({ path: path`/crm/v3/properties/${type}` });
  const properties = json
    .objects(json.at(body, 'results'), 'the properties')
    .filter(({ archived }) => archived !== true);
  const described = properties.map(
    (each) => [json.text(each.name, 'the name of a property'), toFieldSpec(each, required)] as const,
  );
  const fields = Object.fromEntries([['id', ID_FIELD], ...described.filter(([name]) => name !== ID)]);
  const [updated, created] = times.map((name) => (Object.hasOwn(fields, name) ? name : undefined));
  return defineObject<Groups>({
    ...about,
    fields,
    ...FILTERING,
    list: listOf(type),
    ...recordsOf(type),
    // The search finds a change some moments later, and HubSpot does not say how many.
    changes: defined({ updated, created, overlapSeconds: 120, feed: deletionsOf(type) }),
  });
}

/** Owners: users and queues, who are not records of the CRM. */
const owners = defineObject<Inputs>({
  label: 'Owners',
  description: 'Users and queues to which records are assigned.',
  fields: fieldsOf(official, 'PublicOwner', {
    pick: 'id email firstName lastName type userId teams archived createdAt updatedAt',
    but: {
      id: { type: 'integer', read: codec.integer.read },
      email: { filter: can.only('superset', '=') },
    },
  }),
  translator: inputs({ email: 'email' }),
  list: list<Inputs>({
    request: ({ filter, page }) => ({ path: '/crm/v3/owners', query: { ...filter, ...page } }),
    rows: (body) => json.array(json.at(body, 'results'), 'the owners'),
    paging: PAGING,
  }),
  ...records({ get: (id) => ({ path: path`/crm/v3/owners/${id}` }) }),
});
