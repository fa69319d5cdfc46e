import type { TableRow } from '#connector/simulator';
import { ENTRIES, type Entry, FIELDS, type Field } from './fields.ts';
import { type Site, showTime } from './site.ts';

const ORIGIN = 'https://demo.atlassian.net';
const self = (path: string) => `${ORIGIN}/rest/api/3/${path}`;

/** Returns a record without the members that have no value. */
export function compact(row: TableRow): TableRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
}

export function showUser(row: TableRow): TableRow {
  return compact({ self: self(`user?accountId=${row.accountId}`), ...row });
}

const PROJECT_EXPANSIONS = ['description', 'lead', 'url'] as const;

/** Returns a project. A list includes some members only if `expand` names them. */
export function showProject(row: TableRow, site: Site, expand: readonly string[] = PROJECT_EXPANSIONS): TableRow {
  const { id, key, name, projectTypeKey, leadAccountId: lead, description, url } = row;
  const expanded = { description, url, lead: showUser(site.users.table.find(String(lead)) ?? {}) };
  return {
    ...{ self: self(`project/${id}`), id, key, name, projectTypeKey, simplified: false, style: 'classic' },
    ...{ isPrivate: false, properties: {}, avatarUrls: {} },
    ...Object.fromEntries(
      PROJECT_EXPANSIONS.filter((each) => expand.includes(each)).map((each) => [each, expanded[each]]),
    ),
  };
}

/** Returns an entry of a field. Options have a value instead of a name. */
export function showEntry(field: string, { id, name, ...more }: Entry): TableRow {
  const isOption = field.startsWith('customfield');
  const path = `${isOption ? 'customFieldOption' : field}/${id}`;
  return { self: self(path), id, ...(isOption ? { value: name } : { name }), ...more };
}

function showValue({ id: field, kind }: Field, value: unknown, site: Site): unknown {
  const entry = (id: unknown) =>
    (ENTRIES[field] ?? []).filter((each) => each.id === id).map((each) => showEntry(field, each))[0];
  if (kind === 'options') return Array.isArray(value) && value.length > 0 ? value.map(entry) : null;
  if (kind === 'labels') return value ?? [];
  if (value === null || value === undefined) return null;
  if (kind === 'entry' || kind === 'option') return entry(value);
  if (kind === 'user') return showUser(site.users.table.find(String(value)) ?? {});
  if (kind === 'project') return showProject(site.projects.table.find(String(value)) ?? {}, site, []);
  if (kind === 'datetime') return showTime(value);
  if (kind !== 'issue') return value;
  const { id, key, summary } = site.issues.table.find(String(value)) ?? {};
  return { id, key, self: self(`issue/${id}`), fields: { summary } };
}

/** Returns an issue with the given fields, which a request names as `summary`, `*all`, `*navigable` or `-description`. */
export function showIssue(row: TableRow, site: Site, names: readonly string[]): TableRow {
  const { id, key } = row;
  if (names.every((name) => name === 'id')) return { id };
  const excluded = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
  const isAll = names.some((name) => name === '*all' || name === '*navigable') || excluded.length === names.length;
  const shown = FIELDS.filter(
    (field) => field.kind !== 'key' && !excluded.includes(field.id) && (isAll || names.includes(field.id)),
  );
  const fields = Object.fromEntries(shown.map((field) => [field.id, showValue(field, row[field.id], site)]));
  return { expand: 'renderedFields,names,schema,transitions', id, self: self(`issue/${id}`), key, fields };
}

/** Returns a comment or a worklog. */
export function showNote(row: TableRow, site: Site): TableRow {
  const { issueId, created, updated, started, author: accountId, timeSpentSeconds, ...more } = row;
  const author = showUser(site.users.table.find(String(accountId)) ?? {});
  const isWorklog = timeSpentSeconds !== undefined;
  return {
    ...{ self: self(`issue/${issueId}/${isWorklog ? 'worklog' : 'comment'}/${row.id}`), ...more },
    ...{ author, updateAuthor: author, created: showTime(created), updated: showTime(updated) },
    ...(isWorklog && { issueId, started: showTime(started), timeSpentSeconds }),
    ...(isWorklog && { timeSpent: `${Math.ceil(Number(timeSpentSeconds) / 60)}m` }),
  };
}
