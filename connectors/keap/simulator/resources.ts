import { createTable, type MovableClock, type Table, type TableChange, type TableRow } from '#connector/simulator';
import type { FilterSpec, Operator } from './filter.ts';
import * as rows from './rows.ts';

/** An object of v2, as its page of the reference says it. */
export interface Resource {
  readonly table: Table;
  /** What a list calls its rows. */
  readonly list: string;
  readonly noun: string;
  readonly filters: Readonly<Record<string, FilterSpec>>;
  readonly orders: Readonly<Record<string, Order>>;
  /** Members that are shown only when `fields` names them. */
  readonly optional?: readonly string[];
  /** Whether `fields` names all that is shown. */
  readonly isSparse?: boolean;
}

export type Order = Pick<FilterSpec, 'read' | 'type'>;

const column =
  (name: string) =>
  (row: TableRow): unknown =>
    row[name];

/** A member of a part, or of each of several. */
const part =
  (name: string, member: string) =>
  (row: TableRow): unknown => {
    const parts = [row[name] ?? []].flat().map((each) => Object(each)[member]);
    return parts.length === 0 ? null : parts;
  };

type Read = FilterSpec['read'];

const COMPARED: readonly Operator[] = ['==', '>', '<', '>=', '<='];
const text = (read: Read): FilterSpec => ({ read, type: 'text' });
const prefixed = (read: Read, least = 1): FilterSpec => ({ read, type: 'text', prefix: { least } });
const id = (read: Read): FilterSpec => ({ read, type: 'whole' });
const ids = (read: Read, excludes?: string): FilterSpec => ({
  ...{ read, type: 'whole', isList: true },
  ...(excludes !== undefined && { excludes }),
});
const compared = (read: Read, type: FilterSpec['type'] = 'whole'): FilterSpec => ({ read, type, operators: COMPARED });
const all = (read: Read, type: FilterSpec['type'] = 'whole'): FilterSpec => ({
  ...{ read, type, operators: [...COMPARED, '!='] },
});
const flag = (read: Read): FilterSpec => ({ read, type: 'flag' });
const word = (read: Read, values: readonly string[]): FilterSpec => ({ read, type: 'text', values });
const since = (read: Read): FilterSpec => ({ read, type: 'time', bound: '>=' });
const until = (read: Read): FilterSpec => ({ read, type: 'time', bound: '<=' });
const exact = (spec: FilterSpec): FilterSpec => ({ ...spec, isExact: true });
const time = (read: Read): Order => ({ read, type: 'time' });
const whole = (read: Read): Order => ({ read, type: 'whole' });

const CUSTOM_SPECS = {
  TEXT: (read: Read) => prefixed(read),
  WHOLE_NUMBER: (read: Read) => compared(read),
  DATE_TIME: (read: Read) => exact(compared(read, 'time')),
};

/** By the name of the field, which the model tells. */
const CUSTOM: Readonly<Record<string, FilterSpec>> = Object.fromEntries(
  rows.CUSTOM_FIELDS.map(({ id: key, field_type, field_name }) => {
    const read = ({ custom_fields }: TableRow): unknown =>
      [custom_fields ?? []]
        .flat()
        .map(Object)
        .find((field) => field.id === key)?.content;
    return [field_name, { ...CUSTOM_SPECS[field_type](read), isCustom: true }];
  }),
);

const address = (field: string, member: string) =>
  text(
    ({ addresses }) =>
      [addresses ?? []]
        .flat()
        .map(Object)
        .find((each) => each.field === field)?.[member],
  );

const ADDRESSES = Object.fromEntries(
  ['billing', 'shipping', 'other'].flatMap((kind) =>
    ['line1', 'locality', 'region', 'postal_code', 'country_code'].map((member) => [
      `${kind}_address_${member}`,
      address(kind.toUpperCase(), member),
    ]),
  ),
);

