import {
  type Call,
  changesOf,
  createMovableClock,
  createOfficialJudges,
  type Fault,
  json,
  type Routes,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  type TableChange,
  type TableRow,
  takePage,
  undescribed,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { ENTRIES, FIELDS, refuse, showField } from './simulator/fields.ts';
import { createIssueRoutes } from './simulator/issues.ts';
import { compileJql, type Directory, operatorsOf } from './simulator/jql.ts';
import { alsoBehindGateway, createLogin, DEMO_EMAIL, DEMO_TOKEN, SITE, withoutPrefix } from './simulator/login.ts';
import { compact, showEntry, showIssue, showNote, showProject, showUser } from './simulator/show.ts';
import { ACCOUNT_ID, createSite, type Site } from './simulator/site.ts';
import { createWebhooks } from './simulator/webhooks.ts';

export { CLIENTS, CLOUD_ID, DEMO_ACCESS_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator, with an API token. */
export const DEMO_CONFIGURATION = {
  ...{ 'jira.site': SITE, 'jira.email': DEMO_EMAIL, 'jira.token': DEMO_TOKEN },
  'webhook.secret': 'demo-webhook-secret',
};

const ROOT = '/rest/api/3';
const createJudge = createOfficialJudges(
  official,
  undescribed(
    'The log-in is at other hosts, and the description of the platform does not have it.',
    ...['GET /authorize', 'POST /oauth/token', 'GET /oauth/token/accessible-resources'],
  ),
);

/** Creates a simulator of a Jira Cloud site in memory, with the log-in of Atlassian. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const site: Site = createSite(clock, report);
  const directory: Directory = {
    ...{ now: clock.now, me: ACCOUNT_ID },
    ...{ users: site.users.table.rows, projects: site.projects.table.rows, issues: site.issues.table.rows },
  };
  const webhooks = createWebhooks({
    ...{ send, clock, memory: shareMemory(memory, 'webhooks') },
    matches: (jql, { issue }) => {
      const row = site.issues.table.find(String(Object(issue).id));
      return row === undefined || compileJql(jql, directory).test(row);
    },
  });

  /** Reports a change of an issue or a comment. */
  function report(table: string, { before, after }: TableChange): void {
    const row = after ?? before ?? {};
    const verb = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
    const user = showUser(site.me());
    if (table === 'issues') webhooks.report(`jira:issue_${verb}`, { user, issue: showIssue(row, site, ['*all']) });
    if (table !== 'comments') return;
    const issue = showIssue(site.issues.table.find(String(row.issueId)) ?? {}, site, ['summary', 'project']);
    webhooks.report(`comment_${verb}`, { comment: showNote(row, site), issue });
  }

  const routes = {
    ...createIssueRoutes(site, directory),
    ...projectRoutes(site),
    ...userRoutes(site),
    ...webhooks.routes,
    [`GET ${ROOT}/field`]: () => json(FIELDS.map(showField)),
    [`GET ${ROOT}/jql/autocompletedata`]: () =>
      json({ visibleFieldNames: FIELDS.map(showNames), jqlReservedWords: ['and', 'or', 'not', 'empty'] }),
    ...Object.fromEntries(
      ['issuetype', 'priority', 'resolution', 'status'].map((name) => [
        `GET ${ROOT}/${name}`,
        () => json((ENTRIES[name] ?? []).map((entry) => showEntry(name, entry))),
      ]),
    ),
  };
  return simulate(
    {
      ...{ clock, print, authenticate: login.authenticate, open: login.routes },
      official: createJudge(withoutPrefix),
      routes: alsoBehindGateway(routes),
      commands: { ...login.commands, ...webhooks.commands, ...changesOf(site.changeable) },
    },
    options,
  );
}

/** Returns a field as `jql/autocompletedata` shows it. Custom fields are listed by their name. */
function showNames(field: (typeof FIELDS)[number]): TableRow {
  const { name, clauses, isCustom } = field;
  const own = isCustom
    ? { value: name, displayName: `${name} - ${clauses[0]}`, cfid: clauses[0] }
    : { value: clauses[0], displayName: clauses[0] };
  return { ...own, orderable: 'true', searchable: 'true', operators: operatorsOf(field), types: [] };
}

function projectRoutes(site: Site): Routes {
  return {
    [`GET ${ROOT}/project/search`]: (call) => {
      const { query } = call;
      const text = query.get('query')?.toLowerCase() ?? '';
      const within = (name: string, value: unknown) => !query.has(name) || query.getAll(name).includes(String(value));
      const types = query.get('typeKey')?.split(',');
      const isType = (value: unknown) => types?.includes(String(value)) !== false;
      if (query.getAll('id').length > 50 || query.getAll('keys').length > 50)
        throw refuse('Up to 50 projects can be named.');
      const [, sign, member = 'key'] = /^([+-]?)(key|name)$/.exec(query.get('orderBy')?.trim() ?? 'key') ?? [];
      const found = site.projects.table
        .rows()
        .filter(({ name, key }) => `${name}\n${key}`.toLowerCase().includes(text))
        .filter(({ id, key, projectTypeKey }) => within('id', id) && within('keys', key) && isType(projectTypeKey))
        .toSorted((a, b) => (String(a[member]) < String(b[member]) ? -1 : 1) * (sign === '-' ? -1 : 1));
      if (found.length === 0) throw refuse('No projects match the search criteria.', 404);
      const style = { kind: 'offset', offset: 'startAt', size: 'maxResults', usual: 50, most: 100 } as const;
      const { rows, total, start, size, next } = takePage(found, style, call);
      const expand = query.get('expand')?.split(',') ?? [];
      const values = rows.map((row) => showProject(row, site, expand));
      return json({ startAt: start, maxResults: size, total, isLast: next === undefined, values });
    },
    ...recordRoutes(`${ROOT}/project`, site.projects, {
      update: 'PUT',
      show: (row, { method }, status) => {
        const { id, key } = row;
        if (method !== 'POST') return json(showProject(row, site));
        return json({ self: `https://demo.atlassian.net${ROOT}/project/${id}`, id: Number(id), key }, status);
      },
      body: ({ body }) => compact(body.object()),
    }),
  };
}

function userRoutes(site: Site): Routes {
  return {
    [`GET ${ROOT}/myself`]: () => json(showUser(site.me())),
    [`GET ${ROOT}/users/search`]: (call) => {
      const style = { kind: 'offset', offset: 'startAt', size: 'maxResults', usual: 50, most: 1000 } as const;
      return json(takePage(site.users.table.rows(), style, call).rows.map(showUser));
    },
    [`GET ${ROOT}/user`]: ({ query }) => {
      const row = site.users.table.find(query.get('accountId') ?? '');
      if (row === undefined) throw refuse('Specified user does not exist or you do not have required permissions', 404);
      return json(showUser(row));
    },
    [`GET ${ROOT}/user/bulk`]: (call) => {
      const ids = call.query.getAll('accountId');
      const style = { kind: 'offset', offset: 'startAt', size: 'maxResults', usual: 10, most: 200 } as const;
      const found = site.users.table.rows().filter(({ accountId }) => ids.includes(String(accountId)));
      const { rows, total, start, size, next } = takePage(found, style, call);
      return json({ startAt: start, maxResults: size, total, isLast: next === undefined, values: rows.map(showUser) });
    },
  };
}

/** Prints an error: sentences about the whole request, and one for each field. The gateway has a form of its own. */
function print({ status, code, message, headers }: Fault, { path }: Pick<Call, 'path'>): SimulatedResponse {
  if (path.startsWith('/ex/jira') && (status === 401 || code === 'NOT_FOUND'))
    return json({ code: status, message }, status, headers);
  const errors: unknown = code === 'FIELDS' ? JSON.parse(message) : {};
  return json({ errorMessages: code === 'FIELDS' ? [] : [message], errors }, status, headers);
}
