import { randomUUID } from 'node:crypto';
import {
  type ChangesInput,
  type ChangesPage,
  defined,
  defineObject,
  type FieldSpec,
  type Fields,
  type Json,
  json,
  type ListQuery,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderRequest,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { all, CHOICE, DAY, describedFields, FLAG, GUID, ID, NUMBER, OPTION, part, TEXT } from './fields.ts';
import { createTranslator, type Filter, SINCE } from './filter.ts';

/** The path of the accounting API. */
const API = '/api.xro/2.0';
const LARGEST_PAGE = 1000;
/** Ids of one request. More would make long addresses. */
const MOST_VALUES = 40;

interface Described {
  readonly label: string;
  readonly description?: string;
  readonly aliases?: readonly string[];
  /** The name in paths and in bodies. */
  readonly native: string;
  readonly id: string;
  readonly fields: Fields;
  /** Members that every change must send, because the description requires them. */
  readonly needed?: string;
  /** Parameters of every list. */
  readonly always?: Readonly<Record<string, string | boolean>>;
  /** A condition of every list. */
  readonly where?: string;
  /** The optimised parameters, by field. */
  readonly quick?: Readonly<Record<string, string>>;
  /** Whether the list comes whole. */
  readonly isWhole?: boolean;
  /** The notation of a new record, if it is not in a list. */
  readonly isBare?: boolean;
  /** The changes of records that Xero allows. Payments can only be deleted, by their status. */
  readonly verbs: 'update' | 'update, remove' | 'delete by status';
}

const WRITTEN = { createable: true, updateable: true } as const;
const CONTACT: Fields = {
  ContactID: { ...part('Contact.ContactID'), ...WRITTEN },
  ContactName: part('Contact.Name', TEXT),
};
/** Rates have more digits than others in every currency, and Xero documents no number of them. */
const AMOUNTS = 'SubTotal TotalTax Total';
const REQUIRED_DAY: FieldSpec = { ...DAY, nullable: false, sortable: true, ...WRITTEN };

const DOCUMENT = {
  ...all(CHOICE, 'Type Status'),
  Date: REQUIRED_DAY,
  ...all({ ...DAY, ...WRITTEN }, 'DueDate'),
  ...all(TEXT, 'Reference'),
  ...all(NUMBER, AMOUNTS),
};

const DESCRIBED: Readonly<Record<string, Described>> = {
  contacts: {
    label: 'Contacts',
    description: 'Customers and suppliers, also archived ones. To archive one, set `ContactStatus` to `ARCHIVED`.',
    aliases: ['customers'],
    native: 'Contacts',
    id: 'ContactID',
    fields: describedFields({
      schema: 'Contact',
      computed:
        'ContactID MergedToContactID IsSupplier IsCustomer ContactGroups Balances HasAttachments BrandingTheme XeroNetworkKey',
      required: 'Name',
      but: {
        ContactID: ID,
        Name: { ...TEXT, nullable: false },
        ...all(TEXT, 'FirstName LastName EmailAddress ContactNumber AccountNumber TaxNumber CompanyNumber'),
        ContactStatus: CHOICE,
        ...all(FLAG, 'IsSupplier IsCustomer'),
      },
    }),
    always: { includeArchived: true },
    quick: { ContactID: 'IDs' },
    verbs: 'update',
  },
  invoices: {
    label: 'Invoices',
    description:
      'Sales invoices (`ACCREC`) and bills (`ACCPAY`). To delete or void one, set `Status` to `DELETED` or `VOIDED`.',
    native: 'Invoices',
    id: 'InvoiceID',
    fields: {
      ...describedFields({
        schema: 'Invoice',
        computed: 'InvoiceID RepeatingInvoiceID',
        required: 'Type LineItems',
        but: {
          ...DOCUMENT,
          InvoiceID: ID,
          InvoiceNumber: TEXT,
          CurrencyCode: OPTION,
          SentToContact: FLAG,
          ...all({ ...DAY, ...WRITTEN }, 'ExpectedPaymentDate PlannedPaymentDate'),
          FullyPaidOnDate: DAY,
          ...all(NUMBER, 'AmountDue AmountPaid AmountCredited'),
        },
      }),
      ...CONTACT,
    },
    always: { includeArchived: true },
    quick: { InvoiceID: 'IDs', ContactID: 'ContactIDs', Status: 'Statuses' },
    verbs: 'update',
  },
  payments: {
    label: 'Payments',
    description: 'Payments of invoices and credit notes. Xero keeps deleted ones, and Causeway does not list them.',
    native: 'Payments',
    id: 'PaymentID',
    fields: {
      ...describedFields({
        schema: 'Payment',
        computed: 'PaymentID BatchPaymentID PaymentType Status BankAmount HasAccount BatchPayment',
        required: 'Amount',
        but: {
          PaymentID: ID,
          Date: REQUIRED_DAY,
          ...all(CHOICE, 'Status PaymentType'),
          Amount: { ...NUMBER, nullable: false },
          Reference: TEXT,
        },
      }),
      InvoiceID: { ...part('Invoice.InvoiceID', GUID), createable: true },
      AccountID: { ...part('Account.AccountID', GUID), createable: true },
    },
    where: 'Status!="DELETED"',
    verbs: 'delete by status',
  },
  accounts: {
    label: 'Accounts',
    description: 'The chart of accounts.',
    native: 'Accounts',
    id: 'AccountID',
    fields: describedFields({
      schema: 'Account',
      computed: 'AccountID SystemAccount',
      required: 'Name Type',
      but: {
        AccountID: ID,
        Name: { ...TEXT, nullable: false },
        Code: TEXT,
        ...all(CHOICE, 'Type Status'),
        ...all(OPTION, 'Class CurrencyCode'),
        EnablePaymentsToAccount: FLAG,
      },
    }),
    isWhole: true,
    isBare: true,
    verbs: 'update, remove',
  },
  items: {
    label: 'Items',
    description: 'Products and services.',
    aliases: ['products'],
    native: 'Items',
    id: 'ItemID',
    fields: describedFields({
      schema: 'Item',
      computed: 'ItemID IsTrackedAsInventory TotalCostPool QuantityOnHand',
      required: 'Code',
      but: {
        ItemID: ID,
        Code: { ...TEXT, nullable: false },
        ...all(TEXT, 'Name Description'),
        ...all(FLAG, 'IsSold IsPurchased'),
      },
    }),
    needed: 'Code',
    isWhole: true,
    verbs: 'update, remove',
  },
  creditnotes: {
    label: 'Credit notes',
    description:
      'Credit notes to customers and from suppliers. To delete or void one, set `Status` to `DELETED` or `VOIDED`.',
    aliases: ['credit-memos', 'credit_notes'],
    native: 'CreditNotes',
    id: 'CreditNoteID',
    fields: {
      ...describedFields({
        schema: 'CreditNote',
        computed:
          'CreditNoteID SubTotal TotalTax Total RemainingCredit AppliedAmount Allocations Payments FullyPaidOnDate HasAttachments',
        required: 'Type LineItems',
        but: {
          ...DOCUMENT,
          CreditNoteID: ID,
          CreditNoteNumber: TEXT,
          FullyPaidOnDate: DAY,
          RemainingCredit: NUMBER,
        },
      }),
      ...CONTACT,
    },
    verbs: 'update',
  },
  banktransactions: {
    label: 'Bank transactions',
    aliases: ['bank_transactions'],
    description: 'Spent and received money. To delete one, set `Status` to `DELETED`.',
    native: 'BankTransactions',
    id: 'BankTransactionID',
    fields: {
      ...describedFields({
        schema: 'BankTransaction',
        computed: 'BankTransactionID SubTotal TotalTax Total IsReconciled',
        but: {
          ...all(CHOICE, 'Type Status'),
          BankTransactionID: ID,
          Date: REQUIRED_DAY,
          Reference: TEXT,
          ...all(NUMBER, AMOUNTS),
          IsReconciled: FLAG,
        },
      }),
      // Transfers between accounts have no contact.
      ContactID: part('Contact.ContactID', GUID),
      BankAccountID: part('BankAccount.AccountID'),
    },
    needed: 'Type LineItems BankAccount',
    verbs: 'update',
  },
};

/** The objects of an organisation. */
export const objects: Objects = Object.fromEntries(
  Object.entries(DESCRIBED).map(([name, described]) => [name, objectOf(described)]),
);

function objectOf(described: Described) {
  const { label, description, aliases, native, id, fields, quick = {}, isWhole, verbs } = described;
  const { get, create, update, remove } = operationsOn(described);
  return defineObject<Filter>({
    ...defined({ label, description, aliases }),
    native,
    idField: id,
    fields,
    shape: { kind: 'any' },
    limits: { maxTerms: MOST_VALUES, maxInSize: MOST_VALUES, maxSortFields: 1 },
    translator: createTranslator(quick),
    list: list<Filter>({
      request: (query) => listRequest(described, query),
      rows: (body) => json.array(json.at(body, native), 'the records'),
      paging:
        isWhole === true
          ? { kind: 'whole' }
          : {
              kind: 'number',
              page: 'page',
              size: 'pageSize',
              max: LARGEST_PAGE,
              total: ({ body }) => json.at(body, 'pagination', 'itemCount'),
            },
      order: { term: (field, direction) => `${field} ${direction.toUpperCase()}`, id },
    }),
    get,
    create,
    ...(verbs !== 'delete by status' && { update }),
    ...(verbs !== 'update' && { remove }),
    changes: {
      updated: 'UpdatedDateUTC',
      ...(verbs === 'delete by status' && { feed: deletionsOf(described), reports: ['updated', 'deleted'] }),
    },
  });
}

function listRequest(
  { native, always, where }: Described,
  { filter, order, page }: ListQuery<Filter>,
): ProviderRequest {
  const { [SINCE]: since, ...inputs } = filter?.inputs ?? {};
  const texts = [...(where === undefined ? [] : [where]), ...(filter?.texts ?? [])];
  return {
    path: `${API}/${native}`,
    query: {
      ...always,
      ...Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value])),
      ...(texts.length > 0 && { where: texts.join(' AND ') }),
      order,
      ...page,
    },
    ...(since !== undefined && { headers: { [SINCE]: since.value } }),
  };
}

