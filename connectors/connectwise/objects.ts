import {
  type Changes,
  type ChangesInput,
  type ChangesPage,
  defineObject,
  type Fields,
  json,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { FORWARD, joined, listOf, MOST_ROWS, rowsOf, translator } from './conditions.ts';
import {
  CUSTOM,
  chosenOf,
  ENTERED,
  each,
  ID,
  input,
  OWN,
  oneOf,
  references,
  shown,
  toBody,
  toPatch,
  unasked,
  written,
} from './fields.ts';

const UPDATED = { updated: '_info.lastUpdated' } as const satisfies Changes;
const ENTERED_AND_UPDATED = { ...UPDATED, created: '_info.dateEntered' } as const satisfies Changes;

interface Entity extends Pick<ObjectSpec, 'label' | 'description' | 'aliases' | 'children' | 'changes'> {
  readonly fields: Fields;
}

const FILTERS = { shape: { kind: 'any' }, limits: { maxInSize: 100 }, translator } as const;

/** Returns the specification that all objects with a collection of their own share. */
function entity(collection: string, { fields, ...about }: Entity) {
  return {
    ...about,
    native: collection.slice(1),
    fields,
    ...FILTERS,
    list: listOf(() => ({ path: collection })),
    ...recordsOf(collection),
  } satisfies ObjectSpec<string>;
}

function recordsOf(
  collection: string,
  record = ({ body }: ProviderResponse): unknown => json.object(body, 'a record'),
) {
  const source = (id: string) => `${collection}${path`/${id}`}`;
  return records({
    get: (id) => ({ path: source(id) }),
    record,
    create: { request: (values) => ({ method: 'POST', path: collection, json: toBody(values) }) },
    update: { request: (id, values) => ({ method: 'PATCH', path: source(id), json: toPatch(values) }), record },
    remove: (id) => ({ method: 'DELETE', path: source(id) }),
  });
}

const FIELD_TYPES = [
  ...['TextArea', 'Button', 'Currency', 'Date', 'Hyperlink', 'IPAddress', 'Checkbox', 'Number', 'Percent'],
  ...['Text', 'Password'],
] as const;
const LEVELS = ['Low', 'Medium', 'High'] as const;
const BILLING = ['Billable', 'DoNotBill', 'NoCharge', 'NoDefault'] as const;

const TIME_FIELDS = {
  ...OWN,
  ...references.written('company', 'member', 'workType', 'workRole'),
  ...references.shown('ticket'),
  chargeToId: { ...written.integer, label: 'Record on which the time was spent' },
  chargeToType: chosenOf('ServiceTicket', 'ProjectTicket', 'ChargeCode', 'Activity'),
  ...each(written.integer, 'locationId', 'businessUnitId'),
  timeStart: { ...written.instant, required: true, nullable: false, sortable: true },
  timeEnd: written.instant,
  ...each(written.number, 'hoursDeduct', 'actualHours'),
  billableOption: chosenOf(...BILLING),
  ...each(written.memo, 'notes', 'internalNotes'),
  ...each(shown.number, 'hoursBilled', 'hourlyRate'),
  enteredBy: shown.text,
  dateEntered: shown.instant,
  status: oneOf(
    ...['Open', 'Rejected', 'PendingApproval', 'ErrorsCorrected', 'PendingProjectApproval', 'ApprovedByTierOne'],
    ...['RejectBySecondTier', 'ApprovedByTierTwo', 'ReadyToBill', 'Billed', 'WrittenOff', 'BilledAgreement'],
  ),
  ...unasked({
    ...references.written('agreement'),
    ...references.shown('project'),
    ...each(written.flag, 'addToDetailDescriptionFlag', 'addToInternalAnalysisFlag', 'addToResolutionFlag'),
    ...each(shown.number, 'invoiceHours', 'agreementHours', 'agreementAmount'),
  }),
  ...CUSTOM,
} as const satisfies Fields;

/** Time entries of a ticket, selected by a condition on all time entries: below a ticket, ConnectWise lists only references to them. */
const timesOfTicket = defineObject<string>({
  label: 'Time spent on the ticket',
  native: 'time/entries',
  // A ticket has few time entries, so the service filters them.
  fields: { ...unasked(TIME_FIELDS), ...OWN },
  ...FILTERS,
  list: listOf((ticketId) => {
    // The id becomes part of a condition.
    if (!/^\d{1,10}$/.test(ticketId)) throw notFound('Ids of tickets are whole numbers.');
    const isTicket = 'chargeToType in ("ServiceTicket", "ProjectTicket")';
    return { path: '/time/entries', condition: joined(`chargeToId = ${ticketId}`, isTicket) };
  }),
});

const notesOfTicket = defineObject<string>({
  label: 'Notes of the ticket',
  native: 'service/tickets/notes',
  fields: {
    ...OWN,
    ticketId: shown.integer,
    text: shown.memo,
    ...each(shown.flag, 'detailDescriptionFlag', 'internalAnalysisFlag', 'resolutionFlag', 'issueFlag'),
    ...each(shown.flag, 'internalFlag', 'externalFlag'),
    ...unasked({ customerUpdatedFlag: shown.flag }),
    ...references.shown('member', 'contact'),
    dateCreated: shown.moment,
    createdBy: shown.text,
  },
  ...FILTERS,
  list: listOf((ticketId) => ({ path: path`/service/tickets/${ticketId}/notes` })),
});

const incidents = entity('/service/tickets', {
  label: 'Service tickets',
  aliases: ['tickets'],
  fields: {
    ...OWN,
    ...ENTERED,
    summary: written.name,
    recordType: oneOf('ServiceTicket', 'ProjectTicket', 'ProjectIssue'),
    ...references.required('company'),
    ...references.written('board', 'status', 'priority', 'type', 'team', 'owner', 'contact', 'source', 'country'),
    ...references.written('location', 'department'),
    'department.identifier': shown.text,
    ...each(written.text, 'siteName', 'addressLine1', 'city', 'zip', 'contactName', 'contactPhoneNumber'),
    contactEmailAddress: written.email,
    requiredDate: written.instant,
    budgetHours: written.number,
    severity: chosenOf(...LEVELS),
    impact: chosenOf(...LEVELS),
    ...each(written.text, 'externalXRef', 'poNumber'),
    ...each(written.flag, 'customerUpdatedFlag', 'automaticEmailContactFlag'),
    billTime: chosenOf(...BILLING),
    initialDescription: input('Description, as the first note'),
    initialInternalAnalysis: input('Internal analysis, as the first note'),
    initialResolution: input('Resolution, as the first note'),
    closedFlag: shown.flag,
    closedDate: shown.instant,
    closedBy: shown.text,
    ...each(shown.moment, 'dateResolved', 'dateResplan', 'dateResponded'),
    actualHours: shown.number,
    ...unasked({
      ...references.written('subType', 'item', 'site', 'workRole', 'workType', 'serviceLocation', 'agreement'),
      ...references.shown('sla'),
      ...each(written.text, 'addressLine2', 'stateIdentifier', 'contactPhoneExtension', 'automaticEmailCc'),
      estimatedStartDate: written.instant,
      ...each(written.flag, 'allowAllClientsPortalView', 'automaticEmailResourceFlag', 'automaticEmailCcFlag'),
      ...each(chosenOf(...BILLING), 'billExpenses', 'billProducts'),
      ...each(shown.integer, 'resolveMinutes', 'resPlanMinutes', 'respondMinutes', 'parentTicketId'),
      ...each(shown.number, 'estimatedTimeCost', 'estimatedTimeRevenue'),
      ...each(shown.flag, 'isInSla', 'approved', 'hasChildTicket'),
      ...each(shown.text, 'resources', 'slaStatus'),
    }),
    ...CUSTOM,
  },
  children: { comments: notesOfTicket, 'time-entries': timesOfTicket },
  changes: ENTERED_AND_UPDATED,
});

const ADDRESS = ['addressLine1', 'city', 'state', 'zip'] as const;
const SOCIAL = ['facebookUrl', 'twitterUrl', 'linkedInUrl'] as const;

/** ConnectWise still returns a deleted company, with a mark. The connector reports it as missing. */
function presentCompany({ body }: ProviderResponse): unknown {
  const company = json.object(body, 'a company');
  if (company.deletedFlag === true) throw notFound('The company was deleted.');
  return company;
}

const companyOperations = recordsOf('/company/companies', presentCompany);

/** Lists deleted companies. The time of a deletion may be in `dateDeleted` or in `lastUpdated`. */
const deletedCompanies: Operation<ChangesInput, ChangesPage> = {
  request: ({ since, cursor }) => {
    const moment = `[${since.slice(0, 19)}Z]`;
    const conditions = `deletedFlag = true and (dateDeleted >= ${moment} or lastUpdated >= ${moment})`;
    return { path: '/company/companies', query: { conditions, pageSize: MOST_ROWS, pageId: cursor }, headers: FORWARD };
  },
  read: ({ body }) => {
    const rows = rowsOf(body);
    const changes = rows.map(({ id, dateDeleted, _info }) => ({
      id: json.key(id, 'the id of a company'),
      action: 'deleted' as const,
      at: json.text(dateDeleted ?? json.at(_info, 'lastUpdated'), 'the time of a deletion'),
    }));
    const last = rows.length < MOST_ROWS ? undefined : changes.at(-1)?.id;
    return { changes, ...(last !== undefined && { next: last }) };
  },
};

const organizations: ObjectSpec<string> = {
  ...entity('/company/companies', {
    label: 'Companies',
    aliases: ['accounts', 'companies'],
    fields: {
      ...OWN,
      ...ENTERED,
      identifier: { ...written.name, label: 'Short name, unique' },
      name: written.name,
      ...references.written('status', 'country', 'territory', 'defaultContact', 'parentCompany', 'territoryManager'),
      ...each(written.text, ...ADDRESS, 'phoneNumber', 'faxNumber', 'website', 'accountNumber', 'leadSource'),
      ...each(written.text, 'addressLine2', 'taxIdentifier', 'userDefinedField1'),
      dateAcquired: written.instant,
      annualRevenue: written.number,
      ...each(written.integer, 'numberOfEmployees', 'yearEstablished'),
      ...each(written.flag, 'leadFlag', 'unsubscribeFlag'),
      types: { ...shown.list, createable: true },
      ...unasked({
        ...references.written('market', 'ownershipType', 'billingTerms', 'site'),
        revenueYear: written.integer,
        isVendorFlag: written.flag,
        ...each(written.text, 'vendorIdentifier', ...SOCIAL),
      }),
      ...CUSTOM,
    },
  }),
  list: listOf(() => ({ path: '/company/companies', condition: 'deletedFlag = false' })),
  ...companyOperations,
  remove: {
    run: async ({ send }, { id }) => {
      const source = path`/company/companies/${id}`;
      presentCompany(await send({ path: source }));
      await send({ method: 'DELETE', path: source });
    },
  },
  changes: { ...ENTERED_AND_UPDATED, feed: deletedCompanies },
};

const contacts = entity('/company/contacts', {
  label: 'Contacts',
  fields: {
    ...OWN,
    firstName: written.name,
    lastName: written.text,
    ...references.written('company', 'country', 'department'),
    ...each(written.text, ...ADDRESS, 'title', 'school', 'nickName'),
    ...each(written.flag, 'inactiveFlag', 'marriedFlag', 'childrenFlag', 'unsubscribeFlag', 'disablePortalLoginFlag'),
    ...each(written.flag, 'defaultBillingFlag', 'defaultFlag'),
    gender: chosenOf('Female', 'Male'),
    ...each(shown.text, 'defaultPhoneType', 'defaultPhoneNbr'),
    communicationItems: { ...written.list, label: 'E-mail addresses, telephone and fax numbers' },
    types: { ...shown.list, createable: true },
    ...unasked({
      ...references.written('site', 'relationship', 'managerContact'),
      ...each(written.text, 'addressLine2', 'significantOther', ...SOCIAL),
      defaultPhoneExtension: shown.text,
    }),
    ...CUSTOM,
  },
  changes: UPDATED,
});

const configurations = entity('/company/configurations', {
  label: 'Configurations',
  description: 'Devices and other assets of companies.',
  fields: {
    ...OWN,
    name: written.name,
    ...references.required('type', 'company'),
    ...references.written('status', 'contact', 'vendor'),
    ...each(written.integer, 'locationId', 'businessUnitId', 'parentConfigurationId'),
    ...each(written.text, 'deviceIdentifier', 'serialNumber', 'modelNumber', 'tagNumber', 'macAddress'),
    ...each(written.text, 'lastLoginName', 'ipAddress', 'osType', 'osInfo', 'ram'),
    ...each(written.memo, 'vendorNotes', 'notes', 'localHardDrives'),
    ...each(written.instant, 'purchaseDate', 'installationDate', 'warrantyExpirationDate'),
    ...each(written.flag, 'billFlag', 'activeFlag'),
    questions: { ...written.list, label: 'Questions of the type, with their answers' },
    ...unasked({
      ...references.written('site', 'manufacturer', 'sla'),
      ...each(written.text, 'backupServerName', 'defaultGateway', 'cpuSpeed', 'manufacturerPartNumber'),
      ...each(written.text, 'managementLink', 'remoteLink'),
      lastBackupDate: written.instant,
      needsRenewalFlag: written.flag,
    }),
    ...CUSTOM,
  },
  changes: UPDATED,
});

const opportunities = entity('/sales/opportunities', {
  label: 'Opportunities',
  fields: {
    ...OWN,
    name: written.name,
    expectedCloseDate: written.instant,
    ...references.required('company', 'contact', 'primarySalesRep'),
    ...references.written('type', 'stage', 'status', 'priority', 'probability', 'rating'),
    notes: written.memo,
    ...each(written.text, 'source', 'customerPO'),
    ...each(written.integer, 'locationId', 'businessUnitId'),
    ...each(shown.instant, 'pipelineChangeDate', 'dateBecameLead', 'closedDate'),
    ...references.shown('closedBy'),
    totalSalesTax: shown.number,
    ...unasked(references.written('secondarySalesRep', 'campaign', 'site', 'billingTerms', 'taxCode', 'currency')),
    ...CUSTOM,
  },
  changes: UPDATED,
});

const timeEntries = entity('/time/entries', {
  label: 'Time entries',
  fields: TIME_FIELDS,
  changes: { ...UPDATED, created: 'dateEntered' },
});

const fields = entity('/system/userDefinedFields', {
  label: 'Custom fields',
  description: 'Definitions of the custom fields.',
  fields: {
    ...ID,
    podId: { ...written.integer, required: true, nullable: false, label: 'Screen that shows the field' },
    podDescription: shown.memo,
    caption: written.name,
    sequenceNumber: { ...written.integer, required: true, nullable: false },
    helpText: written.memo,
    fieldTypeIdentifier: { ...chosenOf(...FIELD_TYPES), required: true, nullable: false },
    entryTypeIdentifier: chosenOf('Date', 'EntryField', 'List', 'Option'),
    numberDecimals: written.integer,
    ...each(written.flag, 'requiredFlag', 'displayOnScreenFlag', 'readOnlyFlag', 'listViewFlag'),
    buttonUrl: written.memo,
    ...each(written.list, 'options', 'businessUnitIds', 'locationIds'),
    dateCreated: shown.instant,
  },
});

export const OBJECTS: Objects = {
  configurations: defineObject<string>(configurations),
  contacts: defineObject<string>(contacts),
  fields: defineObject<string>(fields),
  incidents: defineObject<string>(incidents),
  opportunities: defineObject<string>(opportunities),
  organizations: defineObject<string>(organizations),
  'time-entries': defineObject<string>(timeEntries),
};
