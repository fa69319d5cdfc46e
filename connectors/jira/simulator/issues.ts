import { type Call, empty, json, type Routes, type Table, type TableRow, takePage } from '#connector/simulator';
import { ENTRIES, type Entry, refuse, refuseFields } from './fields.ts';
import { compileJql, type Directory } from './jql.ts';
import { showEntry, showIssue, showNote } from './show.ts';
import { ACCOUNT_ID, parseTime, readIssue, type Site } from './site.ts';

const ROOT = '/rest/api/3';
const [MOST_IDS, MOST_RECORDS] = [5000, 100];

const listed = (values: readonly string[]) => values.flatMap((value) => value.split(',')).map((name) => name.trim());

/** Returns the routes of issues, and of what is below them. */
export function createIssueRoutes(site: Site, directory: Directory): Routes {
  const find = ({ params }: Call) => site.issue(params.issue ?? '');
  return {
    [`POST ${ROOT}/search/jql`]: (call) => search(site, directory, call),
    [`POST ${ROOT}/issue/bulkfetch`]: ({ body }) => {
      const { issueIdsOrKeys, fields } = body.object();
      const wanted = Array.isArray(issueIdsOrKeys) ? issueIdsOrKeys.map((each) => String(each).toUpperCase()) : [];
      if (wanted.length < 1 || wanted.length > MOST_RECORDS) throw refuse('From 1 to 100 issues can be requested.');
      const rows = site.issues
        .rows()
        .filter(({ id, key }) => wanted.includes(String(id)) || wanted.includes(String(key)));
      const names = Array.isArray(fields) ? fields.map(String) : ['*navigable'];
      return json({ issues: rows.map((row) => showIssue(row, site, names)), issueErrors: [] });
    },
    [`POST ${ROOT}/issue`]: ({ body }) => {
      const values = readIssue(body.object(), site, true);
      const defaults = { creator: ACCOUNT_ID, reporter: ACCOUNT_ID, priority: '3' };
      const { id, key } = site.issues.insert({ ...defaults, ...values });
      return json({ id, key, self: `https://demo.atlassian.net${ROOT}/issue/${id}` }, 201);
    },
    [`GET ${ROOT}/issue/{issue}`]: (call) => {
      const names = listed(call.query.getAll('fields'));
      return json(showIssue(find(call), site, names.length === 0 ? ['*all'] : names));
    },
    [`PUT ${ROOT}/issue/{issue}`]: (call) => {
      const row = find(call);
      const changed = site.issues.update(String(row.id), readIssue(call.body.object(), site, false)) ?? row;
      return call.query.get('returnIssue') === 'true' ? json(showIssue(changed, site, ['*all'])) : empty();
    },
    [`DELETE ${ROOT}/issue/{issue}`]: (call) => {
      const { id, key } = find(call);
      const children = site.issues.rows().filter(({ parent }) => parent === id);
      if (children.length > 0 && call.query.get('deleteSubtasks') !== 'true') {
        throw refuse(
          `The issue '${key}' has subtasks. You must specify the 'deleteSubtasks' parameter to delete this issue and all its subtasks.`,
        );
      }
      for (const row of [...children, { id }]) site.issues.remove(String(row.id));
      return empty();
    },
    ...transitionRoutes(site, find),
    ...noteRoutes(site, { find, table: site.comments, name: 'comment', list: 'comments', usual: 100 }),
    ...noteRoutes(site, { find, table: site.worklogs, name: 'worklog', list: 'worklogs', usual: 5000 }),
  };
}

function search(site: Site, directory: Directory, call: Call) {
  const { jql = '', fields, maxResults = 50, nextPageToken } = call.body.object();
  const names = Array.isArray(fields) ? fields.map(String) : ['id'];
  const { test, compare } = compileJql(String(jql), directory);
  const found = site.issues.rows().filter(test).sort(compare);
  const most = names.every((name) => name === 'id' || name === 'key') ? MOST_IDS : MOST_RECORDS;
  const query = new URLSearchParams({ maxResults: String(maxResults) });
  if (typeof nextPageToken === 'string') query.set('nextPageToken', nextPageToken);
  const style = { kind: 'cursor', cursor: 'nextPageToken', size: 'maxResults', usual: 50, most } as const;
  const { rows, next } = takePage(found, style, { query, isStuck: call.isStuck });
  return json({
    issues: rows.map((row) => showIssue(row, site, names)),
    ...(next !== undefined && { nextPageToken: next }),
    isLast: next === undefined,
  });
}

type Find = (call: Call) => TableRow;

