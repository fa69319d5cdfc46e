import {
  type Config,
  type ConnectorContext,
  defineObject,
  type Inputs,
  json,
  type ParameterSpec,
  type ProviderRequest,
  path,
  records,
} from '#connector';
import { userIn } from './config.ts';
import { ENTRY_FIELDS, REPORT_FIELDS } from './fields.ts';
import { between, byInputs, listOf, USER } from './lists.ts';

type Parameters = Readonly<Record<string, ParameterSpec>>;

const EVERYBODY = 'ALL';

/** Returns the request for a single record, on behalf of its owner. Concur rejects `ALL` for single records. */
function oneOf(collection: string, id: string, owner: string | undefined): ProviderRequest {
  return { path: path`/expense/${collection}/${id}`, query: { user: owner } };
}

function personIn(config: Config): string | undefined {
  const user = userIn(config);
  return user === EVERYBODY ? undefined : user;
}

/** Finds the owner of a report when the configuration allows every user. Only the report's entries can be requested without the owner. */
async function findOwner({ config, send }: ConnectorContext, id: string): Promise<string | undefined> {
  if (userIn(config) !== EVERYBODY) return personIn(config);
  const query = { reportID: id, user: EVERYBODY, limit: 1 };
  const { body } = await send({ path: '/expense/entries', query });
  const [entry] = json.objects(json.at(body, 'Items'), 'the entries');
  return json.findText(entry?.ReportOwnerID);
}

const readOne = ({ body }: { readonly body: unknown }) => json.object(body, 'a record');

/** Returns the body of a write. A comment has another name in requests than in responses. */
function toBody({ LastComment, ...values }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...values, ...(LastComment !== undefined && { Comment: LastComment }) };
}

const ENTRY_PARAMETERS = {
  user: USER,
  batchID: { type: 'string', description: 'Entries of this payment batch.' },
  attendeeID: { type: 'string', description: 'Entries with this attendee.' },
  attendeeTypeCode: { type: 'string', description: 'Entries with an attendee of this type.' },
} as const satisfies Parameters;

/** Returns a translator for fields whose parameters have the same names. */
function sameNames(...names: readonly string[]) {
  return byInputs(Object.fromEntries(names.map((name) => [name, name])));
}

const ENTRY_INPUTS = ['expenseTypeCode', 'paymentTypeID', 'isBillable', 'hasAttendees', 'hasVAT'] as const;

export const entries = defineObject<Inputs>({
  label: 'Entries',
  description: 'Expenses; each belongs to a report.',
  fields: ENTRY_FIELDS,
  parameters: ENTRY_PARAMETERS,
  translator: sameNames('reportID', ...ENTRY_INPUTS),
  list: listOf('entries'),
  ...records({ get: (id, _natives, config) => oneOf('entries', id, personIn(config)) }),
});

const entriesOfReport = defineObject<Inputs>({
  label: 'Entries of the report',
  native: 'entries',
  fields: { ...ENTRY_FIELDS, reportID: { type: 'string', native: 'ReportID' } },
  parameters: ENTRY_PARAMETERS,
  translator: sameNames(...ENTRY_INPUTS),
  list: listOf('entries'),
});

/** Parameters for values that reports do not contain. Most of them match reports with at least one such entry. */
const REPORT_PARAMETERS = {
  user: USER,
  batchID: { type: 'string', description: 'Reports in this payment batch.' },
  reimbursementMethod: {
    type: 'string',
    description: 'How the owner is reimbursed.',
    values: ['ADPPAYR', 'APCHECK', 'CNQRPAY', 'PMTSERV'],
  },
  expenseGroupConfigID: { type: 'string', description: 'Reports of this expense group configuration, by its id.' },
  isTestUser: { type: 'boolean', description: 'Whether the owner is a test user.' },
  entryTransactionDateAfter: { type: 'date', description: 'Reports with an entry dated after this day.' },
  entryTransactionDateBefore: { type: 'date', description: 'Reports with an entry dated before this day.' },
  expenseTypeCode: { type: 'string', description: 'Reports with an entry of this expense type.' },
  paymentType: { type: 'string', description: 'Reports with an entry of this payment type, by its id.' },
  vendorName: { type: 'string', description: 'Reports with an entry of this vendor.' },
  attendeeTypeCode: { type: 'string', description: 'Reports with an entry that has an attendee of this type.' },
  hasAttendees: { type: 'boolean', description: 'Whether an entry has an attendee.' },
  hasBillableExpenses: { type: 'boolean', description: 'Whether an entry is billable.' },
  hasImages: { type: 'boolean', description: 'Whether the report or an entry has an image.' },
  hasVAT: { type: 'boolean', description: 'Whether an entry has VAT details.' },
} as const satisfies Parameters;

export const reports = defineObject<Inputs>({
  label: 'Reports',
  description: 'Expense reports, except those of Central Reconciliation.',
  fields: REPORT_FIELDS,
  parameters: REPORT_PARAMETERS,
  limits: { maxInSize: 50 },
  translator: byInputs({
    approvalStatusCode: 'approvalStatusCode',
    paymentStatusCode: 'paymentStatusCode',
    currencyCode: 'currencyCode',
    country: 'countryCode',
    approverLoginID: 'approverLoginID',
    userDefinedDate: between('userDefinedDate'),
    createDate: between('createDate'),
    submitDate: between('submitDate'),
    processingPaymentDate: between('processingPaymentDate'),
    paidDate: between('paidDate'),
    lastModifiedDate: between('modifiedDate'),
  }),
  list: listOf('reports'),
  changes: { updated: 'lastModifiedDate', created: 'createDate' },
  ...records({
    get: (id, _natives, config) => oneOf('reports', id, personIn(config)),
    create: {
      request: (values, config) => ({
        method: 'POST',
        path: '/expense/reports',
        query: { user: personIn(config) },
        json: toBody(values),
      }),
      id: ({ body }) => json.key(json.at(body, 'ID'), 'the id of the new report'),
    },
  }),
  get: {
    run: async (context, { id }) => readOne(await context.send(oneOf('reports', id, await findOwner(context, id)))),
  },
  update: {
    run: async (context, { id, values }) => {
      const request = oneOf('reports', id, await findOwner(context, id));
      await context.send({ ...request, method: 'PUT', json: toBody(values) });
      return readOne(await context.send(request));
    },
  },
  children: { entries: entriesOfReport },
});
