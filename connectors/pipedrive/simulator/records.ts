import {
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  Fault,
  type Member,
  type Members,
  type MovableClock,
  schemaMembers,
  sparse,
  type TableChange,
  writeSeconds,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { CUSTOM_FIELDS } from './custom-fields.ts';

/** An object of Pipedrive. Its name is that of its records in paths. */
export interface Kind {
  /** The schema of its records. Those of its bodies have the endings `Create` and `Update`. */
  readonly schema: string;
  /** The word in webhooks. */
  readonly entity: string;
  /** The columns that its search reads, by their name in the parameter `fields`. */
  readonly searched?: Readonly<Record<string, string>>;
  /** The endpoint of its custom fields. */
  readonly fields?: string;
  readonly v1?: true;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  deals: { schema: 'Deal', entity: 'deal', searched: { title: 'title' }, fields: 'dealFields' },
  persons: {
    schema: 'Person',
    entity: 'person',
    searched: { name: 'name', email: 'emails', phone: 'phones', notes: 'notes' },
    fields: 'personFields',
  },
  organizations: {
    schema: 'Organization',
    entity: 'organization',
    searched: { name: 'name', address: 'address' },
    fields: 'organizationFields',
  },
  activities: { schema: 'Activity', entity: 'activity' },
  products: { schema: 'Product', entity: 'product', searched: { name: 'name', code: 'code' }, fields: 'productFields' },
  pipelines: { schema: 'Pipeline', entity: 'pipeline' },
  stages: { schema: 'Stage', entity: 'stage' },
  notes: { schema: 'Note', entity: 'note', v1: true },
  users: { schema: 'User', entity: 'user', v1: true },
};

/** Columns that refer to other objects. */
const REFERENCES: Readonly<Record<string, string>> = {
  owner_id: 'users',
  creator_user_id: 'users',
  user_id: 'users',
  person_id: 'persons',
  org_id: 'organizations',
  deal_id: 'deals',
  pipeline_id: 'pipelines',
  stage_id: 'stages',
};
/** Columns that the schemas describe as texts without saying that they are dates or times. */
const DAYS = ['due_date', 'birthday', 'expected_close_date'];
const TIMES = ['created', 'modified', 'last_login'];

/** Returns the columns of an object. The schema of its records describes their types, and those of bodies whether they can be written. */
function membersOf({ schema, fields }: Kind): Members {
  const { [`${schema}Create`]: create, [`${schema}Update`]: update } = official.schemas as Readonly<
    Record<string, { readonly properties?: object; readonly required?: readonly string[] }>
  >;
  const written = { ...create?.properties, ...update?.properties };
  const entries = Object.entries(schemaMembers(official, schema)).map(([path, member]): [string, Member] => {
    const [name = ''] = path.split('.');
    const access = { isReadOnly: !Object.hasOwn(written, name), isRequired: create?.required?.includes(path) === true };
    return [path, { ...member, ...typeOf(path, member), ...access, isNeverNull: access.isRequired }];
  });
  const custom = fields === undefined ? [] : CUSTOM_FIELDS.map(({ code, member }) => [`custom_fields.${code}`, member]);
  return Object.fromEntries([...entries.filter(([path]) => path !== 'custom_fields'), ...custom]);
}

function typeOf(path: string, { type }: Member): Pick<Member, 'type' | 'refersTo'> {
  if (Object.hasOwn(REFERENCES, path)) return { type: 'reference', refersTo: REFERENCES[path] };
  if (DAYS.includes(path)) return { type: 'date' };
  return { type: type === 'string' && isTime(path) ? 'datetime' : type };
}

/** Returns whether a column holds an instant, and not only the time of a day. */
export function isTime(name: string): boolean {
  return (name.endsWith('_time') && name !== 'due_time') || TIMES.includes(name);
}

const contact = (value: (index: number) => string) =>
  cycle([0, 1, 2, 3].map((index) => [{ value: value(index), primary: true, label: 'work' }]));

/** Columns whose values the schemas do not describe, by path. Others have hostile texts. */
const COLUMNS: Readonly<Record<string, Column>> = {
  status: cycle(['open', 'won', 'open', 'lost']),
  currency: cycle(['EUR', 'USD']),
  visible_to: cycle([1, 3, 5, 7]),
  emails: contact((index) => `Person${index}@Example.com`),
  phones: contact((index) => `+49 30 ${index}`),
  active_flag: () => true,
  due_time: sparse(3, cycle(['08:30', '23:59'])),
  duration: sparse(3, cycle(['00:30', '01:00'])),
  // None has a meaning for the connector, and their schemas have formats of their own.
  ...Object.fromEntries('source_lead_id lead_id category prices'.split(' ').map((name) => [name, () => null])),
};

/** Creates the records of the account. Deleted ones of v2 keep their row. Source: "Delete a deal". */
export function createRecords(clock: MovableClock, onChange: (kind: Kind, change: TableChange) => void) {
  const stamp = (initial: object) => () => ({
    add_time: writeSeconds(clock.now()),
    owner_id: 1,
    active_flag: true,
    ...initial,
  });
  const of = Object.entries(KINDS).map(([name, kind]): [string, CollectionSpec] => {
    const members = membersOf(kind);
    const vary = Object.entries(COLUMNS).filter(([path]) => Object.hasOwn(members, path));
    const isKept = Object.hasOwn(members, 'is_deleted') && kind.v1 !== true;
    const initial = kind.schema === 'Deal' ? { status: 'open', currency: 'EUR', pipeline_id: 1, stage_id: 1 } : {};
    return [
      name,
      {
        members: { ...members, ...(members.add_time && { add_time: { ...members.add_time, isNeverNull: true } }) },
        rows: name === 'users' ? 12 : 140,
        vary: { ...Object.fromEntries(vary), ...(isKept && { is_deleted: () => false }) },
        initial: stamp(initial),
        changed: [kind.schema === 'User' ? 'modified' : 'update_time'],
        ...(isKept && { deleted: 'is_deleted' }),
      },
    ];
  });
  return createCollections<string, CollectionSpec>({
    of: Object.fromEntries(of),
    clock,
    // Version 1 writes instants without an offset, in UTC.
    readTime: (value) => {
      const text = typeof value === 'string' ? value.replace(/^(\S+) (\S+)$/, '$1T$2Z') : '';
      return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : undefined;
    },
    read: {
      boolean: (value) => (value === 1 || value === 0 ? value === 1 : typeof value === 'boolean' ? value : undefined),
    },
    refuse: ([complaint]) => new Fault(400, 'validation', `Validation failed: ${complaint?.message}`),
    absent: () => new Fault(404, 'not_found', 'There is no such record'),
    onChange: (name, change) => {
      const kind = KINDS[name];
      if (kind !== undefined) onChange(kind, change);
    },
  });
}
