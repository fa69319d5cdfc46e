import {
  defineObject,
  type Fields,
  type Json,
  json,
  type ListQuery,
  list,
  type ProviderRequest,
  path,
} from '#connector';
import {
  always,
  blank,
  CUSTOM,
  day,
  FOUND,
  FOUND_ID,
  flag,
  foundHours,
  foundMoment,
  hours,
  ID,
  LISTED_ID,
  maybe,
  moment,
  nameOf,
  number,
  percent,
  reference,
  shown,
} from './fields.ts';
import { type Conditions, conditions, parametersOf } from './filters.ts';
import { assertId, type RecordPaths, readOne, recordsAt } from './records.ts';

const GIVEN = { createable: true } as const;
const WRITABLE = { createable: true, updateable: true } as const;
const UNLISTED = { unlisted: true } as const;
const REQUIRED = { ...WRITABLE, required: true } as const;

const ASKED = { translator: conditions, shape: { kind: 'and' }, limits: { maxInSize: 50, maxSortFields: 2 } } as const;

type More = (query: ListQuery<Conditions>) => NonNullable<ProviderRequest['query']>;

/**
 * Returns the list operation of a collection.
 * @param all the name of the collection
 * @param more returns additional parameters
 * @param idOrder whether Redmine can add the id to an order; the orders of other lists are total already
 */
function listOf(all: string, { more = () => ({}), idOrder = false }: { more?: More; idOrder?: boolean } = {}) {
  return list<Conditions>({
    request: (query) => ({ path: `/${all}.json`, query: { ...query.page, sort: query.order, ...more(query) } }),
    rows: (body) => json.objects(json.at(body, all), `the list '${all}'`),
    paging: {
      kind: 'offset',
      offset: 'offset',
      size: 'limit',
      max: 100,
      total: ({ body }) => json.at(body, 'total_count'),
    },
    order: { term: (native, direction) => `${native.replace('.', '_')}:${direction}`, ...(idOrder && { id: 'id' }) },
  });
}

const asked: More = ({ filter = [] }) => parametersOf(filter);

/** Lists parts of a single issue. */
const partsOf = (part: 'journals' | 'attachments', isMeant: (row: Json) => boolean = () => true) =>
  list<unknown>({
    request: ({ parentId = '' }) => ({ path: path`/issues/${assertId(parentId)}.json`, query: { include: part } }),
    rows: (body) => json.objects(json.at(body, 'issue', part), `the list '${part}'`).filter(isMeant),
    paging: { kind: 'whole' },
  });

const JOURNAL = {
  id: ID,
  user_id: reference('user'),
  user_name: nameOf('user'),
  notes: blank('notes'),
  private_notes: flag('private_notes'),
  details: { type: 'array', native: 'details', label: 'Changes' },
  created_on: moment('created_on'),
} as const satisfies Fields;

const ATTACHMENT = {
  id: ID,
  filename: { ...shown('filename'), updateable: true },
  filesize: { ...number('filesize'), label: 'Bytes' },
  content_type: blank('content_type'),
  description: { ...blank('description'), updateable: true },
  author_id: reference('author'),
  author_name: nameOf('author'),
  created_on: moment('created_on'),
} as const satisfies Fields;

const TIME_ENTRY = {
  id: ID,
  project_id: { ...always('project'), ...WRITABLE, label: 'Project; required without an issue' },
  project_name: nameOf('project'),
  // A condition accepts a single issue.
  issue_id: {
    ...reference('issue'),
    ...WRITABLE,
    filter: { '=': 'exact', 'IS NULL': 'exact', 'IS NOT NULL': 'exact' },
  },
  user_id: { ...always('user'), ...WRITABLE },
  user_name: nameOf('user'),
  // A condition on an activity also returns entries of activities that projects derived from it.
  activity_id: { ...reference('activity'), ...WRITABLE, filter: { '=': 'superset', IN: 'superset' } },
  activity_name: nameOf('activity'),
  hours: { ...foundHours('hours'), ...REQUIRED },
  comments: { ...blank('comments'), ...FOUND, ...WRITABLE },
  spent_on: { ...day('spent_on'), ...WRITABLE, nullable: false, sortable: true },
  created_on: { ...moment('created_on'), nullable: false, sortable: true },
  updated_on: { ...moment('updated_on'), nullable: false },
  custom_fields: { ...CUSTOM, ...WRITABLE },
} as const satisfies Fields;

