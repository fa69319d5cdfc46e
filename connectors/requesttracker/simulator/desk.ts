import type { ObjectSpec } from '#connector';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  fault,
  HOSTILE_TEXTS,
  type Member,
  type Members,
  type MovableClock,
  membersOf,
  pick,
  type TableChange,
  type TableRow,
  times,
  writeSeconds,
} from '#connector/simulator';
import { attachments, queues, tickets, transactions, users } from '../objects.ts';

export interface Resource extends CollectionSpec {
  /** Name of a single record in URLs. */
  readonly noun: string;
  /** Members that lists contain as empty texts. */
  readonly hidden: readonly (string | undefined)[];
}

export type Desk = Readonly<
  Record<'tickets' | 'transactions' | 'attachments' | 'users' | 'queues', Collection<Resource>>
>;

/** Texts that Request Tracker would read as a column, as a special status, or as null; and a character that it cannot show. */
const OWN_TEXTS = ['CF.{Severity}', 'cf.x', 'NULL', 'ABC', 'abc', 'a\\%b', '__Active__', 'a\u{10ffff}b'];
const TEXTS = [...HOSTILE_TEXTS, ...OWN_TEXTS];

/** Trims a subject. Request Tracker stores it in one line of at most 200 characters. */
const trimSubject = (text: string) => [...text.replaceAll('\n', '')].slice(0, 200).join('');

const NAMES = [
  ...['RT_System', 'Nobody', 'root', "o'neil", 'Ünal', '12'],
  ...times(24, (index) => `person${index}@example.com`),
];
const KINDS = ['Create', 'Comment', 'Correspond', 'Set', 'EmailRecord', 'Status'];

/** Returns the id of a ticket. Other records have ids in between, so there are gaps. */
const ticketId = (index: number) => 1 + index * 3;

const USER: Member = { type: 'string', refersTo: 'users' };
const USERS: Member = { type: 'array', refersTo: 'users' };
const MADE_BY = { Creator: { ...USER, isReadOnly: true } };
const person = cycle(['root', "o'neil", 'RT_System']);

/** Returns the description of a kind of record. Missing numbers are 0. */
function about(noun: string, { fields = {} }: ObjectSpec, own: Members = {}) {
  const members = { ...membersOf(fields), ...own };
  const numbers = Object.keys(members).filter((name) => members[name]?.type === 'integer');
  const hidden = Object.values(fields).flatMap(({ native, unlisted }) => (unlisted === true ? [native] : []));
  const initial = { ...Object.fromEntries(numbers.map((name) => [name, 0])), Creator: 'root' };
  return { noun, members, hidden, initial, created: ['Created'] };
}

/**
 * Creates the data of the simulator.
 * @param notify called for each change of a ticket
 */
export function createDesk(clock: MovableClock, notify: (change: TableChange) => void): Desk {
  const ofTickets = about('ticket', tickets, {
    Status: { type: 'string', values: ['new', 'open', 'stalled', 'resolved', 'rejected', 'deleted'] },
    Queue: { type: 'reference', refersTo: 'queues', isNeverNull: true },
    ...{ Owner: USER, Requestor: USERS, Cc: USERS, AdminCc: USERS },
    ...{ ...MADE_BY, LastUpdatedBy: MADE_BY.Creator },
  });
  const desk: Desk = createCollections<keyof Desk, Resource>({
    clock,
    onChange: (name, change) => name === 'tickets' && notify(change),
    write: { boolean: Number },
    // A value that cannot be read becomes undefined, and the callers handle it.
    read: {
      string: (value, { refersTo, values }) => {
        if (refersTo !== undefined) return findEntry(desk.users, value)?.Name;
        const text = String(value);
        return values === undefined ? trimSubject(text) : values.find((each) => each === text.toLowerCase());
      },
      reference: (value) => findEntry(desk.queues, value)?.id,
      integer: (value) => Number.parseInt(String(value), 10) || 0,
      array: (value) => [value].flat(),
      object: (value) => Object.fromEntries(Object.entries(Object(value)).map(([name, each]) => [name, [each].flat()])),
      datetime: readInstant,
    },
    refuse: () => undefined,
    absent: () => fault(404, 'Not Found'),
    of: {
      tickets: {
        ...ofTickets,
        rows: 120,
        makeId: ticketId,
        vary: {
          Subject: cycle([...TEXTS.map(trimSubject), null], 5),
          Status: cycle(['new', 'open', 'stalled', 'resolved', 'rejected', 'new', 'deleted']),
          Owner: cycle(['Nobody', 'root', 'Nobody', "o'neil"]),
          Requestor: (index) => times(index % 3, (nth) => pick(NAMES, index + nth)),
          ...{ Creator: person, LastUpdatedBy: person },
          CustomFields: (index) =>
            index % 2 === 0 ? { Severity: [pick(["it's 'high'", 'low'], index)], Tags: [] } : {},
        },
        initial: { ...ofTickets.initial, Status: 'new', Owner: 'Nobody', LastUpdatedBy: 'root', CustomFields: {} },
        changed: ['LastUpdated'],
        made: { Status: 'new' },
      },
      transactions: {
        ...about('transaction', transactions, { ...MADE_BY, ObjectType: { type: 'string' } }),
        rows: 240,
        vary: {
          ObjectType: (index) => (index % 9 === 8 ? 'RT::User' : 'RT::Ticket'),
          ObjectId: (index) => ticketId(index % 30),
          Type: cycle(KINDS),
          Data: cycle(['No Subject', null, ...TEXTS]),
          Creator: person,
        },
        made: { ObjectType: 'RT::Ticket', ObjectId: 1, Type: 'Status' },
        label: 'Data',
      },
      // Each message has a text or a file.
      attachments: {
        ...about('attachment', attachments, MADE_BY),
        rows: 80,
        vary: {
          TransactionId: (index) => KINDS.length * Math.floor(index / 2) + 2 + (index % 2),
          Filename: cycle([null, null, null, "a 'file'.txt"]),
          ContentType: () => 'text/plain',
          Content: (index) => pick(TEXTS, index) || 'text',
          Creator: person,
        },
      },
      users: {
        ...about('user', users),
        rows: NAMES.length,
        vary: { Name: cycle(NAMES) },
      },
      queues: { ...about('queue', queues), rows: 3, vary: { Name: cycle(['General', "Köln & O'Neil", '7']) } },
    },
  });
  return desk;
}

/** Finds a queue or a user, by id or by name. */
function findEntry({ table }: Collection, wanted: unknown): TableRow | undefined {
  return table.rows().find(({ id, Name }) => String(id) === String(wanted) || Name === wanted);
}

/** Reads a time. An invalid time, or one that cannot be stored, removes the old one. */
function readInstant(value: unknown): string | null {
  const ms = Date.parse(String(value).replace(' ', 'T').replace(/Z?$/, 'Z'));
  return ms > 0 ? writeSeconds(ms) : null;
}
