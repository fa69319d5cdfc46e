import { type Changes, defineObject, type Fields, path, records } from '#connector';
import {
  CUSTOM,
  count,
  date,
  flag,
  found,
  ID,
  integer,
  moment,
  QUEUE,
  reference,
  STATUS,
  shown,
  shownMoment,
  text,
  user,
  watchers,
} from './fields.ts';
import { conditionOnId, listAt, type Searched, searchOf } from './lists.ts';
import { quote, ticketSql } from './query.ts';
import { attachmentRecords, ticketRecords, transactionRecords } from './records.ts';

const GIVEN = { createable: true } as const;
const WRITABLE = { createable: true, updateable: true } as const;
const UNLISTED = { unlisted: true } as const;

const SEARCH = { translator: ticketSql, shape: { kind: 'any' }, limits: { maxTerms: 200 } } as const;

const TICKETS: Searched = { path: '/tickets', always: 'id > 0' };
/** The transactions of tickets. Users, groups and queues have transactions, too. */
const TRANSACTIONS: Searched = { path: '/transactions', always: "ObjectType = 'RT::Ticket'" };
/** A condition that matches every record. Some collections return nothing without a condition. */
const EVERY = { query: conditionOnId('>', '0') };

const TRANSACTION = {
  id: ID,
  ticketId: { ...integer('ObjectId'), ...GIVEN, required: true, label: 'Ticket' },
  type: { ...found('Type'), ...GIVEN, required: true, label: 'Kind; a new one is a `Comment` or a `Correspond`' },
  field: { ...found('Field'), label: 'Changed field' },
  oldValue: found('OldValue'),
  newValue: found('NewValue'),
  data: { ...found('Data'), label: 'Subject of a message' },
  timeTaken: { ...integer('TimeTaken'), ...GIVEN, label: 'Minutes' },
  creator: user('Creator'),
  created: moment('Created'),
} as const satisfies Fields;

/** The history of tickets. Creating a transaction adds a comment or a reply. */
export const transactions = defineObject<string>({
  label: 'Transactions',
  description: 'History of tickets: changes, comments for the staff, and correspondence with the requestors.',
  native: 'transactions',
  fields: {
    ...TRANSACTION,
    content: { ...shown('Content'), ...GIVEN, ...UNLISTED, label: 'Text of a comment or of correspondence' },
    contentType: { ...shown('ContentType'), ...GIVEN, ...UNLISTED, values: ['text/plain', 'text/html'] },
  },
  ...SEARCH,
  list: searchOf(() => TRANSACTIONS),
  changes: { updated: 'created', created: 'created', reports: ['created'] },
  ...transactionRecords(TRANSACTIONS),
});

/** Returns the object for the transactions of a ticket: all, or those of one kind. */
const transactionsOf = (label: string, kind: string) =>
  defineObject<string>({
    label,
    native: 'transactions',
    fields: TRANSACTION,
    ...SEARCH,
    list: searchOf((parentId) => ({
      ...TRANSACTIONS,
      always: `${TRANSACTIONS.always} AND ObjectId = ${quote(parentId)}${kind}`,
    })),
  });

const ATTACHMENT = {
  id: { ...ID, filter: {} },
  transactionId: { ...reference('TransactionId'), label: 'Transaction of the attachment' },
  filename: shown('Filename'),
  contentType: shown('ContentType'),
  contentLength: { ...count('ContentLength'), label: 'Bytes' },
  subject: shown('Subject'),
  messageId: shown('MessageId'),
  creator: { ...user('Creator'), filter: {} },
  created: { ...shownMoment('Created'), sortable: true },
} as const satisfies Fields;

/** Files and texts of messages. */
export const attachments = defineObject<string>({
  label: 'Attachments',
  description: 'Files of messages, and their texts.',
  native: 'attachments',
  fields: { ...ATTACHMENT, content: { ...shown('Content'), ...UNLISTED, format: 'base64' } },
  list: listAt(() => '/attachments', EVERY),
  ...attachmentRecords(),
});

const attachmentsOfTicket = defineObject<string>({
  label: 'Attachments of the ticket',
  native: 'attachments',
  fields: ATTACHMENT,
  list: listAt((parentId) => path`/ticket/${parentId}/attachments`),
});

const CHANGES: Changes = { updated: 'lastUpdated', created: 'created' };

