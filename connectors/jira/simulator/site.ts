import {
  type Changeable,
  type Collection,
  type CollectionSpec,
  columnsFor,
  createCollections,
  type Member,
  type Members,
  type MovableClock,
  pick,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { documentOf, ENTRIES, FIELDS, type Field, refuse, refuseFields } from './fields.ts';
import { ZONE } from './jql.ts';

export const ACCOUNT_ID = '5b10a2844c20165700ede210';
const FIRST_MS = Date.parse('2024-01-03T08:59:30.250Z');
const ISSUES = 120;

/** Texts of one line. Jira stores no blank text. */
const LINE: Member = {
  type: 'string',
  longest: 255,
  isPossible: (text) => text.trim() !== '' && !/[\n\r]/.test(text),
};
const FORMS: Readonly<Record<Field['kind'], Member>> = {
  ...{ text: LINE, document: { type: 'object' }, key: { ...LINE, isReadOnly: true }, labels: { type: 'array' } },
  ...{
    number: { type: 'number', range: ['0', '100000000000'] },
    date: { type: 'date' },
    datetime: { type: 'datetime' },
  },
  ...{ issue: { type: 'reference', refersTo: 'issues' }, project: { type: 'reference', refersTo: 'projects' } },
  ...{ user: { type: 'reference', refersTo: 'users' }, entry: { type: 'reference' }, option: { type: 'reference' } },
  options: { type: 'array' },
};

/** The members of issues. A reference to an entry has the field's name, where there is no collection. */
const MEMBERS: Members = Object.fromEntries(
  FIELDS.map(({ id, kind, isSet }): [string, Member] => {
    const { refersTo = id, ...form } = FORMS[kind];
    const isRequired = ['project', 'issuetype', 'summary'].includes(id);
    const type = id === 'timespent' ? 'integer' : form.type;
    return [id, { ...form, type, refersTo, isRequired, isReadOnly: isSet !== true && id !== 'project' }];
  }),
);

type Name = 'issues' | 'comments' | 'worklogs' | 'projects' | 'users';
export type Site = Readonly<Record<Name, Collection>> & {
  readonly me: () => TableRow;
  /** Returns the key of a new issue in a project. */
  readonly nextKey: (project: unknown) => string;
  /** The collections that `POST /simulate/changes` changes. */
  readonly changeable: Readonly<Record<string, Changeable>>;
};

/** Creates the records of a site. Rows have ids where Jira shows whole records, and times in milliseconds. */
export function createSite(clock: MovableClock, onChange: (name: Name, change: TableChange) => void): Site {
  const collections = createCollections<Name, CollectionSpec>({
    ...{ clock, onChange, of: SPECS, isStrict: true, writeTime: (ms) => ms, readTime: parseTime },
    read: {
      string: (value, { isPossible = () => true }) =>
        value === '' ? null : typeof value === 'string' && isPossible(value) ? value : undefined,
      object: (value) => (isDocument(value) ? value : undefined),
      array: (value, { refersTo = '' }) => {
        if (!Array.isArray(value)) return undefined;
        if (refersTo === 'labels') return value.every((label) => /^\S+$/.test(String(label))) ? value : undefined;
        const ids = value.map((each) => referred(refersTo, each));
        return ids.includes(undefined) ? undefined : ids;
      },
      reference: (value, { refersTo = '' }) => referred(refersTo, value),
    },
    refuse: (complaints) =>
      refuseFields(Object.fromEntries(complaints.map(({ member, message }) => [member, message]))),
    absent: (_, id) => refuse(`'${id}' does not exist, or you do not have permission to see it.`, 404),
  });
  const { issues, projects, users } = collections;

  /** Returns the id of what a body names by its id, its key or its name. */
  function referred(name: string, value: unknown): unknown {
    const { value: option, ...named } = Object(value);
    const wanted = Object.entries(option === undefined ? named : { ...named, name: option });
    const rows =
      ENTRIES[name] ??
      Object.values(collections)
        .find((each) => each.name === name)
        ?.table.rows() ??
      [];
    const row: TableRow | undefined = rows.find((each: TableRow) => wanted.some(([key, text]) => each[key] === text));
    return row?.id ?? row?.accountId;
  }

  /** Finds a record also by its key, in any case. */
  const byKey = (collection: Collection): Collection => ({
    ...collection,
    get: (id) => collection.table.rows().find(({ key }) => key === id.toUpperCase()) ?? collection.get(id),
  });
  let nextIssue = 1000;
  return {
    ...{ ...collections, issues: byKey(issues), projects: byKey(projects), changeable: { issues, projects } },
    me: () => users.get(ACCOUNT_ID),
    nextKey: (project) => `${projects.get(String(project)).key}-${++nextIssue}`,
  };
}

const accountId = (index: number) => (index % 12 === 0 ? ACCOUNT_ID : `5b10a2844c20165700ede${300 + (index % 12)}`);
const idsFrom = (first: number) => (index: number) => String(first + index);
const keyOf = (index: number) => (index < 26 ? `P${String.fromCharCode(65 + index)}` : `P${index}`);
const entry =
  (field: string, step = 1) =>
  (index: number) =>
    pick(ENTRIES[field] ?? [], index * step).id;
const document = (column: (index: number) => unknown) => (index: number) => {
  const text = column(index);
  return text == null ? null : documentOf(String(text));
};

/** Returns the columns of documents and times of issues. */
function madeColumns() {
  const forms = FIELDS.flatMap(({ id, kind }): [string, Member][] => {
    if (kind === 'datetime') return [[id, { type: kind }]];
    return kind === 'document' ? [[id, { type: 'string', isPossible: (text) => text.trim() !== '' }]] : [];
  });
  const made = columnsFor(Object.fromEntries(forms), { writeTime: (ms) => ms + 250 });
  return Object.fromEntries(
    Object.entries(made).map(([id, column]) => [id, MEMBERS[id]?.type === 'object' ? document(column) : column]),
  );
}

/** Comments or worklogs: many of the first issue, and one of each of the next ones. */
function notesOf(count: number, text: 'body' | 'comment', more: Partial<CollectionSpec> = {}): CollectionSpec {
  const made = columnsFor({ [text]: { type: 'string', isNeverNull: true, isPossible: (each) => each.trim() !== '' } });
  return {
    ...{ rows: count + 10, makeId: idsFrom(20_000), created: ['created'], changed: ['updated'], ...more },
    members: { [text]: { type: 'object', isRequired: text === 'body' }, ...more.members },
    vary: {
      issueId: (index) => String(30_000 + Math.max(0, index - count)),
      author: (index) => accountId(index % 5),
      [text]: document((index) => made[text]?.(index)),
      ...{ created: (index) => FIRST_MS + index * 60_000, updated: (index) => FIRST_MS + index * 60_000, ...more.vary },
    },
  };
}

const SPECS: Readonly<Record<Name, CollectionSpec>> = {
  users: {
    ...{ members: { displayName: { ...LINE, isNeverNull: true } }, rows: 12, key: 'accountId', makeId: accountId },
    vary: {
      accountType: (index) => (index % 5 === 4 ? 'app' : 'atlassian'),
      active: (index) => index % 4 !== 3,
      // People can hide their addresses.
      emailAddress: sparse(3, (index) => (index === 0 ? 'demo@example.com' : `user${index}@example.com`)),
      timeZone: () => 'Europe/Berlin',
    },
  },
  projects: {
    members: {
      description: { type: 'string', isNeverNull: true, longest: 200 },
      ...{ key: { ...LINE, isRequired: true }, name: { ...LINE, isRequired: true, longest: 80 }, url: LINE },
      ...{ leadAccountId: { ...LINE, isRequired: true }, projectTypeKey: { ...LINE, isRequired: true } },
    },
    ...{ rows: 20, makeId: idsFrom(10_000), label: 'description', initial: { description: '', url: '' } },
    vary: {
      key: keyOf,
      name: (index) => (index % 3 === 0 ? `Space "${index}"` : `Projekt ${index} Größe`),
      leadAccountId: (index) => accountId(index % 3),
      projectTypeKey: (index) => (index % 4 === 3 ? 'business' : 'software'),
      url: () => '',
    },
  },
  issues: {
    ...{ members: MEMBERS, rows: ISSUES, makeId: idsFrom(30_000), created: ['created'], changed: ['updated'] },
    label: 'summary',
    initial: { status: '10000' },
    vary: {
      ...madeColumns(),
      project: (index) => String(10_000 + (index % 4)),
      key: (index) => `${keyOf(index % 4)}-${index + 1}`,
      issuetype: (index) => (index % 9 === 8 ? '10004' : entry('issuetype')(index % 3)),
      status: (index) => entry('status')(Math.floor(index / 3)),
      priority: sparse(11, entry('priority', 2)),
      resolution: (index) => (Math.floor(index / 3) % 4 >= 2 ? entry('resolution')(index) : null),
      assignee: sparse(4, (index) => accountId(index * 5)),
      reporter: sparse(17, (index) => accountId(index * 7)),
      creator: (index) => accountId(index * 3),
      parent: (index) => (index % 9 === 8 ? String(30_000 + index - 8) : null),
      labels: (index) => pick([[], ['Shop'], ['shop', 'ä-b'], ['urgent']], Math.floor(index / 5)),
      // Pairs of issues change in the same minute.
      created: (index) => FIRST_MS + Math.floor(index / 2) * 33 * 3_600_000 + (index % 2) * 20_000,
      updated: (index) => FIRST_MS + Math.floor(index / 2) * 34 * 3_600_000 + (index % 2) * 20_000,
      customfield_10012: sparse(3, entry('customfield_10012')),
      customfield_10016: (index) => pick([[], ['10030'], ['10031', '10032']], index),
      customfield_10017: sparse(5, (index) => accountId(index * 2)),
    },
  },
  comments: notesOf(45, 'body'),
  worklogs: notesOf(20, 'comment', {
    members: {
      started: { type: 'datetime', isRequired: true },
      timeSpentSeconds: { type: 'integer', isRequired: true, range: ['60', 'Infinity'] },
    },
    vary: {
      started: (index) => FIRST_MS + index * 3_600_000,
      timeSpentSeconds: (index) => 60 * (index + 1),
    },
    check: ({ timeSpentSeconds }) =>
      Number(timeSpentSeconds) < 60
        ? [{ reason: 'other', member: 'timeLogged', message: 'You must indicate the time spent working.' }]
        : [],
  }),
};

/** Prints an instant as Jira does: `2024-01-03T09:59:30.250+0100`. */
export const showTime = (ms: unknown): string => ZONE.print(Number(ms), 3).replace(/:(\d\d)$/, '$1');

/** Reads `2024-01-03T09:59:30.250+0100`. Other forms of ISO 8601 are refused. */
function parseTime(value: unknown): number | undefined {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d{4}$/.test(value);
  const ms = isTime ? Date.parse(value.replace(/(\d\d)$/, ':$1')) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns whether a value is a document in Atlassian Document Format. */
function isDocument(value: unknown): boolean {
  const { type, version, content } = Object(value);
  return type === 'doc' && version === 1 && Array.isArray(content);
}