export const timeEntries = defineObject<Conditions>({
  label: 'Time entries',
  native: 'time_entries',
  fields: TIME_ENTRY,
  ...ASKED,
  list: listOf('time_entries', { more: asked }),
  ...recordsAt({ all: 'time_entries', one: 'time_entry', guarded: ['user'] }),
});

const { filter: _, ...ISSUE } = TIME_ENTRY.issue_id;

const timeEntriesOfIssue = defineObject<Conditions>({
  label: 'Time spent on the issue',
  native: 'time_entries',
  // The parent selects the issue already.
  fields: { ...TIME_ENTRY, issue_id: ISSUE },
  ...ASKED,
  list: listOf('time_entries', {
    more: ({ parentId = '', filter = [] }) =>
      parametersOf([{ field: 'issue_id', operator: '=', values: [assertId(parentId)] }, ...filter]),
  }),
});

const ISSUES: RecordPaths = {
  all: 'issues',
  one: 'issue',
  guarded: ['status', 'tracker', 'project', 'priority', 'assigned_to'],
  setBy: { parent: 'parent_issue_id' },
};

export const issues = defineObject<Conditions>({
  label: 'Issues',
  description: 'Issues of all projects, open and closed.',
  aliases: ['incidents'],
  fields: {
    id: FOUND_ID,
    project_id: { ...always('project'), ...REQUIRED },
    project_name: nameOf('project'),
    tracker_id: { ...always('tracker'), ...WRITABLE },
    tracker_name: nameOf('tracker'),
    status_id: { ...always('status'), ...WRITABLE },
    status_name: nameOf('status'),
    is_closed: { ...flag('status.is_closed'), label: 'Whether the status means that the issue is closed' },
    priority_id: { ...maybe('priority'), ...WRITABLE },
    priority_name: nameOf('priority'),
    author_id: always('author'),
    author_name: nameOf('author'),
    assigned_to_id: { ...maybe('assigned_to'), ...WRITABLE, label: 'Assignee' },
    assigned_to_name: nameOf('assigned_to'),
    category_id: { ...reference('category'), ...WRITABLE },
    fixed_version_id: { ...maybe('fixed_version'), ...WRITABLE, label: 'Target version' },
    parent_id: {
      ...reference('parent'),
      ...WRITABLE,
      filter: { '=': 'superset', 'IS NULL': 'superset', 'IS NOT NULL': 'superset' },
    },
    subject: { ...shown('subject'), ...FOUND, ...REQUIRED, nullable: false, label: 'Subject, at most 255 characters' },
    description: { ...blank('description'), ...FOUND, ...WRITABLE },
    start_date: { ...day('start_date'), ...WRITABLE },
    due_date: { ...day('due_date'), ...WRITABLE },
    done_ratio: { ...percent('done_ratio'), ...WRITABLE },
    is_private: { ...flag('is_private'), ...WRITABLE, filter: { '=': 'superset', '!=': 'superset' } },
    estimated_hours: { ...foundHours('estimated_hours'), ...WRITABLE },
    total_estimated_hours: hours('total_estimated_hours'),
    spent_hours: hours('spent_hours'),
    total_spent_hours: hours('total_spent_hours'),
    custom_fields: { ...CUSTOM, ...WRITABLE },
    created_on: { ...foundMoment('created_on'), nullable: false, sortable: true },
    updated_on: { ...foundMoment('updated_on'), nullable: false, sortable: true },
    closed_on: {
      ...foundMoment('closed_on'),
      filter: { ...foundMoment('closed_on').filter, 'IS NULL': 'exact', 'IS NOT NULL': 'exact' },
    },
    notes: { ...shown('notes'), ...UNLISTED, updateable: true, label: 'Comment on the change' },
    uploads: { type: 'array', ...UNLISTED, ...WRITABLE, label: 'Files to attach: each with `token`, `filename`' },
  },
  ...ASKED,
  list: listOf('issues', { more: ({ filter = [] }) => parametersOf(filter, 'issue_id'), idOrder: true }),
  changes: { updated: 'updated_on', created: 'created_on' },
  children: {
    journals: defineObject({ label: 'Changes and comments', fields: JOURNAL, list: partsOf('journals') }),
    comments: defineObject({
      label: 'Comments',
      fields: JOURNAL,
      list: partsOf('journals', ({ notes }) => Boolean(notes)),
    }),
    attachments: defineObject({ label: 'Files', fields: ATTACHMENT, list: partsOf('attachments') }),
    'time-entries': timeEntriesOfIssue,
  },
  ...recordsAt(ISSUES),
});

