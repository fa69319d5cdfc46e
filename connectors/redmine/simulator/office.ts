import type { Fields } from '#connector';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  Fault,
  fault,
  HOSTILE_TEXTS,
  type Member,
  type Members,
  type MovableClock,
  membersOf,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { attachments, customFields, issues, projects, timeEntries, users } from '../objects.ts';
import official from '../official.json' with { type: 'json' };

export interface Resource extends CollectionSpec {
  /** The member that wraps a single record in bodies. */
  readonly one: string;
  /** Names of the filters. The filter of `status` is `status_id`. */
  readonly filters: readonly string[];
  readonly sorts: readonly string[];
  /** Members that lists do not contain. */
  readonly hidden: readonly string[];
  /** Selects the rows that are listed without a filter. Default: all. */
  readonly usual?: (row: TableRow) => boolean;
  /** Whether lists begin with the last record. */
  readonly isReversed?: boolean;
}

export type Name = 'issues' | 'time_entries' | 'projects' | 'users' | 'custom_fields' | 'journals' | 'attachments';
export type Office = Readonly<Record<Name, Collection<Resource, Name>>>;

/** References by their member: the name of the referenced records if responses contain it, and their ids. */
const NAMED: Readonly<Record<string, readonly [name: string, ...ids: readonly number[]]>> = {
  project: ['Project', 1, 2],
  tracker: ['Tracker', 1, 2, 3],
  status: ['Status', 1, 2, 3, 5, 6],
  priority: ['Priority', 1, 2, 3, 4],
  author: ['User', 1, 5],
  user: ['User', 1, 5, 6],
  assigned_to: ['User', 1, 5, 6],
  fixed_version: ['Version', 1, 2],
  category: ['Category', 1],
  activity: ['Activity', 8, 9],
  parent: ['', 1, 2, 3],
  issue: ['', 1, 2, 3],
};
const entries = Object.fromEntries(Object.entries(NAMED).map(([member, [, ...ids]]) => [member, ids]));
const isClosed = (status: unknown) => Number(status) > 4;

/** Texts that are neither blank nor too long. Some look like operators and values of a filter. */
const TEXTS = [...HOSTILE_TEXTS, 'a|b', '~x', '>=5', 'ABC', 'abc', '"one two" three'].filter(
  (text) => text.trim() !== '' && text.length <= 255,
);
const text = cycle(TEXTS);
const isBlank = (value: unknown) => String(value).trim() === '';

const { notes: _notes, uploads: _uploads, ...ISSUE } = issues.fields;
const { token: _token, ...ATTACHMENT } = attachments.fields;
const REQUIRED: Member = { type: 'reference', isRequired: true };

/** Returns the description of a kind of record. A member `{ id, name }` is a reference, which rows store as an id. */
function about(name: Name, one: string, fields: Fields, own: Members = {}) {
  const members = Object.entries(membersOf(fields)).flatMap(([path, member]): [string, Member][] => {
    const [whole = '', part = 'id'] = path.split('.');
    if (whole === path) return [[path, member]];
    return part === 'id' ? [[whole, { ...member, type: 'reference', refersTo: whole, ...own[whole] }]] : [];
  });
  const { [name]: filters = '' }: Readonly<Record<string, string>> = official.filters;
  const { [name]: sorts = '' }: Readonly<Record<string, string>> = official.sorts;
  return {
    one,
    members: Object.fromEntries(members),
    filters: filters.split(' '),
    sorts: sorts.split(' '),
    hidden: Object.entries(fields).flatMap(([field, { unlisted }]) => (unlisted === true ? [field] : [])),
    created: ['created_on'],
    changed: ['updated_on'],
  };
}

/**
 * Creates the data of the simulator.
 * @param notify called for each change
 */
export function createOffice(clock: MovableClock, notify: (name: Name, change: TableChange) => void): Office {
  return createCollections<Name, Resource>({
    clock,
    entries,
    onChange: notify,
    read: {
      string: (value, { isRequired }) => (isRequired === true && isBlank(value) ? null : value),
      reference: (value) => (value === '' ? null : Number(value)),
    },
    refuse: (complaints) =>
      new Fault(422, 'INVALID', '', {
        fields: complaints.map(
          ({ member, reason }) => `${member} ${reason === 'missing' ? 'cannot be blank' : 'is invalid'}`,
        ),
      }),
    absent: () => fault(404, ''),
    of: {
      issues: {
        ...about('issues', 'issue', ISSUE),
        rows: 80,
        vary: {
          subject: text,
          custom_fields: (index) => [{ id: 1, name: 'Colour', value: text(index + 9) }],
        },
        initial: { project: 1, tracker: 1, status: 1, priority: 2, author: 1, done_ratio: 0, is_private: false },
        usual: ({ status }) => !isClosed(status),
        isReversed: true,
      },
      time_entries: {
        ...about('time_entries', 'time_entry', timeEntries.fields, { activity: REQUIRED }),
        rows: 60,
        initial: { project: 1, user: 1, spent_on: '2026-01-02' },
      },
      projects: {
        ...about('projects', 'project', projects.fields),
        rows: 20,
        vary: { name: text, status: cycle([1, 1, 5]) },
        initial: { status: 1, is_public: true, inherit_members: false },
        usual: ({ status }) => status === 1,
      },
      users: { ...about('users', 'user', users.fields), rows: 6, vary: { status: cycle([1, 1, 3]) } },
      custom_fields: { ...about('custom_fields', 'custom_field', customFields.fields), rows: 3 },
      // Each journal belongs to an issue.
      journals: {
        ...about('journals', 'journal', issues.children?.journals?.fields ?? {}),
        rows: 160,
        vary: { of: (index) => 1 + (index % 80), notes: cycle(['Hello', '', ...TEXTS], 7) },
      },
      attachments: {
        ...about('attachments', 'attachment', ATTACHMENT),
        rows: 80,
        vary: {
          of: (index) => 1 + index,
          filename: () => 'a b.txt',
          filesize: () => 3,
          bytes: () => Buffer.from('abc'),
        },
        initial: { author: 1 },
      },
    },
  });
}

/** Returns a record as responses contain it. References without a record are missing, and other missing values are null. */
export function present({ members }: Pick<Resource, 'members'>, row: TableRow): TableRow {
  const shown = Object.entries(members).flatMap(([member, { type }]): [string, unknown][] => {
    const { [member]: value = null } = row;
    if (type !== 'reference') return [[member, value]];
    const [name = ''] = NAMED[member] ?? [];
    const closed = member === 'status' && { is_closed: isClosed(value) };
    return value === null ? [] : [[member, { id: value, ...(name !== '' && { name: `${name} ${value}` }), ...closed }]];
  });
  return Object.fromEntries(shown);
}
