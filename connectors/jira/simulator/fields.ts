import { Fault } from '#connector/simulator';

/** The kind of a field: how it is searched, written and shown. */
export type Kind =
  | ('text' | 'document' | 'key' | 'issue' | 'project' | 'entry' | 'user')
  | ('labels' | 'number' | 'date' | 'datetime' | 'option' | 'options');

/** A field of issues. */
export interface Field {
  readonly id: string;
  readonly name: string;
  readonly kind: Kind;
  /** The type in its schema. */
  readonly type?: string;
  readonly items?: string;
  /** Names of the field in JQL. */
  readonly clauses: readonly string[];
  /** Whether an edit can set it. */
  readonly isSet?: boolean;
  readonly isCustom?: boolean;
}

const system = (id: string, name: string, kind: Kind, more: Partial<Field> = {}): Field => ({
  ...{ id, name, kind, clauses: [id], type: 'string' },
  ...more,
});
const custom = (number: number, name: string, kind: Kind, type: string, items?: string): Field => ({
  ...{ id: `customfield_${number}`, name, kind, type, clauses: [`cf[${number}]`, name], isSet: true, isCustom: true },
  ...(items !== undefined && { items }),
});
const SET = { isSet: true } as const;

/** The fields of the site. Operators and alternative names: support.atlassian.com, "JQL fields". */
export const FIELDS: readonly Field[] = [
  system('issuekey', 'Key', 'key', { clauses: ['id', 'issue', 'issuekey', 'key'] }),
  system('project', 'Project', 'project', { type: 'project' }),
  system('issuetype', 'Issue Type', 'entry', { type: 'issuetype', clauses: ['issuetype', 'type'], ...SET }),
  system('status', 'Status', 'entry', { type: 'status' }),
  system('priority', 'Priority', 'entry', { type: 'priority', ...SET }),
  system('resolution', 'Resolution', 'entry', { type: 'resolution' }),
  system('assignee', 'Assignee', 'user', { type: 'user', ...SET }),
  system('reporter', 'Reporter', 'user', { type: 'user', ...SET }),
  system('creator', 'Creator', 'user', { type: 'user' }),
  system('parent', 'Parent', 'issue', { type: 'issuelink', ...SET }),
  system('summary', 'Summary', 'text', SET),
  system('description', 'Description', 'document', SET),
  system('environment', 'Environment', 'document', SET),
  system('labels', 'Labels', 'labels', { type: 'array', items: 'string', ...SET }),
  system('created', 'Created', 'datetime', { type: 'datetime', clauses: ['created', 'createdDate'] }),
  system('updated', 'Updated', 'datetime', { type: 'datetime', clauses: ['updated', 'updatedDate'] }),
  system('resolutiondate', 'Resolved', 'datetime', { type: 'datetime', clauses: ['resolutiondate', 'resolved'] }),
  system('duedate', 'Due date', 'date', { type: 'date', clauses: ['due', 'duedate'], ...SET }),
  system('timespent', 'Time Spent', 'number', { type: 'number' }),
  custom(10010, 'Story Points', 'number', 'number'),
  custom(10011, 'Customer "Ref"', 'text', 'string'),
  custom(10012, 'Colour', 'option', 'option'),
  custom(10013, 'Go live', 'date', 'date'),
  custom(10014, 'Escalated at', 'datetime', 'datetime'),
  custom(10015, 'Root cause', 'document', 'string'),
  custom(10016, 'Areas', 'options', 'array', 'option'),
  custom(10017, 'Approver', 'user', 'user'),
];

const PLUGIN = 'com.atlassian.jira.plugin.system.customfieldtypes:';
const PLUGIN_TYPES: Readonly<Partial<Record<Kind, string>>> = {
  ...{ number: 'float', text: 'textfield', option: 'select', date: 'datepicker', datetime: 'datetime' },
  ...{ document: 'textarea', options: 'multicheckboxes', user: 'userpicker' },
};

