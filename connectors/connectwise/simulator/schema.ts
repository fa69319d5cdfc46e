/** A member with a value of its own. */
export interface Field {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'datetime';
  readonly longest?: number;
  /** It holds one of them. */
  readonly words?: readonly string[];
  readonly isRequired?: true;
  /** What callers say of it is passed over. */
  readonly isReadOnly?: true;
}

/** A member that is another record, or an entry of a setup table. Rows keep its id. */
export interface Reference {
  readonly refersTo: string;
}

export type Members = Readonly<Record<string, Field | Reference>>;

export interface Schema {
  /** Below `apis/3.0`. */
  readonly path: string;
  /** As in `ticket object is invalid`. */
  readonly noun: string;
  /** As in `Service Ticket 404 not found`. */
  readonly label: string;
  readonly members: Members;
  /** Arrays, which only `childConditions` reach, with the members of their elements. */
  readonly arrays?: Readonly<Record<string, Members>>;
  /** Whose custom fields the records have. */
  readonly screen?: string;
  /** Whether it tells who made it and when. */
  readonly isDated?: true;
  /** What callbacks call it, with the member that each level compares with `objectId`. */
  readonly callback?: { readonly type: string; readonly levels: Readonly<Record<string, string>> };
}

export function isReference(member: Field | Reference): member is Reference {
  return 'refersTo' in member;
}

const to = (refersTo: string): Reference => ({ refersTo });
const text = (longest?: number): Field => ({ type: 'string', ...(longest !== undefined && { longest }) });
const required = (field: Field): Field => ({ ...field, isRequired: true });
const shown = (field: Field): Field => ({ ...field, isReadOnly: true });
const oneOf = (...words: readonly string[]): Field => ({ type: 'string', words });
const INTEGER: Field = { type: 'integer' };
const NUMBER: Field = { type: 'number' };
const FLAG: Field = { type: 'boolean' };
const TIME: Field = { type: 'datetime' };
const ID = shown(INTEGER);
const LEVELS = ['Low', 'Medium', 'High'];
const BILLS = ['Billable', 'DoNotBill', 'NoCharge', 'NoDefault'];

const TICKETS: Schema = {
  path: 'service/tickets',
  noun: 'ticket',
  label: 'Service Ticket',
  screen: 'sr100',
  isDated: true,
  callback: {
    type: 'ticket',
    levels: { owner: '', board: 'board', location: 'location', status: 'status', company: 'company', ticket: 'id' },
  },
  members: {
    ...{
      id: ID,
      summary: required(text(100)),
      recordType: shown(oneOf('ServiceTicket', 'ProjectTicket', 'ProjectIssue')),
    },
    ...{ board: to('boards'), status: to('statuses'), company: to('companies'), siteName: text(50) },
    ...{ addressLine1: text(50), city: text(50), zip: text(12), country: to('countries') },
    ...{ contact: to('contacts'), contactName: text(62), contactPhoneNumber: text(20), contactEmailAddress: text(250) },
    ...{
      type: to('types'),
      team: to('teams'),
      owner: to('members'),
      priority: to('priorities'),
      source: to('sources'),
    },
    ...{ requiredDate: TIME, budgetHours: NUMBER, severity: oneOf(...LEVELS), impact: oneOf(...LEVELS) },
    ...{ externalXRef: text(100), poNumber: text(50), customerUpdatedFlag: FLAG, automaticEmailContactFlag: FLAG },
    ...{ closedDate: shown(TIME), closedBy: shown(text()), closedFlag: shown(FLAG), actualHours: shown(NUMBER) },
    ...{ approved: FLAG, resources: shown(text()), parentTicketId: shown(INTEGER), hasChildTicket: shown(FLAG) },
    ...{ billTime: oneOf(...BILLS), location: to('locations'), department: to('departments') },
    ...{ isInSla: shown(FLAG), resolveMinutes: shown(INTEGER), estimatedTimeCost: shown(NUMBER), mobileGuid: text() },
  },
};

