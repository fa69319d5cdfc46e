import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  describedMembers,
  Fault,
  HOSTILE_TEXTS,
  type Member,
  type Members,
  type MovableClock,
  pick,
  type RecordDescription,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import described from './described.json' with { type: 'json' };
import { badRequest, type Written } from './filter.ts';

export type Name = keyof typeof described.resources;

/** An object of v2, as described on its page of the reference. */
export interface Resource extends CollectionSpec {
  readonly path: string;
  /** The member of a list that contains the rows. */
  readonly list: string;
  readonly noun: string;
  readonly filters: Written;
  readonly orders: Written;
  /** Members that lists never contain. */
  readonly hidden: readonly string[];
  /** Members that are included only when `fields` names them. */
  readonly optional: readonly string[];
  /** Whether `fields` names every included member. */
  readonly isSparse: boolean;
}

export type Records = Readonly<Record<Name, Collection<Resource, Name>>>;

/** The user who owns the token. */
export const USER_ID = '1';

const STAGES: readonly TableRow[] = ['New Opportunity', 'Qualifying', 'Won'].map((name, index) => ({
  ...{ id: String(18 + 2 * index), name },
  details: { probability: index * 50, stage_order: 10 * (index + 1) },
}));
const USERS: readonly TableRow[] = [
  { id: USER_ID, first_name: 'Integration', last_name: 'User' },
  { id: '17', first_name: "D'Arcy", last_name: '李' },
];
/** Ids of references whose records have no collection. */
const ENTRIES = {
  users: USERS.map(({ id }) => id),
  stages: STAGES.map(({ id }) => id),
  ...{
    accounts: ['7', '8'],
    statuses: ['1', '2'],
    affiliates: ['3', '5'],
    sources: ['0', '12', '14'],
    invoices: ['1000', '1001', '1002'],
  },
};

/** Returns ids with gaps. */
const idAt = (index: number) => String(index + 1 + 3 * Math.floor(index / 7));
const contactIds: Column = (index) => idAt((index * 5) % 40);
const money = (amount: number, index = 0) => ({ amount, currency_code: pick(['USD', 'USD', 'JPY', 'KWD'], index) });
const amounts: Column = (index) => money((index % 9) * 1050, index);

function addressAt(index: number) {
  return {
    ...{ country_code: 'USA', field: pick(['BILLING', 'SHIPPING', 'OTHER'], index), line1: `${index} "Main" St.` },
    ...{ locality: pick(['Chandler', 'CHANDLER', 'München', "Coeur d'Alene"], index), postal_code: '85001' },
    ...{ region: pick(['Arizona', 'AZ', 'Bayern', 'Idaho'], index), region_code: 'US-AZ' },
  };
}

const VARY: Readonly<Partial<Record<Name, Readonly<Record<string, Column>>>>> = {
  contacts: {
    email_addresses: (index) =>
      index % 8 === 7 ? [] : [{ email: `Person${index % 40}@example.com`, field: 'EMAIL1', is_opt_in: false }],
    phone_numbers: (index) => [
      { number: pick(['(480) 227-4399', '4802274400', '+49 30 901820'], index), field: 'PHONE1' },
    ],
    addresses: (index) => (index % 5 === 4 ? [] : [addressAt(index)]),
    company: sparse(3, (index) => ({ id: String(200 + (index % 4)), company_name: 'Müller' })),
  },
  tags: {
    category: cycle([null, { id: '10' }, { id: '12' }]),
    description: cycle([null, '', 'High-value', "O'Brien's"]),
  },
  tasks: {
    ...{ contact_id: sparse(6, contactIds), remind_time_mins: sparse(2, cycle([5, 60, 2880])) },
    assigned_to_user_id: cycle(['1', null, '17', '1']),
  },
  orders: {
    ...{ total: amounts, total_paid: amounts, total_due: amounts, refund_total: () => money(0) },
    order_items: (index) => [
      { id: idAt(index), name: 'Widget', quantity: 1, product: { id: String(40 + (index % 3)) } },
    ],
    shipping_information: sparse(2, (index) => ({ id: idAt(index), address: addressAt(index) })),
  },
  transactions: {
    order_ids: (index) => (index % 6 === 5 ? [] : [idAt(index % 30)]),
    status: cycle(['APPROVED', 'PENDING', 'ERROR', 'FAILED', 'NONE']),
  },
  emails: {
    contact_id: sparse(7, contactIds),
    plain_content: (index) => encode(pick(HOSTILE_TEXTS, index)),
    html_content: (index) => encode(`<h1>${index}</h1>`),
  },
  files: { permission: cycle(['USER', 'COMPANY']), file_size: (index) => Buffer.byteLength(contentOf(idAt(index))) },
  appointments: { remind_time: cycle([5, 60, 2880]) },
};