/** Fields that the recorded list of a site has without a schema, or as not searchable. */
const WITHOUT_SCHEMA = new Set(['issuekey', 'parent']);
const NOT_SEARCHABLE = new Set(['issuekey', 'timespent']);

/** Returns a field as `GET /field` shows it. */
export function showField({ id, name, kind, type = '', items, clauses, isCustom = false }: Field) {
  const number = Number(id.replace(/\D/g, ''));
  const own = isCustom ? { custom: `${PLUGIN}${PLUGIN_TYPES[kind]}`, customId: number } : { system: id };
  return {
    ...{ id, key: id, name, custom: isCustom, orderable: isCustom, navigable: true, clauseNames: clauses },
    searchable: !NOT_SEARCHABLE.has(id),
    ...(!WITHOUT_SCHEMA.has(id) && { schema: { type, ...(items !== undefined && { items }), ...own } }),
  };
}

/** One of the values that an administrator defines. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly [member: string]: unknown;
}

const categories = {
  new: { id: 2, key: 'new', colorName: 'blue-gray', name: 'To Do' },
  going: { id: 4, key: 'indeterminate', colorName: 'yellow', name: 'In Progress' },
  done: { id: 3, key: 'done', colorName: 'green', name: 'Done' },
} as const;

/** The entries of the site, by field. Priorities begin with the highest. */
export const ENTRIES: Readonly<Record<string, readonly Entry[]>> = {
  issuetype: [
    { id: '10001', name: 'Task', description: '', subtask: false, hierarchyLevel: 0 },
    { id: '10002', name: 'Bug', description: '', subtask: false, hierarchyLevel: 0 },
    { id: '10003', name: 'Epic', description: '', subtask: false, hierarchyLevel: 1 },
    { id: '10004', name: 'Sub-task', description: '', subtask: true, hierarchyLevel: -1 },
  ],
  status: [
    { id: '10000', name: 'To Do', description: '', statusCategory: categories.new },
    { id: '3', name: 'In Progress', description: '', statusCategory: categories.going },
    { id: '10002', name: 'Done', description: '', statusCategory: categories.done },
    { id: '10003', name: 'Won\'t "Fix"', description: '', statusCategory: categories.done },
  ],
  priority: ['Highest', 'High', 'Medium', 'Low', 'Lowest'].map((name, index) => ({ id: String(index + 1), name })),
  resolution: ['Done', "Won't Do"].map((name, index) => ({ id: String(10_000 + index), name, description: '' })),
  customfield_10012: ['Red', 'Green', 'Ärger "Blue"'].map((name, index) => ({ id: String(10_020 + index), name })),
  customfield_10016: ['Shop', 'Back office', 'App'].map((name, index) => ({ id: String(10_030 + index), name })),
};

/** Returns the error for a JQL query or for a request as a whole. */
export const refuse = (message: string, status = 400): Fault => new Fault(status, '', message);

/** Returns the error for fields, as `{ "errors": { "summary": "…" } }`. */
export function refuseFields(errors: Readonly<Record<string, string>>): Fault {
  return new Fault(400, 'FIELDS', JSON.stringify(errors), { fields: Object.keys(errors) });
}

/** Returns the text of a document in Atlassian Document Format, with a line for each block. */
export function textOf(node: unknown): string {
  const { type, text, content } = Object(node ?? {});
  if (typeof text === 'string') return text;
  if (type === 'hardBreak') return '\n';
  const parts = Array.isArray(content) ? content.map(textOf) : [];
  return parts.join(type === 'doc' ? '\n' : '');
}

/** Returns a document in Atlassian Document Format with a paragraph for each line. Text nodes cannot be empty. */
export function documentOf(text: string) {
  const paragraph = (line: string) => ({
    type: 'paragraph',
    content: line === '' ? [] : [{ type: 'text', text: line }],
  });
  return { type: 'doc', version: 1, content: text.split('\n').map(paragraph) };
}
