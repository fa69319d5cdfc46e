import { cycle, DAY_MS, HOSTILE_TEXTS, makeRows, pick, sparse, type TableRow, times } from '#connector/simulator';

const TICKETS = 120;
const USERS = 24;
/** Others have ids of their own between them, so that there are gaps. */
const idOf = (index: number) => 1 + index * 3 - (index % 3);

/** What Request Tracker would take for a column, for a status of its own, or for nothing. */
const TEXTS = [...HOSTILE_TEXTS, 'CF.{Severity}', 'cf.x', 'NULL', 'ABC', 'abc', 'a\\%b', '__Active__', null];
/** Kept in one line, of 200 characters at most. */
const SUBJECTS = TEXTS.map((text) => text && trimSubject(text));

export function trimSubject(text: string): string {
  return [...text.replaceAll('\n', '')].slice(0, 200).join('');
}

const FIRST_MS = Date.parse('2025-12-30T03:00:00Z');

export function printInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Several with the same time, some around midnight in one zone or another. */
const instantAt = (index: number) => printInstant(FIRST_MS + Math.floor(index / 3) * (DAY_MS / 4 + 1000));

const NAMES = [
  'RT_System',
  'Nobody',
  'root',
  "o'neil",
  'Ünal',
  '12',
  ...times(USERS, (index) => `person${index}@example.com`),
];

export function makeUsers(): readonly TableRow[] {
  return NAMES.map((name, index) => ({
    id: 6 + index * 4,
    Name: name,
    EmailAddress: name.includes('@') ? name : null,
    RealName: pick(TEXTS, index * 5),
    City: index % 3 === 0 ? 'Köln' : null,
    Privileged: Number(index < 3),
    Disabled: 0,
    Created: instantAt(index),
    LastUpdated: instantAt(index + 5),
  }));
}

export function makeQueues(): readonly TableRow[] {
  return ['General', "Köln & O'Neil", '7'].map((name, index) => ({
    id: index + 1,
    Name: name,
    Description: index === 0 ? 'The default queue' : null,
    Lifecycle: 'default',
    SortOrder: 0,
    Disabled: 0,
    Created: instantAt(0),
    LastUpdated: instantAt(index),
  }));
}

export function makeTickets(): readonly TableRow[] {
  return makeRows(TICKETS, {
    id: idOf,
    Subject: cycle(SUBJECTS, 7),
    Status: cycle(['new', 'open', 'stalled', 'resolved', 'rejected', 'new', 'deleted']),
    Queue: cycle([1, 1, 2, 1, 3]),
    Owner: cycle(['Nobody', 'root', 'Nobody', "o'neil"]),
    Requestor: (index) => times(index % 3, (nth) => `person${(index + nth) % USERS}@example.com`),
    Cc: () => [],
    AdminCc: () => [],
    Priority: cycle([0, 5, 100, -1, 2_147_483_647, 5]),
    InitialPriority: cycle([0, 10, 0, 50, 5]),
    FinalPriority: cycle([0, 3, 50]),
    TimeEstimated: cycle([0, 30, 60]),
    TimeWorked: cycle([0, 0, 7, 60]),
    TimeLeft: cycle([0, 15, 0, 45]),
    Starts: sparse(2, instantAt),
    Started: sparse(3, instantAt),
    Due: sparse(4, (index) => instantAt(TICKETS - index)),
    Resolved: sparse(5, instantAt),
    Told: sparse(2, instantAt, 0),
    Creator: cycle(['root', "o'neil"]),
    Created: instantAt,
    LastUpdatedBy: cycle(['root', 'RT_System']),
    LastUpdated: (index) => instantAt(index + 9),
    CustomFields: (index) => (index % 2 === 0 ? { Severity: [pick(['low', "it's 'high'"], index)], Tags: [] } : {}),
  });
}

const KINDS = ['Create', 'Comment', 'Correspond', 'Set', 'EmailRecord', 'Status'];

export function makeTransactions(): readonly TableRow[] {
  return makeRows(2 * TICKETS, {
    id: (index) => 30 + index * 2,
    ObjectType: (index) => (index % 9 === 8 ? 'RT::User' : 'RT::Ticket'),
    ObjectId: (index) => idOf(index % 30),
    Type: cycle(KINDS),
    Field: (index) => (index % 6 === 3 ? 'Subject' : null),
    OldValue: (index) => (index % 6 === 3 ? pick(TEXTS, index) : null),
    NewValue: (index) => (index % 6 === 3 ? pick(TEXTS, index + 1) : null),
    Data: cycle(['No Subject', null, ...TEXTS]),
    TimeTaken: cycle([0, 3, 0]),
    Creator: cycle(['root', 'RT_System']),
    Created: instantAt,
  });
}

/** Each message has its text, some a file with it. */
export function makeAttachments(transactions: readonly TableRow[]): readonly TableRow[] {
  const messages = transactions.filter(({ Type }) => Type === 'Comment' || Type === 'Correspond');
  return messages.map((transaction, index) =>
    attachmentOf(transaction, index + 1, pick(TEXTS, index) || 'text', index % 4 === 3),
  );
}

export function attachmentOf(
  { id, Created, Creator }: TableRow,
  number: number,
  text: string,
  isFile = false,
): TableRow {
  return {
    id: number,
    TransactionId: id,
    Filename: isFile ? "a 'file'.txt" : null,
    ContentType: 'text/plain',
    ContentLength: Buffer.byteLength(text),
    Subject: null,
    MessageId: `rt-5.0.3-${number}@example.com`,
    Creator,
    Created,
    Content: text,
  };
}