const NOTES: Schema = {
  path: 'service/tickets/{parent}/notes',
  noun: 'serviceNote',
  label: 'Service Note',
  members: {
    ...{ id: ID, ticketId: shown(INTEGER), text: text(), detailDescriptionFlag: FLAG, internalAnalysisFlag: FLAG },
    ...{ resolutionFlag: FLAG, issueFlag: FLAG, member: to('members'), contact: to('contacts') },
    ...{ dateCreated: shown(TIME), createdBy: shown(text()), internalFlag: FLAG, externalFlag: FLAG },
  },
};

const TIME_ENTRIES: Schema = {
  path: 'time/entries',
  noun: 'timeEntry',
  label: 'Time Entry',
  screen: 'ts100',
  callback: { type: 'time', levels: { owner: '' } },
  members: {
    ...{ id: ID, company: to('companies'), chargeToId: INTEGER },
    chargeToType: oneOf('ServiceTicket', 'ProjectTicket', 'ChargeCode', 'Activity'),
    ...{ member: to('members'), locationId: INTEGER, businessUnitId: INTEGER, workType: to('workTypes') },
    ...{
      workRole: to('workRoles'),
      timeStart: required(TIME),
      timeEnd: TIME,
      hoursDeduct: NUMBER,
      actualHours: NUMBER,
    },
    ...{ billableOption: oneOf(...BILLS), notes: text(), internalNotes: text(), hoursBilled: NUMBER },
    ...{ enteredBy: shown(text()), dateEntered: shown(TIME), hourlyRate: NUMBER, mobileGuid: text() },
    status: shown(
      oneOf(
        ...['Open', 'Rejected', 'PendingApproval', 'ErrorsCorrected', 'PendingProjectApproval', 'ApprovedByTierOne'],
        ...['RejectBySecondTier', 'ApprovedByTierTwo', 'ReadyToBill', 'Billed', 'WrittenOff', 'BilledAgreement'],
      ),
    ),
    ticket: to('tickets'),
  },
};

const COMPANIES: Schema = {
  path: 'company/companies',
  noun: 'company',
  label: 'Company',
  screen: 'co300',
  isDated: true,
  callback: {
    type: 'company',
    levels: { owner: '', status: 'status', territory: 'territory', company: 'id' },
  },
  members: {
    ...{ id: ID, identifier: required(text(25)), name: required(text(50)), status: to('companyStatuses') },
    ...{ addressLine1: text(50), addressLine2: text(50), city: text(50), state: text(50), zip: text(12) },
    ...{ country: to('countries'), phoneNumber: text(30), faxNumber: text(30), website: text(255) },
    ...{ territory: to('locations'), accountNumber: text(), defaultContact: to('contacts'), dateAcquired: TIME },
    ...{ parentCompany: to('companies'), annualRevenue: NUMBER, numberOfEmployees: INTEGER },
    ...{ yearEstablished: INTEGER, leadSource: text(50), leadFlag: FLAG, unsubscribeFlag: FLAG },
    ...{ userDefinedField1: text(50), userDefinedField2: text(50), taxIdentifier: text(), deletedFlag: shown(FLAG) },
    ...{ dateDeleted: shown(TIME), deletedBy: shown(text()), mobileGuid: text(), territoryManager: to('members') },
  },
  arrays: { types: { id: INTEGER, name: text() } },
};

const CONTACTS: Schema = {
  path: 'company/contacts',
  noun: 'contact',
  label: 'Contact',
  screen: 'ct300',
  callback: { type: 'contact', levels: { owner: '', company: 'company', contact: 'id' } },
  members: {
    ...{ id: ID, firstName: required(text(30)), lastName: text(30), company: to('companies') },
    ...{ addressLine1: text(50), city: text(50), state: text(50), zip: text(12), country: to('countries') },
    ...{ department: to('contactDepartments'), inactiveFlag: FLAG, title: text(100), school: text(50) },
    ...{ nickName: text(30), marriedFlag: FLAG, childrenFlag: FLAG, portalSecurityLevel: INTEGER },
    ...{ disablePortalLoginFlag: FLAG, unsubscribeFlag: FLAG, gender: oneOf('Female', 'Male'), birthDay: TIME },
    ...{ mobileGuid: text(), defaultPhoneType: shown(text()), defaultPhoneNbr: shown(text()) },
    ...{ defaultBillingFlag: FLAG, defaultFlag: FLAG, userDefinedField1: text(50) },
  },
  arrays: {
    types: { id: INTEGER, name: text() },
    communicationItems: {
      ...{ id: INTEGER, type: to('communicationTypes'), value: text(250), extension: text(15), defaultFlag: FLAG },
      ...{ domain: text(), communicationType: oneOf('Email', 'Fax', 'Phone') },
    },
  },
};