export const projects = defineObject<Conditions>({
  label: 'Projects',
  description: 'Open and closed projects. Archived projects are not included.',
  fields: {
    id: LISTED_ID,
    name: { ...shown('name'), ...FOUND, ...REQUIRED, nullable: false },
    identifier: { ...shown('identifier'), ...GIVEN, required: true, nullable: false, format: 'identifier' },
    description: { ...blank('description'), ...FOUND, ...WRITABLE },
    homepage: { ...blank('homepage'), ...UNLISTED, ...WRITABLE, format: 'uri' },
    parent_id: { ...maybe('parent'), ...WRITABLE },
    parent_name: nameOf('parent'),
    status: { ...number('status'), nullable: false, label: 'Status: 1 active, 5 closed' },
    is_public: { ...flag('is_public'), ...WRITABLE, filter: { '=': 'exact', '!=': 'exact' } },
    inherit_members: { ...flag('inherit_members'), ...WRITABLE },
    custom_fields: { ...CUSTOM, ...WRITABLE },
    created_on: { ...foundMoment('created_on'), nullable: false },
    updated_on: { ...moment('updated_on'), nullable: false },
  },
  ...ASKED,
  list: listOf('projects', { more: asked, idOrder: true }),
  ...recordsAt({ all: 'projects', one: 'project' }),
});

const USERS: RecordPaths = { all: 'users', one: 'user' };

/** The object of users. Only administrators can list them. */
export const users = defineObject<Conditions>({
  label: 'Users',
  description: 'Users, including locked ones. Only administrators may list them.',
  fields: {
    id: ID,
    login: { ...shown('login'), nullable: false },
    firstname: shown('firstname'),
    lastname: shown('lastname'),
    mail: { ...shown('mail'), format: 'email' },
    admin: flag('admin'),
    status: { ...number('status'), ...UNLISTED, label: 'Status: 1 active, 2 registered, 3 locked' },
    twofa_scheme: shown('twofa_scheme'),
    custom_fields: CUSTOM,
    created_on: moment('created_on'),
    updated_on: moment('updated_on'),
    last_login_on: moment('last_login_on'),
    passwd_changed_on: moment('passwd_changed_on'),
  },
  // Without this parameter Redmine lists only active users.
  list: listOf('users', { more: () => ({ status: '' }) }),
  get: readOne(USERS),
});

/** The object of custom fields. Only administrators can list them. */
export const customFields = defineObject<Conditions>({
  label: 'Custom fields',
  description: 'Definitions of the custom fields of issues, projects and others. Only administrators may list them.',
  native: 'custom_fields',
  fields: {
    id: ID,
    name: { ...shown('name'), nullable: false },
    customized_type: {
      ...shown('customized_type'),
      label: 'Kind of the records with this field: `issue`, `project`, `time_entry`, `user` …',
    },
    field_format: shown('field_format'),
    regexp: blank('regexp'),
    min_length: number('min_length'),
    max_length: number('max_length'),
    is_required: flag('is_required'),
    is_filter: flag('is_filter'),
    searchable: flag('searchable'),
    multiple: flag('multiple'),
    default_value: blank('default_value'),
    visible: flag('visible'),
    possible_values: { type: 'array', native: 'possible_values' },
    trackers: { type: 'array', native: 'trackers' },
    roles: { type: 'array', native: 'roles' },
  },
  list: list({
    request: () => ({ path: '/custom_fields.json' }),
    rows: (body) => json.objects(json.at(body, 'custom_fields'), "the list 'custom_fields'"),
    paging: { kind: 'whole' },
  }),
});

const ATTACHMENTS: RecordPaths = { all: 'attachments', one: 'attachment' };
const ofAttachments = recordsAt(ATTACHMENTS);

/** The object of files. A new file belongs to no issue until its token is in the `uploads` of an issue. */
export const attachments = defineObject({
  label: 'Attachments',
  description: 'Files. A new file belongs to no issue until its `token` is in the `uploads` of an issue.',
  fields: {
    ...ATTACHMENT,
    token: { ...shown('token'), ...UNLISTED, label: 'Returned only in response to the upload' },
  },
  get: ofAttachments.get,
  update: ofAttachments.update,
  remove: ofAttachments.remove,
  media: { types: ['*'], request: ({ id }) => ({ path: path`/attachments/download/${assertId(id)}` }) },
  upload: {
    create: {
      request: ({ file }) => ({
        path: '/uploads.json',
        query: { filename: file.name, content_type: file.type },
        // Redmine accepts no other content type.
        headers: { 'content-type': 'application/octet-stream' },
      }),
      read: ({ body }) => ({ record: json.object(json.at(body, 'upload'), "the member 'upload'") }),
    },
  },
});