/** Every status leads to every other one. */
function transitionRoutes(site: Site, find: Find): Routes {
  const transitions = (ENTRIES.status ?? []).map((to, index) => ({
    id: `${index + 1}1`,
    name: `Move to ${to.name}`,
    to,
  }));
  const availableTo = ({ status }: TableRow) => transitions.filter(({ to }) => to.id !== status);
  const show = ({ to, ...more }: { readonly id: string; readonly name: string; readonly to: Entry }) => ({
    ...{ ...more, to: showEntry('status', to) },
    ...{ hasScreen: false, isGlobal: true, isInitial: false, isAvailable: true, isConditional: false, looped: false },
  });
  return {
    [`GET ${ROOT}/issue/{issue}/transitions`]: (call) => {
      const wanted = call.query.get('transitionId');
      const shown = availableTo(find(call)).filter(({ id }) => wanted === null || id === wanted);
      return json({ expand: 'transitions', transitions: shown.map(show) });
    },
    [`POST ${ROOT}/issue/{issue}/transitions`]: (call) => {
      const row = find(call);
      const { id: wanted } = Object(call.body.object().transition ?? {});
      const transition = availableTo(row).find(({ id }) => id === String(wanted));
      if (transition === undefined) {
        throw refuse(`It seems that you have tried to perform an illegal workflow operation (${wanted}).`);
      }
      const { id: status, statusCategory } = transition.to;
      const isDone = Object(statusCategory).key === 'done';
      site.issues.update(String(row.id), {
        ...readIssue(call.body.object(), site, false),
        ...{ status, resolution: isDone ? '10000' : null, resolutiondate: isDone ? Date.now() : null },
      });
      return empty();
    },
  };
}

interface Notes {
  readonly find: Find;
  readonly table: Table;
  readonly name: 'comment' | 'worklog';
  readonly list: string;
  readonly usual: number;
}

/** Routes of comments and worklogs. */
function noteRoutes(site: Site, { find, table, name, list, usual }: Notes): Routes {
  const path = `${ROOT}/issue/{issue}/${name}`;
  const notesOf = (call: Call) => {
    const { id } = find(call);
    return table.rows().filter(({ issueId }) => issueId === id);
  };
  const findNote = (call: Call) => {
    const row = notesOf(call).find(({ id }) => id === call.params.id);
    if (row === undefined) throw refuse(`Can not find a ${name} for the id: ${call.params.id}.`, 404);
    return row;
  };
  const read = name === 'comment' ? readComment : readWorklog;
  return {
    [`GET ${path}`]: (call) => {
      const order = call.query.get('orderBy');
      const notes = order?.startsWith('-') === true ? notesOf(call).reverse() : notesOf(call);
      const { rows, total, start, size } = takePage(
        notes,
        { kind: 'offset', offset: 'startAt', size: 'maxResults', usual, most: 5000 },
        call,
      );
      return json({ startAt: start, maxResults: size, total, [list]: rows.map((row) => showNote(row, site)) });
    },
    [`POST ${path}`]: (call) => {
      const { id } = find(call);
      const values = read(call.body.object(), true);
      return json(showNote(table.insert({ issueId: id, author: ACCOUNT_ID, ...values }), site), 201);
    },
    [`GET ${path}/{id}`]: (call) => json(showNote(findNote(call), site)),
    [`PUT ${path}/{id}`]: (call) => {
      const row = findNote(call);
      return json(showNote(table.update(String(row.id), read(call.body.object(), false)) ?? row, site));
    },
    [`DELETE ${path}/{id}`]: (call) => {
      table.remove(String(findNote(call).id));
      return empty();
    },
  };
}

function readDocument(value: unknown, member: string): unknown {
  const { type, version, content } = Object(value ?? {});
  if (type === 'doc' && version === 1 && Array.isArray(content)) return value;
  throw refuseFields({ [member]: `${member} is not valid Atlassian Document Format` });
}

function readComment({ body }: TableRow): TableRow {
  return { body: readDocument(body, 'comment') };
}

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 28_800, w: 144_000 };

/** Working days have eight hours, and working weeks five days. */
function readWorklog(body: TableRow, isNew: boolean): TableRow {
  const { comment, started, timeSpent, timeSpentSeconds } = body;
  const parts = String(timeSpent ?? '').matchAll(/(\d+)([mhdw])/g);
  const seconds =
    timeSpentSeconds ?? [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  const isGiven = timeSpent !== undefined || timeSpentSeconds !== undefined;
  if ((isNew || isGiven) && !(Number(seconds) >= 60))
    throw refuseFields({ timeLogged: 'You must indicate the time spent working.' });
  if (timeSpent !== undefined && timeSpentSeconds !== undefined)
    throw refuse('Only one of timeSpent and timeSpentSeconds can be given.');
  const startedMs = parseTime(started);
  if ((started !== undefined || isNew) && startedMs === undefined)
    throw refuseFields({ started: 'Error parsing date string' });
  return {
    ...(comment !== undefined && { comment: comment === null ? null : readDocument(comment, 'comment') }),
    ...(startedMs !== undefined && { started: startedMs }),
    ...(isGiven && { timeSpentSeconds: seconds }),
  };
}