function operationsOn({ native, id, verbs, isBare, needed }: Described) {
  const one = (key: string) => `${API}/${native}${path`/${key}`}`;
  const write = (method: 'PUT' | 'POST', target: string, body: unknown): ProviderRequest => ({
    method,
    path: target,
    // Xero executes requests with the same key once, so a request without a response can be sent again.
    headers: { 'idempotency-key': randomUUID() },
    idempotent: true,
    json: body,
  });
  const listed = (values: object) => ({ [native]: [values] });
  const record = (response: ProviderResponse) => readRecord(response, native);
  const change = (key: string, values: object) => write('POST', one(key), listed({ [id]: key, ...values }));
  /** Adds the members that Xero requires, as they are now. */
  const update: NonNullable<ObjectSpec['update']> = {
    run: async ({ send }, { id: key, values }) => {
      const missing = needed?.split(' ').filter((name) => !Object.hasOwn(values, name)) ?? [];
      const before: Json = missing.length === 0 ? {} : record(await send({ path: one(key) }));
      const kept = Object.fromEntries(missing.map((name) => [name, before[name]]));
      return record(await send(change(key, { ...kept, ...values })));
    },
  };
  const operations = records({
    get: (key) => ({ path: one(key) }),
    record,
    create: {
      request: (values) => write('PUT', `${API}/${native}`, isBare === true ? values : listed(values)),
    },
    remove: (key) => ({ method: 'DELETE', path: one(key) }),
  });
  if (verbs !== 'delete by status') return { ...operations, update };
  const remove: NonNullable<ObjectSpec['remove']> = {
    run: async ({ send }, { id: key }) => {
      // A payment can be deleted once.
      record(await send({ path: one(key) }));
      await send(write('POST', one(key), { Status: 'DELETED' }));
    },
  };
  return { ...operations, update, remove };
}