/** The object of tickets. Deleted tickets, and tickets that were merged into others, are missing. */
export const tickets = defineObject<string>({
  aliases: ['incidents'],
  label: 'Tickets',
  native: 'tickets',
  fields: {
    id: ID,
    subject: { ...text('Subject'), ...WRITABLE, label: 'Subject, at most 200 characters in one line' },
    status: { ...STATUS, ...WRITABLE },
    queueId: { ...QUEUE, ...WRITABLE, required: true, label: 'Queue' },
    owner: { ...user('Owner'), ...WRITABLE, nullable: false, label: 'Name of the owner; `Nobody` means no owner' },
    requestors: { ...watchers('Requestor'), ...WRITABLE, label: 'Requestors: addresses or names of users' },
    cc: { ...watchers('Cc'), ...WRITABLE },
    adminCc: { ...watchers('AdminCc'), ...WRITABLE },
    priority: { ...integer('Priority'), ...WRITABLE },
    initialPriority: { ...integer('InitialPriority'), ...GIVEN },
    finalPriority: { ...integer('FinalPriority'), ...WRITABLE },
    timeEstimated: { ...integer('TimeEstimated'), ...WRITABLE, label: 'Minutes' },
    timeWorked: { ...integer('TimeWorked'), ...WRITABLE, label: 'Minutes' },
    timeLeft: { ...integer('TimeLeft'), ...WRITABLE, label: 'Minutes' },
    starts: { ...date('Starts'), ...WRITABLE },
    started: { ...date('Started'), ...WRITABLE },
    due: { ...date('Due'), ...WRITABLE },
    resolved: date('Resolved'),
    told: { ...date('Told'), label: 'Last message to the requestors' },
    creator: user('Creator'),
    created: moment('Created'),
    lastUpdatedBy: user('LastUpdatedBy'),
    lastUpdated: moment('LastUpdated'),
    customFields: { ...CUSTOM, ...WRITABLE, label: 'Custom fields by name, each with a list of values' },
    content: { ...shown('Content'), ...GIVEN, ...UNLISTED, label: 'First text of a new ticket' },
  },
  ...SEARCH,
  list: searchOf(() => TICKETS),
  changes: CHANGES,
  children: {
    history: transactionsOf('History of the ticket', ''),
    comments: transactionsOf('Comments on the ticket', " AND Type = 'Comment'"),
    correspondence: transactionsOf('Correspondence on the ticket', " AND Type = 'Correspond'"),
    attachments: attachmentsOfTicket,
  },
  ...ticketRecords(TICKETS),
});

/** The object of users, which have a name or an e-mail address as id. */
export const users = defineObject<string>({
  label: 'Users',
  native: 'users',
  fields: {
    id: { ...ID, filter: {} },
    name: shown('Name'),
    emailAddress: { ...shown('EmailAddress'), format: 'email' },
    realName: shown('RealName'),
    nickName: shown('NickName'),
    organization: shown('Organization'),
    comments: shown('Comments'),
    workPhone: shown('WorkPhone'),
    homePhone: shown('HomePhone'),
    mobilePhone: shown('MobilePhone'),
    address1: shown('Address1'),
    address2: shown('Address2'),
    city: shown('City'),
    state: shown('State'),
    zip: shown('Zip'),
    country: shown('Country'),
    language: shown('Lang'),
    timezone: shown('Timezone'),
    privileged: { ...flag('Privileged'), ...UNLISTED, label: 'May work on tickets of others' },
    disabled: { ...flag('Disabled'), ...UNLISTED },
    created: { ...shownMoment('Created'), sortable: true },
    lastUpdated: { ...shownMoment('LastUpdated'), sortable: true },
  },
  list: listAt(() => '/users', EVERY),
  ...records({ get: (id) => ({ path: path`/user/${id}` }) }),
});

/** The object of queues that the user may see. */
export const queues = defineObject<string>({
  label: 'Queues',
  native: 'queues',
  fields: {
    id: { ...ID, filter: {} },
    name: shown('Name'),
    description: shown('Description'),
    lifecycle: shown('Lifecycle'),
    correspondAddress: shown('CorrespondAddress'),
    commentAddress: shown('CommentAddress'),
    sortOrder: count('SortOrder'),
    disabled: flag('Disabled'),
    created: { ...shownMoment('Created'), sortable: true },
    lastUpdated: { ...shownMoment('LastUpdated'), sortable: true },
  },
  list: listAt(() => '/queues/all'),
  ...records({ get: (id) => ({ path: path`/queue/${id}` }) }),
});
