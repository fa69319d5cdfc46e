import { cycle, dayAfter, HOSTILE_TEXTS, makeRows, pick, sparse, type TableRow, times } from '#connector/simulator';

/** Neither blank nor too long. */
const TEXTS = [...HOSTILE_TEXTS, 'a|b', '~x', '>=5', 'ABC', 'abc', '"one two" three'].filter(
  (text) => text.trim() !== '' && text.length <= 255,
);

const named = (name: string) => (id: number | null) => (id === null ? null : { id, name: `${name} ${id}` });
/** What others refer to, by the member that shows it. */
export const NAMED: Readonly<Record<string, (id: number | null) => unknown>> = {
  project: named('Project'),
  tracker: named('Tracker'),
  status: (id) => ({ id, name: `Status ${id}`, is_closed: Number(id) > 4 }),
  priority: named('Priority'),
  author: named('User'),
  user: named('User'),
  assigned_to: named('User'),
  fixed_version: named('Version'),
  category: named('Category'),
  activity: named('Activity'),
  parent: (id) => (id === null ? null : { id }),
  issue: (id) => (id === null ? null : { id }),
};

const refer = (member: string, ids: readonly (number | null)[]) => (index: number) =>
  NAMED[member]?.(pick(ids, index)) ?? null;

const text = cycle(TEXTS);
const FIRST_MS = Date.parse('2024-02-28T22:59:59Z');
const moment = (index: number) =>
  new Date(FIRST_MS + Math.floor(index / 2) * 86_461_000).toISOString().replace('.000', '');

export const makeIssues = (): readonly TableRow[] =>
  makeRows(80, {
    id: (index) => 1 + index + 10 * Math.floor(index / 30),
    project: refer('project', [1, 1, 2]),
    tracker: refer('tracker', [1, 2, 3]),
    status: refer('status', [1, 2, 5, 3, 6]),
    priority: refer('priority', [2, 1, 3, 4]),
    author: refer('author', [1, 5]),
    assigned_to: refer('assigned_to', [null, 1, 5, 6]),
    category: refer('category', [null, null, 1]),
    fixed_version: refer('fixed_version', [null, 1, 2]),
    parent: refer('parent', [null, null, null, 1]),
    subject: text,
    description: sparse(5, (index) => pick(['', ...TEXTS], index * 3)),
    start_date: sparse(4, (index) => dayAfter('2023-12-30', index * 9)),
    due_date: sparse(3, (index) => dayAfter('2024-02-27', index)),
    done_ratio: cycle([0, 10, 50, 100]),
    is_private: (index) => index % 9 === 8,
    estimated_hours: sparse(4, cycle([0, 0.1, 1.5, 2.567, 1_234_567.89])),
    total_estimated_hours: cycle([0, 0.1, 7.25]),
    spent_hours: cycle([0, 1.25]),
    total_spent_hours: cycle([0, 1.25, 3]),
    custom_fields: (index) => [{ id: 1, name: 'Colour', value: text(index + 9) }],
    created_on: moment,
    updated_on: (index) => moment(index + 3),
    closed_on: (index) => (index % 5 === 2 || index % 5 === 4 ? moment(index + 3) : null),
  });

export const makeTimeEntries = (): readonly TableRow[] =>
  makeRows(60, {
    id: (index) => 1 + index,
    project: refer('project', [1, 2]),
    issue: refer('issue', [1, 2, 3, null]),
    user: refer('user', [1, 5, 6]),
    activity: refer('activity', [8, 9]),
    hours: cycle([0.1, 0.25, 1, 2, 33.33]),
    comments: sparse(5, (index) => pick(['', ...TEXTS], index)),
    spent_on: (index) => dayAfter('2024-02-27', Math.floor(index / 3)),
    created_on: moment,
    updated_on: moment,
  });

export const makeProjects = (): readonly TableRow[] =>
  makeRows(20, {
    id: (index) => 1 + index,
    name: text,
    identifier: (index) => `project-${index}`,
    description: sparse(3, text, 0),
    parent: refer('parent', [null, 1, 2, null, 3]),
    status: cycle([1, 1, 5]),
    is_public: (index) => index % 2 === 0,
    inherit_members: () => false,
    created_on: moment,
    updated_on: moment,
  });

export const makeUsers = (): readonly TableRow[] =>
  makeRows(6, {
    id: (index) => 1 + index,
    login: (index) => `user${index}`,
    admin: (index) => index === 0,
    firstname: text,
    lastname: () => "O'Neil",
    mail: (index) => `user${index}@example.com`,
    created_on: moment,
    updated_on: moment,
    last_login_on: sparse(2, moment),
    passwd_changed_on: () => null,
    twofa_scheme: () => null,
    status: cycle([1, 1, 3]),
  });

export const CUSTOM_FIELDS = [
  {
    id: 1,
    name: 'Colour',
    customized_type: 'issue',
    field_format: 'string',
    regexp: '',
    min_length: null,
    max_length: null,
    is_required: false,
    is_filter: true,
    searchable: false,
    multiple: false,
    default_value: null,
    visible: true,
    trackers: times(3, (index) => ({ id: index + 1, name: `Tracker ${index + 1}` })),
    roles: [],
  },
];
