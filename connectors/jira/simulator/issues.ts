import { type Call, empty, json, type Routes, recordRoutes, type TableRow, takePage } from '#connector/simulator';
import { ENTRIES, type Entry, refuse } from './fields.ts';
import { compileJql, type Directory } from './jql.ts';
import { showEntry, showIssue, showNote } from './show.ts';
import { ACCOUNT_ID, type Site } from './site.ts';

const ROOT = '/rest/api/3';
const [MOST_IDS, MOST_RECORDS] = [5000, 100];

const listed = (values: readonly string[]) => values.flatMap((value) => value.split(',')).map((name) => name.trim());

/** Returns the routes of issues, and of what is below them. */
export function createIssueRoutes(site: Site, directory: Directory): Routes {
  const find = ({ params }: Call) => site.issues.get(params.issue ?? '');
  return {
    [`POST ${ROOT}/search/jql`]: (call) => search(site, directory, call),
    [`POST ${ROOT}/issue/bulkfetch`]: ({ body }) => {
      const { issueIdsOrKeys, fields } = body.object();
      const wanted = Array.isArray(issueIdsOrKeys) ? issueIdsOrKeys.map((each) => String(each).toUpperCase()) : [];
      if (wanted.length < 1 || wanted.length > MOST_RECORDS) throw refuse('From 1 to 100 issues can be requested.');
      const isWanted = ({ id, key }: TableRow) => wanted.includes(String(id)) || wanted.includes(String(key));
      const rows = site.issues.table.rows().filter(isWanted);
      const names = Array.isArray(fields) ? fields.map(String) : ['*navigable'];
      return json({ issues: rows.map((row) => showIssue(row, site, names)), issueErrors: [] });
    },
    ...recordRoutes(`${ROOT}/issue`, site.issues, {
      ...{ can: ['get', 'create', 'update'], update: 'PUT' },
      body: ({ body }) => fieldsIn(body.object()),
      complete: (values, _call, old) =>
        old === undefined
          ? { creator: ACCOUNT_ID, reporter: ACCOUNT_ID, priority: '3', ...values, key: site.nextKey(values.project) }
          : values,
      show: (row, { method, query }, status) => {
        const { id, key } = row;
        if (method === 'POST') return json({ id, key, self: `https://demo.atlassian.net${ROOT}/issue/${id}` }, status);
        if (method === 'PUT' && query.get('returnIssue') !== 'true') return empty();
        const names = listed(query.getAll('fields'));
        return json(showIssue(row, site, names.length === 0 ? ['*all'] : names));
      },
    }),
    [`DELETE ${ROOT}/issue/{issue}`]: (call) => {
      const { id, key } = find(call);
      const children = site.issues.table.rows().filter(({ parent }) => parent === id);
      if (children.length > 0 && call.query.get('deleteSubtasks') !== 'true') {
        throw refuse(
          `The issue '${key}' has subtasks. You must specify the 'deleteSubtasks' parameter to delete this issue and all its subtasks.`,
        );
      }
      for (const row of [...children, { id }]) site.issues.table.remove(String(row.id));
      return empty();
    },
    ...transitionRoutes(site, directory.now, find),
    ...noteRoutes(site, 'comments', find),
    ...noteRoutes(site, 'worklogs', find),
  };
}

function search(site: Site, directory: Directory, call: Call) {
  const { jql = '', fields, maxResults = 50, nextPageToken } = call.body.object();
  const names = Array.isArray(fields) ? fields.map(String) : ['id'];
  const { test, sort } = compileJql(String(jql), directory);
  const found = sort(site.issues.table.rows().filter(test));
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
function transitionRoutes(site: Site, now: () => number, find: Find): Routes {
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
      site.issues.table.update(String(row.id), {
        ...site.issues.read(fieldsIn(call.body.object()), row),
        ...{ status, resolution: isDone ? '10000' : null, resolutiondate: isDone ? now() : null },
      });
      return empty();
    },
  };
}

/** Routes of comments and worklogs. */
function noteRoutes(site: Site, list: 'comments' | 'worklogs', find: Find): Routes {
  const { table, read } = site[list];
  const name = list.slice(0, -1);
  const path = `${ROOT}/issue/{issue}/${name}`;
  const usual = list === 'comments' ? 100 : 5000;
  const style = { kind: 'offset', offset: 'startAt', size: 'maxResults', usual, most: 5000 } as const;
  const notesOf = (call: Call) => {
    const { id } = find(call);
    return table.rows().filter(({ issueId }) => issueId === id);
  };
  const findNote = (call: Call) => {
    const row = notesOf(call).find(({ id }) => id === call.params.id);
    if (row === undefined) throw refuse(`Can not find a ${name} for the id: ${call.params.id}.`, 404);
    return row;
  };
  return {
    [`GET ${path}`]: (call) => {
      const order = call.query.get('orderBy');
      const notes = order?.startsWith('-') === true ? notesOf(call).reverse() : notesOf(call);
      const { rows, total, start, size } = takePage(notes, style, call);
      return json({ startAt: start, maxResults: size, total, [list]: rows.map((row) => showNote(row, site)) });
    },
    [`POST ${path}`]: (call) => {
      const { id } = find(call);
      const values = read(call.body.object());
      return json(showNote(table.insert({ issueId: id, author: ACCOUNT_ID, ...values }), site), 201);
    },
    [`GET ${path}/{id}`]: (call) => json(showNote(findNote(call), site)),
    [`PUT ${path}/{id}`]: (call) => {
      const row = findNote(call);
      return json(showNote(table.update(String(row.id), read(call.body.object(), row)) ?? row, site));
    },
    [`DELETE ${path}/{id}`]: (call) => {
      table.remove(String(findNote(call).id));
      return empty();
    },
  };
}

/**
 * Returns the fields that a body sets.
 * @throws Fault 400 for operations, which are not simulated
 */
function fieldsIn({ fields, update }: TableRow): TableRow {
  if (update !== undefined) throw refuse("The simulator has no operations of 'update'.");
  return Object(fields ?? {});
}