const CONFIGURATIONS: Schema = {
  path: 'company/configurations',
  noun: 'configuration',
  label: 'Configuration',
  screen: 'config300',
  callback: { type: 'configuration', levels: { owner: '', type: 'type', status: 'status', company: 'company' } },
  members: {
    ...{ id: ID, name: required(text(100)), type: to('configurationTypes'), status: to('configurationStatuses') },
    ...{ company: to('companies'), contact: to('contacts'), locationId: INTEGER, businessUnitId: INTEGER },
    ...{ deviceIdentifier: text(100), serialNumber: text(250), modelNumber: text(50), tagNumber: text(50) },
    ...{ purchaseDate: TIME, installationDate: TIME, installedBy: to('members'), warrantyExpirationDate: TIME },
    ...{ vendorNotes: text(), notes: text(), macAddress: text(25), lastLoginName: text(100), billFlag: FLAG },
    ...{ backupBillableSpaceGb: NUMBER, ipAddress: text(50), osType: text(250), osInfo: text(250), ram: text(25) },
    ...{ parentConfigurationId: INTEGER, vendor: to('companies'), activeFlag: FLAG, mobileGuid: text() },
  },
};

const OPPORTUNITIES: Schema = {
  path: 'sales/opportunities',
  noun: 'opportunity',
  label: 'Opportunity',
  screen: 'op300',
  callback: { type: 'opportunity', levels: { owner: '', status: 'status', company: 'company' } },
  members: {
    ...{ id: ID, name: required(text(100)), expectedCloseDate: TIME, type: to('opportunityTypes') },
    ...{ stage: to('stages'), status: to('opportunityStatuses'), priority: to('opportunityPriorities'), notes: text() },
    ...{ probability: to('probabilities'), source: text(50), rating: to('ratings') },
    ...{ primarySalesRep: to('members'), locationId: INTEGER, businessUnitId: INTEGER, company: to('companies') },
    ...{ contact: to('contacts'), customerPO: text(25), pipelineChangeDate: TIME, dateBecameLead: TIME },
    ...{ closedDate: TIME, closedBy: to('members'), totalSalesTax: NUMBER },
  },
};

const FIELD_TYPES = ['TextArea', 'Button', 'Currency', 'Date', 'Hyperlink', 'IPAddress', 'Checkbox', 'Number'];

const USER_DEFINED_FIELDS: Schema = {
  path: 'system/userDefinedFields',
  noun: 'userDefinedField',
  label: 'User Defined Field',
  members: {
    ...{ id: ID, podId: required(INTEGER), podDescription: shown(text()), caption: required(text(25)) },
    ...{ sequenceNumber: required(INTEGER), screenId: shown(text()), screenDescription: shown(text()) },
    ...{ helpText: text(1000), fieldTypeIdentifier: required(oneOf(...FIELD_TYPES, 'Percent', 'Text', 'Password')) },
    ...{ numberDecimals: INTEGER, entryTypeIdentifier: oneOf('Date', 'EntryField', 'List', 'Option') },
    ...{ requiredFlag: FLAG, displayOnScreenFlag: FLAG, readOnlyFlag: FLAG, listViewFlag: FLAG },
    ...{ connectWiseID: shown(text()), dateCreated: shown(TIME) },
  },
  arrays: { options: { id: INTEGER, optionValue: text(), defaultFlag: FLAG, inactiveFlag: FLAG, sortOrder: INTEGER } },
};

export const SCHEMAS = {
  tickets: TICKETS,
  notes: NOTES,
  timeEntries: TIME_ENTRIES,
  companies: COMPANIES,
  contacts: CONTACTS,
  configurations: CONFIGURATIONS,
  opportunities: OPPORTUNITIES,
  fields: USER_DEFINED_FIELDS,
} as const satisfies Record<string, Schema>;

export type TableName = keyof typeof SCHEMAS;
