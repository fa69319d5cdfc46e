import {
  columnsFor,
  createTable,
  type Member,
  type Members,
  type MovableClock,
  makeRows,
  sparse,
  type Table,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import { documentOf, ENTRIES, FIELDS, type Field, refuse, refuseFields } from './fields.ts';
import { ZONE } from './jql.ts';

export const ACCOUNT_ID = '5b10a2844c20165700ede210';
const FIRST_MS = Date.parse('2024-01-03T08:59:30.250Z');
const ISSUES = 120;

/** Texts of one line. Jira stores no blank text. */
const LINE = {
  type: 'string',
  longest: 120,
  isPossible: (text: string) => text.trim() !== '' && !/[\n\r]/.test(text),
} as const;

export type Site = ReturnType<typeof createSite>;
type TableName = 'issues' | 'comments' | 'worklogs' | 'projects' | 'users';

/** Creates the tables of a site. Rows have ids where Jira shows whole records, and times in milliseconds. */
export function createSite(clock: MovableClock, onChange: (table: TableName, change: TableChange) => void) {
  const users = makeRows(12, {
    ...columnsFor({ displayName: { ...LINE, isNeverNull: true } }),
    accountId: (index) => (index === 0 ? ACCOUNT_ID : `5b10a2844c20165700ede${300 + index}`),
    accountType: (index) => (index % 5 === 4 ? 'app' : 'atlassian'),
    active: (index) => index % 4 !== 3,
    // People can hide their addresses.
    emailAddress: sparse(3, (index) => (index === 0 ? 'demo@example.com' : `user${index}@example.com`)),
    timeZone: () => 'Europe/Berlin',
  });
  const projects = makeRows(20, {
    ...columnsFor({ description: { type: 'string', isNeverNull: true, longest: 200 } }),
    id: (index) => String(10_000 + index),
    key: (index) => `P${String.fromCharCode(65 + index)}`,
    name: (index) => (index % 3 === 0 ? `Space "${index}"` : `Projekt ${index} Größe`),
    lead: (index) => users[index % 3]?.accountId,
    projectTypeKey: (index) => (index % 4 === 3 ? 'business' : 'software'),
    url: () => '',
  });

  function table(
    name: TableName,
    rows: readonly TableRow[],
    key = 'id',
    initial?: (given: TableRow) => TableRow,
  ): Table {
    return createTable({
      rows,
      keyOf: (row) => String(row[key]),
      stamps: {
        clock,
        write: (ms) => ms,
        created: name === 'projects' ? [] : ['created'],
        changed: name === 'projects' ? [] : ['updated'],
      },
      onChange: (change) => onChange(name, change),
      ...(initial !== undefined && { initial }),
    });
  }

  const columns = issueColumns(users);
  let nextIssue = ISSUES;
  const tables = {
    users: createTable({ rows: users, keyOf: ({ accountId }) => String(accountId) }),
    projects: table('projects', projects, 'id', () => ({ id: String(10_000 + nextProject++) })),
    issues: table('issues', makeRows(ISSUES, columns), 'id', ({ project }) => numberIssue(nextIssue++, project)),
    comments: table('comments', entriesOf(45, 'body', users), 'id', () => ({ id: String(20_000 + nextEntry++) })),
    worklogs: table('worklogs', entriesOf(20, 'comment', users), 'id', () => ({ id: String(20_000 + nextEntry++) })),
  } as const;
  let nextProject = projects.length;
  let nextEntry = 1000;

  function numberIssue(index: number, projectId: unknown): TableRow {
    const key = tables.projects.find(String(projectId))?.key ?? 'PA';
    const number = { id: String(30_000 + index), key: `${key}-${index + 1}` };
    return { ...blankIssue(), ...number, project: projectId, status: '10000' };
  }

  return {
    ...tables,
    me: () => tables.users.find(ACCOUNT_ID) ?? {},
    /** Finds an issue by id or key, in any case. */
    issue: (idOrKey: string): TableRow => {
      const row = tables.issues.find(idOrKey) ?? tables.issues.rows().find(({ key }) => key === idOrKey.toUpperCase());
      if (row === undefined) throw refuse('Issue does not exist or you do not have permission to see it.', 404);
      return row;
    },
    project: (idOrKey: string): TableRow => {
      const row =
        tables.projects.find(idOrKey) ?? tables.projects.rows().find(({ key }) => key === idOrKey.toUpperCase());
      if (row === undefined) throw refuse(`No project could be found with key '${idOrKey}'.`, 404);
      return row;
    },
    /** The tables that `POST /simulate/changes` changes. */
    changeable: {
      issues: {
        table: tables.issues,
        keyOf: tables.issues.keyOf,
        create: (number: number) => ({ ...makeIssue(number), project: '10000', creator: ACCOUNT_ID }),
        change: (number: number) => ({ summary: `Changed ${number}` }),
      },
      projects: {
        table: tables.projects,
        keyOf: tables.projects.keyOf,
        create: (number: number) => ({ ...projects[0], key: `NEW${number}`, name: `New ${number}` }),
        change: (number: number) => ({ description: `Changed ${number}` }),
      },
    },
  };
}

const makeIssue = (number: number): TableRow => ({
  ...{ summary: `New ${number}`, issuetype: '10001', priority: '3', reporter: ACCOUNT_ID },
});

function blankIssue(): TableRow {
  return Object.fromEntries(FIELDS.map(({ id, kind }) => [id, kind === 'labels' ? [] : null]));
}

function issueColumns(users: readonly TableRow[]) {
  const members: Members = Object.fromEntries(
    FIELDS.flatMap(({ id, kind }): [string, Member][] => {
      if (kind === 'text') return [[id, { ...LINE, isNeverNull: id === 'summary' }]];
      if (kind === 'document') return [[id, { type: 'string', isPossible: (text: string) => text.trim() !== '' }]];
      if (kind === 'number')
        return [[id, { type: id === 'timespent' ? 'integer' : 'number', range: ['0', '100000000000'] }]];
      return kind === 'date' || kind === 'datetime' ? [[id, { type: kind }]] : [];
    }),
  );
  const made = columnsFor(members, { writeTime: (ms) => ms + 250 });
  const documents = FIELDS.filter(({ kind }) => kind === 'document').map(({ id }) => {
    const column = made[id];
    return [id, (index: number) => (column?.(index) == null ? null : documentOf(String(column(index))))] as const;
  });
  const entry =
    (field: string, step = 1) =>
    (index: number) => {
      const entries = ENTRIES[field] ?? [];
      return entries[(index * step) % entries.length]?.id;
    };
  const user = (step: number) => (index: number) => users[(index * step) % users.length]?.accountId;
  return {
    ...made,
    ...Object.fromEntries(documents),
    id: (index: number) => String(30_000 + index),
    project: (index: number) => String(10_000 + (index % 4)),
    key: (index: number) => `P${String.fromCharCode(65 + (index % 4))}-${index + 1}`,
    issuetype: (index: number) => (index % 9 === 8 ? '10004' : entry('issuetype')(index % 3)),
    status: (index: number) => entry('status')(Math.floor(index / 3)),
    priority: sparse(11, entry('priority', 2)),
    resolution: (index: number) => (Math.floor(index / 3) % 4 >= 2 ? entry('resolution')(index) : null),
    assignee: sparse(4, user(5)),
    reporter: sparse(17, user(7)),
    creator: user(3),
    parent: (index: number) => (index % 9 === 8 ? String(30_000 + index - 8) : null),
    labels: (index: number) => [[], ['Shop'], ['shop', 'ä-b'], ['urgent']][Math.floor(index / 5) % 4],
    // Pairs of issues change in the same minute.
    created: (index: number) => FIRST_MS + Math.floor(index / 2) * 33 * 3_600_000 + (index % 2) * 20_000,
    updated: (index: number) => FIRST_MS + Math.floor(index / 2) * 34 * 3_600_000 + (index % 2) * 20_000,
    customfield_10012: sparse(3, entry('customfield_10012')),
    customfield_10016: (index: number) => [[], ['10030'], ['10031', '10032']][index % 3],
    customfield_10017: sparse(5, user(2)),
  };
}

/** Comments or worklogs: many of the first issue, and one of each of the next ones. */
function entriesOf(count: number, text: 'body' | 'comment', users: readonly TableRow[]): readonly TableRow[] {
  const made = columnsFor({ [text]: { type: 'string', isNeverNull: true, isPossible: (each) => each.trim() !== '' } });
  return times(count + 10, (index) => ({
    id: String(20_000 + index),
    issueId: String(30_000 + Math.max(0, index - count)),
    author: users[index % 5]?.accountId,
    [text]: documentOf(String(made[text]?.(index))),
    ...{ created: FIRST_MS + index * 60_000, updated: FIRST_MS + index * 60_000 },
    ...(text === 'comment' && { started: FIRST_MS + index * 3_600_000, timeSpentSeconds: 60 * (index + 1) }),
  }));
}

/** Prints an instant as Jira does: `2024-01-03T09:59:30.250+0100`. */
export const showTime = (ms: unknown): string => ZONE.print(Number(ms), 3).replace(/:(\d\d)$/, '$1');

const setters: Readonly<Partial<Record<Field['kind'], (value: unknown, site: Site, field: Field) => unknown>>> = {
  text: (value) => {
    if (typeof value !== 'string') throw new Error('Operation value must be a string');
    if (/[\n\r]/.test(value)) throw new Error('The summary is invalid because it contains newline characters.');
    if (value.length > 255)
      throw new Error('The entered text is too long. It exceeds the allowed limit of 255 characters.');
    return value;
  },
  document: (value) => {
    const { type, version, content } = Object(value);
    if (type === 'doc' && version === 1 && Array.isArray(content)) return value;
    throw new Error('Operation value must be an Atlassian Document (see the Atlassian Document Format)');
  },
  number: (value) => (typeof value === 'number' ? value : wrong('Operation value must be a number')),
  date: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
      ? value
      : wrong('Operation value must be a string in the format yyyy-MM-dd'),
  datetime: (value) => parseTime(value) ?? wrong('Error parsing date string'),
  labels: (value) => {
    const labels = Array.isArray(value) ? value : wrong('data was not an array');
    return labels.every((label) => typeof label === 'string' && !/\s/.test(label) && label !== '')
      ? labels
      : wrong("The label can't contain spaces.");
  },
  user: (value, site) => {
    const { accountId } = Object(value);
    return site.users.find(String(accountId)) ? accountId : wrong('Specify a valid value for the user');
  },
  project: (value, site) => {
    const { id, key } = Object(value);
    const row = site.projects.rows().find((each) => each.id === id || each.key === key);
    return row?.id ?? wrong('Specify a valid project ID or key');
  },
  issue: (value, site) => {
    const { id, key } = Object(value);
    return (
      site.issues.rows().find((each) => each.id === id || each.key === key)?.id ??
      wrong('Could not find issue by id or key.')
    );
  },
  entry: (value, _site, field) => entryIn(field, value),
  option: (value, _site, field) => entryIn(field, value),
  options: (value, _site, field) =>
    Array.isArray(value) ? value.map((each) => entryIn(field, each)) : wrong('data was not an array'),
};

function wrong(message: string): never {
  throw new Error(message);
}

function entryIn({ id: field, name }: Field, value: unknown): unknown {
  const { id, name: label, value: option } = Object(value);
  const entry = ENTRIES[field]?.find((each) => each.id === id || each.name === (label ?? option));
  return entry?.id ?? wrong(`The ${name.toLowerCase()} selected is invalid.`);
}

/** Reads `2024-01-03T09:59:30.250+0100`. Other forms of ISO 8601 are refused. */
export function parseTime(value: unknown): number | undefined {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d{4}$/.test(value);
  const ms = isTime ? Date.parse(value.replace(/(\d\d)$/, ':$1')) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const REQUIRED = {
  project: 'Specify a valid project ID or key',
  issuetype: 'Specify an issue type',
  summary: 'You must specify a summary of the issue.',
};

/**
 * Returns the values of an issue in a body.
 * @throws Fault 400 that names the fields
 */
export function readIssue(body: TableRow, site: Site, isNew: boolean): TableRow {
  const fields: TableRow = { ...Object(body.fields ?? {}), ...setByUpdate(body.update) };
  const errors: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const [id, value] of Object.entries(fields)) {
    const field = FIELDS.find((each) => each.id === id);
    const isSettable = field?.isSet === true || (isNew && id === 'project');
    if (field === undefined || !isSettable) {
      errors[id] = `Field '${id}' cannot be set. It is not on the appropriate screen, or unknown.`;
      continue;
    }
    try {
      const isCleared = value === null || (field.kind === 'text' && value === '');
      values[id] = isCleared ? (field.kind === 'labels' ? [] : null) : setters[field.kind]?.(value, site, field);
    } catch (error) {
      errors[id] = error instanceof Error ? error.message : String(error);
    }
  }
  for (const [id, message] of Object.entries(REQUIRED)) {
    if (errors[id] === undefined && (isNew || id in values) && (values[id] ?? null) === null) errors[id] = message;
  }
  if (Object.keys(errors).length > 0) throw refuseFields(errors);
  return values;
}

function setByUpdate(update: unknown): TableRow {
  const entries = Object.entries<readonly { readonly set?: unknown }[]>(Object(update ?? {}));
  return Object.fromEntries(entries.flatMap(([id, operations]) => operations.map(({ set }) => [id, set])));
}
