import {
  type ConnectorContext,
  can,
  defineObject,
  type Fields,
  type Inputs,
  type Json,
  json,
  type ObjectSpec,
  path,
  records,
  type UpdateInput,
} from '#connector';
import {
  ASKED_FLAG,
  ASKED_REFERENCE,
  ASKED_TIME,
  all,
  ID,
  LIST,
  NUMBER,
  REFERENCE,
  SEARCHED,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { compared, equal, filterBy } from './filter.ts';
import { firstVersionListOf, LIMITS, listOf } from './lists.ts';

/** Objects that only the first version of the API has, or of which it has more. */

const COMMISSION_FIELDS = {
  date_earned: { ...ASKED_TIME, aliases: SEARCHED },
  amount_earned: NUMBER,
  sales_affiliate_id: ASKED_REFERENCE,
  ...all(REFERENCE, 'invoice_id contact_id'),
  ...all(TEXT, 'description product_name contact_first_name contact_last_name sold_by_first_name sold_by_last_name'),
} as const satisfies Fields;

/** Commissions, which have no ids. The second version lists only those of one affiliate. */
export const commissions = defineObject<Inputs>({
  label: 'Commissions of affiliates',
  fields: COMMISSION_FIELDS,
  translator: filterBy({ date_earned: { from: 'since', to: 'until' }, sales_affiliate_id: 'affiliateId' }),
  list: firstVersionListOf('affiliates/commissions', 'commissions', { order: 'DATE_EARNED' }),
});

const TRANSACTION_FIELDS = {
  id: { ...ID, filter: {} },
  transaction_date: { ...ASKED_TIME, aliases: SEARCHED },
  amount: NUMBER,
  contact_id: ASKED_REFERENCE,
  order_ids: { ...TEXT, label: 'Ids of the orders, separated by commas' },
  orders: LIST,
  ...all(TEXT, 'currency type status gateway gateway_account_name collection_method errors'),
  test: { type: 'boolean' },
} as const satisfies Fields;

/** Transactions, which the connector reads in the first version, because they have no ids in the second. */
export const transactions = defineObject<Inputs>({
  label: 'Transactions',
  description: 'Payments and refunds of orders.',
  fields: TRANSACTION_FIELDS,
  translator: filterBy({ transaction_date: { from: 'since', to: 'until' }, contact_id: 'contact_id' }),
  list: firstVersionListOf('transactions', 'transactions'),
  changes: { updated: 'transaction_date', created: 'transaction_date', reports: ['created'] },
  ...records({ get: (id) => ({ path: path`/rest/v1/transactions/${id}` }) }),
});

const SUPERSET = can.only('superset', '=');

const OWN_TASK_FIELDS = {
  id: { ...ID, filter: {} },
  ...all(TEXT, 'title description type url'),
  priority: { type: 'integer' },
  completed: ASKED_FLAG,
  due_time: { ...TIME, native: 'due_date', filter: can.only('superset', 'IS NULL', 'IS NOT NULL') },
  completion_time: { ...TIME, native: 'completion_date' },
  remind_time_mins: { type: 'integer', native: 'remind_time' },
  assigned_to_user_id: { ...REFERENCE, native: 'user_id', filter: SUPERSET, aliases: { user_id: '=' } },
  contact_id: { ...REFERENCE, native: 'contact.id', filter: SUPERSET },
  create_time: { ...TIME, native: 'creation_date' },
  modification_time: { ...TIME, native: 'modification_date' },
} as const satisfies Fields;

export const ownTasks = defineObject<Inputs>({
  label: 'Tasks of the user',
  description:
    'Tasks of the user who granted access, as the search of Keap returns them. Read and write single ones in `tasks`.',
  fields: OWN_TASK_FIELDS,
  parameters: {
    since: { type: 'datetime', description: 'Start of the period to search.' },
    until: { type: 'datetime', description: 'End of the period to search.' },
  },
  translator: filterBy(
    { completed: 'completed', assigned_to_user_id: 'user_id', contact_id: 'contact_id' },
    { due_time: [{ has_due_date: 'false' }, { has_due_date: 'true' }] },
  ),
  list: firstVersionListOf('tasks/search', 'tasks'),
});

const APPOINTMENT_TIME = { ...ASKED_TIME, filter: { ...can.only('exact', '='), ...can.order('exact') } } as const;

const APPOINTMENT_FIELDS = {
  id: { ...ID, filter: {} },
  title: { ...TEXT, ...WRITTEN, required: true },
  description: { ...TEXT, ...WRITTEN },
  location: { ...TEXT, ...WRITTEN },
  contact_id: { ...ASKED_REFERENCE, ...WRITTEN },
  user_id: { ...ASKED_REFERENCE, ...WRITTEN },
  start_time: { ...APPOINTMENT_TIME, ...WRITTEN, required: true, sortable: true },
  end_time: { ...APPOINTMENT_TIME, ...WRITTEN, required: true, sortable: true },
  remind_time: { type: 'integer', ...WRITTEN, unlisted: true, label: 'Minutes before the start, for a reminder' },
  create_time: { ...APPOINTMENT_TIME, sortable: true },
  update_time: { ...APPOINTMENT_TIME, sortable: true },
} as const satisfies Fields;

/** Appointments. The second version lists them. Only the first version has single ones, under other names. */
export const appointments = defineObject<Inputs>({
  label: 'Appointments',
  description: 'Appointments of Keap Max Classic. The API has no appointments of other editions.',
  fields: APPOINTMENT_FIELDS,
  limits: LIMITS,
  translator: filterBy({
    contact_id: equal('contact_id'),
    user_id: equal('user_id'),
    start_time: compared('start_time'),
    end_time: compared('end_time'),
    create_time: compared('create_time'),
    update_time: compared('update_time'),
  }),
  // The documents spell the member in one way, and clients in the other.
  list: listOf({ path: 'taskAppointments', rows: ['taskAppointments', 'task_appointments'] }),
  changes: { updated: 'update_time', created: 'create_time' },
  ...appointmentRecords(),
});

function appointmentRecords(): Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'> {
  const at = (id: string) => path`/rest/v1/appointments/${id}`;
  return {
    get: { run: (context, { id }) => findAppointment(context, id) },
    create: {
      run: async (context, { values }) => {
        const { body } = await context.send({ method: 'POST', path: '/rest/v1/appointments', json: toFirst(values) });
        return findAppointment(context, json.key(json.at(body, 'id'), 'the id of the new appointment'));
      },
    },
    update: {
      run: async (context, { id, values }) => {
        await context.send({ method: 'PATCH', path: at(id), json: toFirst(values) });
        return findAppointment(context, id);
      },
    },
    remove: { request: ({ id }) => ({ method: 'DELETE', path: at(id) }), read: () => {} },
  };
}