export const FILE_CATEGORIES = [
  ...['ATTACHMENTS', 'CART', 'DOCUMENTS', 'HIDDEN', 'INVOICE', 'LOGO', 'TICKETS', 'WEB_FORM', 'FUNNEL'],
];
const FILE_BOX_TYPES = [
  ...['APPLICATION', 'IMAGE', 'FAX', 'ATTACHMENT', 'TICKET', 'CONTACT', 'DIGITAL_PRODUCT', 'IMPORT', 'HIDDEN'],
  ...['WEB_FORM', 'STYLED_CART', 'RESAMPLED_IMAGE', 'TEMPLATE_THUMBNAIL', 'FUNNEL', 'LOGO_THUMBNAIL', 'UNLAYER'],
  'BRANDING_CENTER_LOGO',
];
export const PRIORITIES = ['CRITICAL', 'ESSENTIAL', 'NONESSENTIAL'];
export const ORDER_TYPES = ['ONLINE', 'OFFLINE'];

/** Members of a contact that are shown when nobody asks for others. */
const ALWAYS = ['id', 'given_name', 'family_name'];

export type Resources = ReturnType<typeof createResources>;

export interface Told {
  /** `POST /simulate/changes` and webhooks by the name of the table. */
  readonly onChange: (table: string, change: TableChange) => void;
}

