import {
  type Call,
  Fault,
  json,
  type RouteHandler,
  type Routes,
  type SimulatedResponse,
  sortRows,
  type Table,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import { API, asIssue, conform, findUser, isPull, ORGANIZATION, OWNER, type Records, USERS } from './records.ts';
import {
  compileSearch,
  invalidSearch,
  named,
  oneOf,
  type Qualifiers,
  ranged,
  type SearchForm,
  valuesOf,
} from './search.ts';

export const notFound = () => new Fault(404, 'NOT_FOUND', 'Not Found');

export const isNamed = (left: unknown, right: unknown) => String(left).toLowerCase() === String(right).toLowerCase();

/** Finds the repository of a path, without regard to case. @throws Fault 404 */
export function repositoryAt({ repositories }: Records, { params: { owner = '', repo = '' } }: Call): TableRow {
  return found(repositories.rows().find((row) => isNamed(row.full_name, `${owner}/${repo}`)));
}

function found(row: TableRow | undefined): TableRow {
  if (row === undefined) throw notFound();
  return row;
}

/** Finds the row of a repository that a part of the path names. @throws Fault 404 */
export function rowAt(records: Records, table: Pick<Table, 'rows'>, call: Call, member: string): TableRow {
  const { full_name } = repositoryAt(records, call);
  const { owner: _, repo: __, ...named } = call.params;
  const [wanted] = Object.values(named);
  return found(table.rows().find((row) => row.repository === full_name && isNamed(row[member], wanted)));
}

const some = (row: TableRow, member: string, read: string) =>
  [valueAt(row, member)].flat().map((each) => Object(each)[read]);
const STATES = {
  open: ({ state }: TableRow) => state === 'open',
  closed: ({ state }: TableRow) => state === 'closed',
};
const ownerIn = ({ repository }: TableRow) => [String(repository).split('/')[0]];
const ownerOf = (row: TableRow) => some(row, 'owner', 'login');

/** Source: "Searching issues and pull requests". */
const ISSUES: Qualifiers = {
  is: oneOf({
    ...{ issue: (row) => !isPull(row), pr: isPull, ...STATES },
    merged: (row) => isPull(row) && row.merged_at != null,
    unmerged: (row) => isPull(row) && row.merged_at == null,
    ...{ locked: ({ locked }) => locked === true, unlocked: ({ locked }) => locked !== true },
  }),
  state: oneOf(STATES),
  repo: named(({ repository }) => [repository]),
  ...{ org: named(ownerIn), user: named(ownerIn) },
  author: named((row) => some(row, 'user', 'login')),
  assignee: named((row) => some(row, 'assignees', 'login')),
  label: named((row) => some(row, 'labels', 'name')),
  milestone: named((row) => some(row, 'milestone', 'title')),
  mentions: (value) => {
    const wanted = `@${valuesOf(value).join().toLowerCase()}`;
    return ({ body }) => String(body).toLowerCase().includes(wanted);
  },
  no: oneOf({
    assignee: (row) => some(row, 'assignees', 'login').length === 0,
    milestone: ({ milestone }) => milestone == null,
  }),
  draft: oneOf({ true: ({ draft }) => draft === true, false: (row) => isPull(row) && row.draft !== true }),
  comments: ranged('comments', false),
  ...{ created: ranged('created_at', true), updated: ranged('updated_at', true) },
  ...{ closed: ranged('closed_at', true), merged: ranged('merged_at', true) },
};

/** Source: "Searching for repositories". */
const REPOSITORIES: Qualifiers = {
  is: oneOf({ public: (row) => row.private !== true, private: (row) => row.private === true }),
  ...{ org: named(ownerOf), user: named(ownerOf) },
  topic: named(({ topics }) => [topics].flat()),
  archived: oneOf({ true: ({ archived }) => archived === true, false: ({ archived }) => archived !== true }),
  fork: oneOf({ true: () => true, only: ({ fork }) => fork === true }),
  ...{ stars: ranged('stargazers_count', false), forks: ranged('forks_count', false), size: ranged('size', false) },
  ...{ created: ranged('created_at', true), pushed: ranged('pushed_at', true) },
};

/** A search that names somebody who does not exist is an error, unlike any other search without results. */
function withUsers(qualifiers: Qualifiers, names: readonly string[]): Qualifiers {
  const checked = names.map((name) => [
    name,
    (value: string) => {
      if (valuesOf(value).every((login) => login === '@me' || findUser(login.split('/')[0] ?? '') !== undefined))
        return qualifiers[name]?.(value);
      throw invalidSearch(
        'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.',
      );
    },
  ]);
  return { ...qualifiers, ...Object.fromEntries(checked) };
}

interface Searched {
  readonly rows: readonly TableRow[];
  readonly form: SearchForm;
  /** Members by the name of their order. */
  readonly order: Readonly<Record<string, string>>;
  readonly schema: string;
}

/** Creates the routes that read. */
export function createLists(records: Records, { searchWindow = 1000 }: { readonly searchWindow?: number }) {
  const { repositories } = records;
  const work = { rows: () => [...records.issues.rows(), ...records.pull_requests.rows()] };

  /** Returns the path `/repositories/{id}/…`, as links have it, by the name of the repository. */
  function renamed(path: string): string {
    const [, id = '', rest = ''] = /^\/repositories\/(\d+)(\/.*)$/.exec(path) ?? [];
    const row = repositories.find(id);
    return row === undefined ? path : `/repos/${row.full_name}${rest}`;
  }

  function page(
    call: Call,
    rows: readonly TableRow[],
    schema: string,
    wrap: (shown: readonly unknown[]) => unknown = (shown) => shown,
  ): SimulatedResponse {
    const [size, number] = [Math.min(countIn(call, 'per_page', 30), 100), countIn(call, 'page', 1)];
    const last = Math.max(1, Math.ceil(rows.length / size));
    const [, name = ''] = /^\/repos\/([^/]+\/[^/]+)\//.exec(call.path) ?? [];
    const id = repositories.rows().find((row) => isNamed(row.full_name, decodeURIComponent(name)))?.id;
    const path = id === undefined ? call.path : call.path.replace(`/repos/${name}`, `/repositories/${id}`);
    const next = call.isStuck ? { next: number } : number < last ? { next: number + 1, last } : {};
    const to = { ...(number > 1 && { prev: number - 1 }), ...next, ...(number > 1 && { first: 1 }) };
    const links = Object.entries(to).map(([rel, target]) => {
      const query = new URLSearchParams(call.query);
      query.set('page', String(target));
      return `<${call.host === undefined ? call.origin : API}${path}?${query}>; rel="${rel}"`;
    });
    const shown = rows.slice((number - 1) * size, number * size).map((row) => conform(asIssue(row), schema));
    return json(wrap(shown), 200, links.length === 0 ? {} : { link: links.join(', ') });
  }

  function search(call: Call, { rows, form, order, schema }: Searched) {
    const { query } = call;
    const matching = rows.filter(compileSearch(query.get('q') ?? '', form));
    const number = countIn(call, 'page', 1);
    if (countIn(call, 'per_page', 30) * (number - 1) >= searchWindow && number > 1)
      throw new Fault(422, 'UNPROCESSABLE', `Only the first ${searchWindow} search results are available`);
    const member = order[query.get('sort') ?? ''] ?? 'created_at';
    const reached = sorted(matching, member, query.get('order') !== 'asc').slice(0, searchWindow);
    const type = schema === 'issue-search-result-item' ? { search_type: 'lexical' } : {};
    return page(call, reached, schema, (items) => ({
      ...{ total_count: matching.length, incomplete_results: false, items, ...type },
    }));
  }

  const inRepository = (table: Pick<Table, 'rows'>, call: Call) => {
    const { full_name } = repositoryAt(records, call);
    return table.rows().filter(({ repository }) => repository === full_name);
  };
  const ownedBy =
    (parameter: string, usual: 'asc' | 'desc'): RouteHandler =>
    (call) => {
      const { login } = account(call.params[parameter] ?? '');
      const rows = repositories.rows().filter((row) => ownerOf(row)[0] === login);
      return page(call, inOrder(call, rows, orderOf(usual), directionOf(call, usual)), 'minimal-repository');
    };

  const REPO = '/repos/{owner}/{repo}';
  const ofRepository: Routes = {
    [`GET ${REPO}/issues`]: (call) => {
      const { state = 'open' } = Object.fromEntries(call.query);
      const rows = since(call, inRepository(work, call)).filter((row) => state === 'all' || row.state === state);
      const order = { created: 'created_at', updated: 'updated_at', comments: 'comments' };
      return page(call, inOrder(call, rows, order, 'desc'), 'issue');
    },
    [`GET ${REPO}/issues/comments`]: (call) => {
      const rows = since(call, inRepository(records.comments, call));
      const order = { created: 'created_at', updated: 'updated_at' };
      return page(call, inOrder(call, rows, order, call.query.has('sort') ? 'desc' : 'asc'), 'issue-comment');
    },
    [`GET ${REPO}/issues/{issue_number}`]: (call) =>
      json(conform(asIssue(rowAt(records, work, call, 'number')), 'issue')),
    [`GET ${REPO}/issues/{issue_number}/comments`]: (call) => {
      const { number } = rowAt(records, work, call, 'number');
      const rows = inRepository(records.comments, call).filter((row) => row.number === number);
      return page(call, sorted(since(call, rows), 'id', false), 'issue-comment');
    },
    [`GET ${REPO}/pulls/{pull_number}`]: (call) =>
      json(conform(rowAt(records, records.pull_requests, call, 'number'), 'pull-request')),
    [`GET ${REPO}/labels`]: (call) => page(call, inRepository(records.labels, call), 'label'),
    [`GET ${REPO}/milestones`]: (call) => {
      const state = call.query.get('state') ?? 'open';
      const rows = inRepository(records.milestones, call).filter((row) => state === 'all' || row.state === state);
      return page(call, inOrder(call, rows, { due_on: 'due_on', completeness: 'closed_issues' }, 'asc'), 'milestone');
    },
  };
  const routes: Routes = {
    'GET /user': () => json(conform(account('octocat'), 'private-user')),
    'GET /users/{username}': ({ params: { username = '' } }) => json(conform(account(username), 'public-user')),
    'GET /user/repos': (call) =>
      page(call, inOrder(call, repositories.rows(), orderOf('asc'), directionOf(call, 'asc')), 'repository'),
    'GET /users/{username}/repos': ownedBy('username', 'asc'),
    'GET /orgs/{org}/repos': ownedBy('org', 'desc'),
    'GET /orgs/{org}/members': (call) => {
      if (!isNamed(call.params.org, OWNER)) throw notFound();
      return page(call, USERS, 'simple-user');
    },
    [`GET ${REPO}`]: (call) =>
      json(conform({ ...repositoryAt(records, call), organization: ORGANIZATION }, 'full-repository')),
    ...ofRepository,
    'GET /search/issues': (call) =>
      search(call, {
        rows: work.rows(),
        form: {
          qualifiers: withUsers(ISSUES, ['author', 'assignee', 'mentions', 'user', 'org', 'repo']),
          texts: { title: 'title', body: 'body' },
        },
        order: { created: 'created_at', updated: 'updated_at', comments: 'comments' },
        schema: 'issue-search-result-item',
      }),
    'GET /search/repositories': (call) => {
      const rows = repositories.rows();
      return search(call, {
        // Forks are left out unless the search names them.
        rows: /(?:^|\s)fork:/.test(call.query.get('q') ?? '') ? rows : rows.filter(({ fork }) => fork !== true),
        form: {
          qualifiers: withUsers(REPOSITORIES, ['user', 'org']),
          texts: { name: 'name', description: 'description' },
        },
        order: { stars: 'stargazers_count', forks: 'forks_count', updated: 'updated_at' },
        schema: 'repo-search-result-item',
      });
    },
  };
  const byId = Object.entries(ofRepository).map(([key, handler]): [string, RouteHandler] => [
    key.replace(REPO, '/repositories/{id}'),
    ({ params: { id = '', ...params }, ...call }) => {
      const [owner = '', repo = ''] = String(repositories.find(id)?.full_name).split('/');
      return handler({ ...call, path: renamed(call.path), params: { ...params, owner, repo } });
    },
  ]);
  return { routes: { ...routes, ...Object.fromEntries(byId) } satisfies Routes, named: renamed };
}

function countIn({ query }: Call, name: string, usual: number): number {
  const given = Number(query.get(name) ?? usual);
  return Number.isInteger(given) && given > 0 ? given : usual;
}

function sorted(rows: readonly TableRow[], member: string, descending: boolean): readonly TableRow[] {
  const read = (row: TableRow) => row[member] ?? '';
  const type = rows.some((row) => typeof row[member] === 'number') ? 'integer' : 'string';
  const id = { type: 'integer', read: (row: TableRow) => row.id, descending } as const;
  return sortRows(rows, [{ type, read, descending }, id]);
}

/** Sorts rows by the member that a request names, or by the first one. */
function inOrder(
  { query }: Call,
  rows: readonly TableRow[],
  members: Readonly<Record<string, string>>,
  usual: 'asc' | 'desc',
) {
  const [first = ''] = Object.keys(members);
  const member = members[query.get('sort') ?? first] ?? 'created_at';
  return sorted(rows, member, (query.get('direction') ?? usual) === 'desc');
}

/** Returns the orders of repositories. Those of an organization are listed by their creation, and others by their name. */
function orderOf(usual: 'asc' | 'desc'): Readonly<Record<string, string>> {
  const times = { created: 'created_at', updated: 'updated_at', pushed: 'pushed_at' };
  return usual === 'desc' ? { ...times, full_name: 'full_name' } : { full_name: 'full_name', ...times };
}

function directionOf({ query }: Call, usual: 'asc' | 'desc'): 'asc' | 'desc' {
  const sort = query.get('sort');
  return sort === null ? usual : sort === 'full_name' ? 'asc' : 'desc';
}

function since({ query }: Call, rows: readonly TableRow[]): readonly TableRow[] {
  const from = query.get('since');
  return from === null ? rows : rows.filter(({ updated_at }) => Date.parse(String(updated_at)) >= Date.parse(from));
}

function account(login: string) {
  const user = findUser(login);
  if (user === undefined) throw notFound();
  const more = { name: user.login, created_at: '2011-01-25T18:44:36Z', updated_at: '2024-01-25T18:44:36Z' };
  return { ...user, ...more, public_repos: 7, followers: 1 };
}