/**
 * Finds an appointment. The first version lacks the times of creation and change, so these come from the list, which is filtered by the
 * start.
 */
async function findAppointment({ send }: ConnectorContext, id: string): Promise<Json> {
  const { body } = await send({ path: path`/rest/v1/appointments/${id}` });
  const { start_date, end_date, user, contact_id, ...same } = json.object(body, 'the appointment');
  const start = json.text(start_date, 'the start of the appointment');
  const { body: listed } = await send({
    path: '/rest/v2/taskAppointments',
    query: { filter: `start_time==${new Date(start).toISOString()}`, page_size: 1000 },
  });
  const rows = json.objects(
    json.at(listed, 'taskAppointments') ?? json.at(listed, 'task_appointments'),
    'appointments',
  );
  return {
    ...same,
    id,
    start_time: start,
    end_time: end_date,
    user_id: user,
    contact_id,
    ...rows.find((row) => row.id === id),
  };
}

const FIRST_NAMES: Readonly<Record<string, string>> = {
  start_time: 'start_date',
  end_time: 'end_date',
  user_id: 'user',
};
const NUMBERS: ReadonlySet<string> = new Set(['user_id', 'contact_id']);

function toFirst(values: UpdateInput['values']): Json {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      FIRST_NAMES[name] ?? name,
      NUMBERS.has(name) && /^\d{1,15}$/.test(String(value)) ? Number(value) : value,
    ]),
  );
}