const by = { created_by: USER_ID, last_updated_by: USER_ID };
const INITIAL: Readonly<Partial<Record<Name, TableRow>>> = {
  contacts: { source_type: 'API', score_value: '0', leadsource_id: '0', ...by },
  tasks: { completed: false, accepted: false, priority: 'NONESSENTIAL', created_by_user_id: USER_ID },
  opportunities: {
    include_in_forecast: false,
    projected_revenue_low: 0,
    projected_revenue_high: 0,
    status_id: '1',
    ...by,
  },
  orders: {
    ...{ status: 'DRAFT', source_type: 'API', total: money(0), total_paid: money(0), total_due: money(0) },
    ...{ refund_total: money(0), allow_payment: true, allow_paypal: false, synced: false },
  },
  emails: { original_provider: 'UNKNOWN' },
  files: { category: 'DOCUMENTS', is_public: false, created_by_id: USER_ID, permission: 'USER' },
};

const ROWS: Readonly<Record<Name, number>> = {
  ...{ contacts: 90, tags: 60, tasks: 75, opportunities: 60, orders: 64, transactions: 80, emails: 70, files: 60 },
  ...{ appointments: 66, commissions: 60 },
};

/** An object in `described.json`. */
interface About extends Partial<RecordDescription>, Pick<Resource, 'path' | 'list' | 'noun' | 'filters' | 'orders'> {
  /** The schema of its records in `official.json`, and that of a body. Without a schema, `properties` has all members. */
  readonly schema?: string;
  readonly request?: string;
  /** Names, divided by blanks. */
  readonly shown?: string;
  readonly hidden?: string;
  readonly optional?: string;
}

/** References by the name of their member. Keap describes them as texts. */
const REFERENCES: Readonly<Record<string, string>> = {
  ...{ account_id: 'accounts', leadsource_id: 'sources', contact_id: 'contacts', opportunity_id: 'opportunities' },
  ...{ owner_id: 'users', user_id: 'users', created_by_id: 'users', assigned_to_user_id: 'users' },
  ...{ created_by_user_id: 'users', last_updated_by_user_id: 'users', stage_id: 'stages', status_id: 'statuses' },
  ...{ affiliate_id: 'affiliates', lead_affiliate_id: 'affiliates', sales_affiliate_id: 'affiliates' },
  invoice_id: 'invoices',
};

/** Returns the members of an object: those of its schema, those of a body, and those that Keap's document lacks. */
function membersOf({ schema, request, properties = {}, required = [], readOnly = [] }: About): Members {
  const shown = schema === undefined ? {} : schemaMembers(official, schema);
  const sent = request === undefined ? {} : schemaMembers(official, request);
  const sendable = new Set(Object.keys(request === undefined ? shown : sent).map((path) => path.split('.', 1)[0]));
  const entries = Object.entries({ ...sent, ...shown }).map(([path, member]): [string, Member] => {
    const [name = '', inner] = path.split('.');
    const { isRequired: isNeeded = false, longest = member.longest } = sent[name] ?? {};
    const isRequired = isNeeded || required.includes(name);
    const known = member.values?.filter((value) => !value.endsWith('_UNSPECIFIED')) ?? [];
    const values = known.length === 0 ? undefined : known;
    const isReadOnly = !sendable.has(name) || readOnly.includes(name);
    const access = { isReadOnly, isRequired, isNeverNull: isRequired, refersTo: REFERENCES[name] };
    return [name, { type: inner === undefined ? typeOf(name, member) : 'object', longest, values, ...access }];
  });
  return { ...Object.fromEntries(entries), ...describedMembers({ properties, required, readOnly }) };
}