/** One application, its objects with the filters and orders of their endpoints. */
export function createResources(clock: MovableClock, { onChange }: Told) {
  function tableOf(name: string, first: readonly TableRow[], options: TableParts): Table {
    const { key = 'id', created, changed = [], initial = {} } = options;
    const nothing = Object.fromEntries(
      Object.entries(first[0] ?? {}).map(([member, value]) => [member, Array.isArray(value) ? [] : null]),
    );
    return createTable({
      rows: first,
      keyOf: (row) => String(row[key]),
      initial: (_, before) => ({ ...nothing, ...initial, [key]: String(Number(before().at(-1)?.[key] ?? 0) + 2) }),
      stamps: { clock, write: rows.wholeSeconds, created: [created], changed },
      onChange: (change) => onChange(name, change),
    });
  }
  const by = { created_by: rows.USER_ID, last_updated_by: rows.USER_ID };
  return {
    contacts: {
      list: 'contacts',
      noun: 'Contact',
      table: tableOf('contacts', rows.contacts, {
        created: 'create_time',
        changed: ['update_time'],
        initial: { source_type: 'API', score_value: '0', leadsource_id: '0', ...by },
      }),
      filters: {
        email: prefixed(part('email_addresses', 'email')),
        given_name: prefixed(column('given_name')),
        family_name: prefixed(column('family_name')),
        middle_name: prefixed(column('middle_name')),
        company_id: id(part('company', 'id')),
        contact_ids: ids(column('id')),
        ids: ids(column('id')),
        start_update_time: exact(since(column('update_time'))),
        end_update_time: exact(until(column('update_time'))),
        phone_number: { ...prefixed(part('phone_numbers', 'number'), 3), needs: 'phone_fields' },
        // It says where to search, which here is one place alone.
        phone_fields: { ...text(() => 'PHONE1'), isList: true, values: [1, 2, 3, 4, 5].map((n) => `PHONE${n}`) },
        ...ADDRESSES,
        city: prefixed(part('addresses', 'locality')),
        state: prefixed(part('addresses', 'region')),
        website: prefixed(column('website')),
        lead_source_name: prefixed(column('_lead_source_name')),
        contact_id: compared(column('id')),
        ...CUSTOM,
      },
      orders: {
        id: whole(column('id')),
        create_time: time(column('create_time')),
        email: text((row) => Object([row.email_addresses ?? []].flat()[0]).email),
        update_time: time(column('update_time')),
      },
      optional: Object.keys(rows.contacts[0] ?? {}).filter((name) => !ALWAYS.includes(name)),
      isSparse: true,
    },
    tags: {
      list: 'tags',
      noun: 'Tag',
      table: tableOf('tags', rows.tags, { created: 'create_time', changed: ['update_time'] }),
      filters: {
        name: text(column('name')),
        description: { ...text(column('description')), none: 'NONE' },
        category_id: { ...id(({ category }) => Object(category).id), none: 'NONE' },
        tag_ids: ids(column('id')),
        since_create_time: since(column('create_time')),
        until_create_time: until(column('create_time')),
        since_update_time: since(column('update_time')),
        until_update_time: until(column('update_time')),
      },
      orders: {
        name: text(column('name')),
        create_time: time(column('create_time')),
        update_time: time(column('update_time')),
      },
    },
    tasks: {
      list: 'tasks',
      noun: 'Task',
      table: tableOf('tasks', rows.tasks, {
        created: 'create_time',
        changed: ['modification_time'],
        initial: {
          ...{ completed: false, accepted: false, priority: 'NONESSENTIAL' },
          ...{ created_by_user_id: rows.USER_ID, last_updated_by_user_id: rows.USER_ID },
        },
      }),
      filters: {
        contact_id: id(column('contact_id')),
        has_due_date: flag(({ due_time }) => due_time !== null),
        is_completed: flag(column('completed')),
        user_id: { ...id(column('assigned_to_user_id')), none: 'UNASSIGNED' },
        opportunity_id: id(column('opportunity_id')),
        task_ids: ids(column('id')),
        priority: word(column('priority'), PRIORITIES),
        // Of which time Keap does not say: nobody should build on it.
        since_time: since(column('due_time')),
        until_time: until(column('due_time')),
        id: compared(column('id')),
        title: prefixed(column('title')),
        ...CUSTOM,
      },
      orders: {
        id: whole(column('id')),
        create_time: time(column('create_time')),
        due_time: time(column('due_time')),
        update_time: time(column('modification_time')),
      },
      optional: ['custom_fields'],
    },
    opportunities: {
      list: 'opportunities',
      noun: 'Opportunity',
      table: tableOf('opportunities', rows.opportunities, {
        created: 'created_time',
        changed: ['last_updated_time'],
        initial: {
          ...{ include_in_forecast: false, projected_revenue_low: 0, projected_revenue_high: 0, status_id: '1', ...by },
        },
      }),
      filters: {
        stage_id: id(part('stage', 'id')),
        user_id: id(part('user', 'id')),
        contact_id: id(part('contact', 'id')),
        opportunity_title: prefixed(column('opportunity_title')),
        lead_source_name: prefixed(column('lead_source')),
        affiliate_id: id(column('affiliate_id')),
        opportunity_id: compared(column('id')),
        ids: ids(column('id'), 'opportunity_id'),
        contact_phone: prefixed(part('contact', 'phone_number')),
        contact_city: prefixed(part('contact', 'city')),
        contact_state: prefixed(part('contact', 'state')),
        projected_revenue_high: compared(column('projected_revenue_high'), 'number'),
        projected_revenue_low: compared(column('projected_revenue_low'), 'number'),
        ...CUSTOM,
      },
      orders: {
        next_action_time: time(column('next_action_time')),
        contact_name: text(({ contact }) => `${Object(contact).first_name ?? ''} ${Object(contact).last_name ?? ''}`),
        opportunity_title: text(column('opportunity_title')),
        created_time: time(column('created_time')),
        update_time: time(column('last_updated_time')),
      },
      optional: ['custom_fields', 'created_by', 'last_updated_by', 'status_id'],
    },
    orders: {
      list: 'orders',
      noun: 'Order',
      table: tableOf('orders', rows.orders, {
        created: 'creation_time',
        changed: ['modification_time'],
        initial: {
          ...{ status: 'DRAFT', source_type: 'API', lead_affiliate_id: '0', sales_affiliate_id: '0' },
          ...{ total: rows.money(0), total_paid: rows.money(0), total_due: rows.money(0) },
          ...{ refund_total: rows.money(0), allow_payment: true, allow_paypal: false, synced: false },
        },
      }),
      filters: {
        id: all(column('id')),
        ids: ids(column('id')),
        product_id: id(({ order_items }) => [order_items ?? []].flat().map((item) => Object(item).product?.id)),
        contact_id: id(part('contact', 'id')),
        invoice_id: id(column('invoice_id')),
        invoice_xid: text(column('_invoice_xid')),
        paid: flag(({ status }) => status === 'PAID'),
        created_since_time: since(column('creation_time')),
        created_until_time: until(column('creation_time')),
        modified_since_time: since(column('modification_time')),
        modified_until_time: until(column('modification_time')),
        title: prefixed(column('title')),
        order_type: word(column('order_type'), ORDER_TYPES),
        ...Object.fromEntries(
          ['locality', 'region_code', 'postal_code', 'country_code'].map((member) => [
            `shipping_${member}`,
            text((row) => Object(Object(row.shipping_information).address)[member]),
          ]),
        ),
        ...CUSTOM,
      },
      orders: {
        id: whole(column('id')),
        order_time: time(column('order_time')),
        modification_time: time(column('modification_time')),
      },
    },
    transactions: {
      list: 'transactions',
      noun: 'Transaction',
      table: tableOf('transactions', rows.transactions, { key: '_id', created: 'transaction_time' }),
      filters: {
        amount: all(column('amount'), 'number'),
        order_id: id(column('order_ids')),
        contact_id: id(column('contact_id')),
        since_time: since(column('transaction_time')),
        until_time: until(column('transaction_time')),
        merchant_account_id: id(column('merchant_account_id')),
        merchant_account_type: text(column('merchant_account_type')),
        status: text(column('status')),
        transaction_method: text(column('transaction_method')),
        is_successful: flag(column('is_successful')),
      },
      orders: {
        amount: { read: column('amount'), type: 'number' },
        transaction_time: time(column('transaction_time')),
        contact_id: whole(column('contact_id')),
      },
    },
    emails: {
      list: 'emails',
      noun: 'Email',
      table: tableOf('emails', rows.emails, {
        created: '_created_time',
        initial: { original_provider: 'UNKNOWN' },
      }),
      filters: {
        contact_id: id(column('contact_id')),
        email: text(column('sent_to_address')),
        start_created_time: since(column('_created_time')),
        end_created_time: until(column('_created_time')),
      },
      orders: { created_time: time(column('_created_time')) },
    },
    files: {
      list: 'files',
      noun: 'File',
      table: tableOf('files', rows.files, {
        created: 'created_time',
        changed: ['updated_time'],
        initial: {
          category: 'DOCUMENTS',
          is_public: false,
          created_by_id: rows.USER_ID,
          file_box_type: 'APPLICATION',
          _permission: 'USER',
        },
      }),
      filters: {
        is_public: flag(column('is_public')),
        contact_id: id(column('contact_id')),
        user_id: id(column('created_by_id')),
        category: word(column('category'), FILE_CATEGORIES),
        file_box_type: word(column('file_box_type'), FILE_BOX_TYPES),
        file_name: text(column('file_name')),
        created_time: { ...time(column('created_time')) },
        updated_time: { ...time(column('updated_time')) },
      },
      orders: { file_name: text(column('file_name')), updated_time: time(column('updated_time')) },
    },
    appointments: {
      list: 'taskAppointments',
      noun: 'Appointment',
      table: tableOf('appointments', rows.appointments, { created: 'create_time', changed: ['update_time'] }),
      filters: {
        contact_id: id(column('contact_id')),
        user_id: id(column('user_id')),
        ...Object.fromEntries(
          ['start_time', 'end_time', 'create_time', 'update_time'].map((name) => [
            name,
            compared(column(name), 'time'),
          ]),
        ),
      },
      orders: Object.fromEntries(
        ['start_time', 'end_time', 'create_time', 'update_time'].map((name) => [name, time(column(name))]),
      ),
    },
    commissions: {
      list: 'affiliate_commissions',
      noun: 'Commission',
      table: tableOf('commissions', rows.commissions, { key: '_key', created: 'time_earned' }),
      filters: { since_time: since(column('time_earned')), until_time: until(column('time_earned')) },
      orders: { invoice_id: whole(column('invoice_id')), time_earned: time(column('time_earned')) },
    },
  } as const satisfies Readonly<Record<string, Resource>>;
}

interface TableParts {
  /** Default `id`. */
  readonly key?: string;
  readonly created: string;
  readonly changed?: readonly string[];
  readonly initial?: TableRow;
}