/** Returns the only record of a response. Xero still shows payments and accounts that were deleted. */
function readRecord({ body }: ProviderResponse, native: string) {
  const [record] = json.objects(json.at(body, native), 'the record');
  if (record === undefined) throw notFound('Xero has no such record.');
  const isGone = (native === 'Payments' || native === 'Accounts') && record.Status === 'DELETED';
  if (isGone) throw notFound('The record was deleted in Xero.');
  return record;
}

/** Lists payments that were deleted since a time. */
function deletionsOf({ native, id }: Described): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ since, cursor = '1' }) => ({
      path: `${API}/${native}`,
      headers: { [SINCE]: since.slice(0, 19) },
      query: { where: 'Status=="DELETED"', order: `${id} ASC`, page: cursor, pageSize: LARGEST_PAGE },
    }),
    read: ({ body }, { cursor = '1' }) => {
      const rows = json.objects(json.at(body, native), 'the deleted records');
      const changes = rows.map((row) => ({
        id: json.key(row[id], 'the id of a deleted record'),
        action: 'deleted' as const,
        at: json.text(DESCRIBED.payments?.fields.UpdatedDateUTC?.read?.(row.UpdatedDateUTC), 'the time of a deletion'),
      }));
      return { changes, ...(rows.length === LARGEST_PAGE && { next: String(Number(cursor) + 1) }) };
    },
  };
}