/** Some days and times have no format in Keap's document. */
function typeOf(name: string, { type }: Member): Member['type'] {
  if (Object.hasOwn(REFERENCES, name)) return 'reference';
  if (type !== 'string') return type;
  return /_time$|^time_earned$/.test(name) ? 'datetime' : /_date$/.test(name) ? 'date' : type;
}

const LABELS: Readonly<Partial<Record<Name, string>>> = { transactions: 'description', orders: 'notes' };

const CREATED = ['create_time', 'created_time', 'creation_time', 'transaction_time', 'time_earned'];
const CHANGED = ['update_time', 'updated_time', 'modification_time', 'last_updated_time'];

/** Creates the data of one application: its objects with the filters and orders of their endpoints. */
export function createRecords(clock: MovableClock, onChange: (name: Name, change: TableChange) => void): Records {
  const specOf = (name: Name): Resource => {
    const about: About = described.resources[name];
    const { path, list, noun, filters, orders, shown, hidden = '', optional = '' } = about;
    const members = membersOf(about);
    const isSparse = shown !== undefined;
    return {
      ...{ path, list, noun, filters, orders, members, isSparse, rows: ROWS[name], makeId: idAt },
      hidden: hidden.split(' '),
      optional: isSparse
        ? Object.keys(members).filter((member) => !shown.split(' ').includes(member))
        : optional.split(' '),
      key: name === 'transactions' ? '_id' : name === 'commissions' ? '_key' : 'id',
      // An object that nothing fills would lack what Keap requires of it.
      vary: { ...nullsFor(members), ...VARY[name] },
      initial: INITIAL[name],
      created: CREATED.filter((member) => member in members),
      changed: CHANGED.filter((member) => member in members),
      label: LABELS[name],
    };
  };
  const records: Records = createCollections({
    clock,
    onChange,
    entries: ENTRIES,
    read: {
      reference: (value, { refersTo = '' }) => {
        const [, ids] = Object.entries(ENTRIES).find(([name]) => name === refersTo) ?? [];
        const isThere =
          refersTo === 'contacts'
            ? records.contacts.table.find(String(value))
            : (ids?.some((id) => id === value) ?? true);
        return isThere === undefined || isThere === false ? undefined : value;
      },
    },
    refuse: ([{ message = '', member = '' } = {}]) => badRequest(message, member),
    absent: ({ noun }) => new Fault(404, 'NO_RECORD', `Unable to find this ${noun}`),
    of: {
      ...{ contacts: specOf('contacts'), tags: specOf('tags'), tasks: specOf('tasks'), orders: specOf('orders') },
      ...{ opportunities: specOf('opportunities'), transactions: specOf('transactions'), emails: specOf('emails') },
      ...{ files: specOf('files'), appointments: specOf('appointments'), commissions: specOf('commissions') },
    },
  });
  return records;
}

function nullsFor(members: Members): Readonly<Record<string, () => null>> {
  const objects = Object.entries(members).filter(([, { type }]) => type === 'object');
  return Object.fromEntries(objects.map(([name]) => [name, () => null]));
}

/** Returns a record together with the records that it refers to. */
export function expand(row: TableRow, name: Name, { contacts }: Pick<Records, 'contacts'>): TableRow {
  const { contact_id, stage_id, user_id } = row;
  const { id, email_addresses, phone_numbers, addresses, given_name, family_name, job_title } =
    contacts.table.find(String(contact_id)) ?? {};
  const [{ email = null } = {}, { number = null } = {}, { locality = null, region = null } = {}] = [
    ...[email_addresses, phone_numbers, addresses].map((list) => Object([list ?? []].flat()[0])),
  ];
  const contact = id === undefined ? null : { id, email, given_name, family_name };
  if (name === 'orders' || name === 'transactions') return { ...row, contact };
  if (name !== 'opportunities') return row;
  const context = { city: locality, state: region, phone_number: number, company_name: null, job_title };
  return {
    ...row,
    contact: id === undefined ? null : { id, email, first_name: given_name, last_name: family_name, ...context },
    stage: STAGES.find((each) => each.id === stage_id) ?? null,
    user: USERS.find((each) => each.id === user_id) ?? null,
  };
}

function encode(plain: string): string {
  return Buffer.from(plain).toString('base64');
}

/** Returns the content of a file that exists from the start. */
export function contentOf(id: string): string {
  return `The content of ${id}: ${pick(HOSTILE_TEXTS, Number(id))}`;
}
