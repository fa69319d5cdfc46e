import {
  type Call,
  createBudget,
  Fault,
  json,
  type MovableClock,
  type RouteHandler,
  type Routes,
  type SimulatedResponse,
  sortRows,
  type Table,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import { API, asIssue, conform, findUser, ORGANIZATION, OWNER, type Records } from './records.ts';
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

interface ListsOptions {
  readonly clock: MovableClock;
  readonly searchesPerMinute?: number;
  readonly searchWindow?: number;
}

/** Finds the row of a table. @throws Fault 404 */
export function findRow(table: Table, test: (row: TableRow) => boolean): TableRow {
  const row = table.rows().find(test);
  if (row === undefined) throw notFound();
  return row;
}

export const isNamed = (left: unknown, right: unknown) => String(left).toLowerCase() === String(right).toLowerCase();

/** Finds the repository of a path, without regard to case. */
export function repositoryAt(records: Records, { params: { owner = '', repo = '' } }: Call): TableRow {
  return findRow(records.repositories.table, (row) => isNamed(row.full_name, `${owner}/${repo}`));
}

const some = (row: TableRow, member: string, read: string) =>
  [valueAt(row, member)].flat().map((each) => Object(each)[read]);
const isPull = (row: TableRow) => row.head !== undefined;

/** Source: "Searching issues and pull requests". */
const ISSUES: Qualifiers = {
  is: oneOf({
    ...{ issue: (row) => !isPull(row), pr: isPull, 'pull-request': isPull },
    ...{ open: ({ state }) => state === 'open', closed: ({ state }) => state === 'closed' },
    ...{
      merged: (row) => isPull(row) && row.merged_at != null,
      unmerged: (row) => isPull(row) && row.merged_at == null,
    },
    ...{ locked: ({ locked }) => locked === true, unlocked: ({ locked }) => locked !== true },
    draft: ({ draft }) => draft === true,
  }),
  type: oneOf({ issue: (row) => !isPull(row), pr: isPull }),
  state: oneOf({ open: ({ state }) => state === 'open', closed: ({ state }) => state === 'closed' }),
  reason: (value) => {
    const wanted = valuesOf(value).join().replace(' ', '_');
    return ['completed', 'not_planned', 'duplicate', 'reopened'].includes(wanted)
      ? (row) => row.state_reason === wanted
      : undefined;
  },
  repo: named(({ repository }) => [repository]),
  org: named(({ repository }) => [String(repository).split('/')[0]]),
  user: named(({ repository }) => [String(repository).split('/')[0]]),
  author: named((row) => some(row, 'user', 'login')),
  assignee: named((row) => some(row, 'assignees', 'login')),
  label: named((row) => some(row, 'labels', 'name')),
  milestone: named((row) => some(row, 'milestone', 'title')),
  mentions: (value) => (row) =>
    String(row.body ?? '')
      .toLowerCase()
      .includes(`@${valuesOf(value).join().toLowerCase()}`),
  no: oneOf({
    label: (row) => some(row, 'labels', 'name').length === 0,
    assignee: (row) => some(row, 'assignees', 'login').length === 0,
    milestone: ({ milestone }) => milestone == null,
  }),
  draft: oneOf({ true: ({ draft }) => draft === true, false: (row) => isPull(row) && row.draft !== true }),
  comments: ranged('comments', false),
  created: ranged('created_at', true),
  updated: ranged('updated_at', true),
  closed: ranged('closed_at', true),
  merged: ranged('merged_at', true),
};

/** Source: "Searching for repositories". */
const REPOSITORIES: Qualifiers = {
  is: oneOf({ public: (row) => row.private !== true, private: (row) => row.private === true }),
  repo: named(({ full_name }) => [full_name]),
  org: named((row) => some(row, 'owner', 'login')),
  user: named((row) => some(row, 'owner', 'login')),
  language: named(({ language }) => [language]),
  topic: named(({ topics }) => [topics].flat()),
  archived: oneOf({ true: ({ archived }) => archived === true, false: ({ archived }) => archived !== true }),
  fork: oneOf({ true: () => true, only: ({ fork }) => fork === true }),
  stars: ranged('stargazers_count', false),
  forks: ranged('forks_count', false),
  size: ranged('size', false),
  created: ranged('created_at', true),
  pushed: ranged('pushed_at', true),
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

/** Creates the routes that read. */
export function createLists(
  records: Records,
  { clock, searchesPerMinute = Infinity, searchWindow = 1000 }: ListsOptions,
) {
  const searches = createBudget({ calls: searchesPerMinute, windowMs: 60_000, clock });
  const all = () => [...records.issues.table.rows(), ...records.pull_requests.table.rows()];

  /** Returns the path `/repositories/{id}/…`, as links have it, by the name of the repository. */
  function renamed(path: string): string {
    const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)$/.exec(path) ?? [];
    const row = id === undefined ? undefined : records.repositories.table.find(id);
    return row === undefined ? path : `/repos/${row.full_name}${rest}`;
  }

  function page(
    call: Call,
    rows: readonly TableRow[],
    show: (row: TableRow) => unknown,
    wrap: (shown: readonly unknown[]) => unknown = (shown) => shown,
    reach = rows.length,
  ): SimulatedResponse {
    const count = (name: string, usual: number) => {
      const given = Number(call.query.get(name) ?? usual);
      return Number.isInteger(given) && given > 0 ? given : usual;
    };
    const [size, number] = [Math.min(count('per_page', 30), 100), count('page', 1)];
    const last = Math.max(1, Math.ceil(reach / size));
    const linkTo = (to: number, rel: string) => {
      const query = new URLSearchParams(call.query);
      query.set('page', String(to));
      const [, name = ''] = /^\/repos\/([^/]+\/[^/]+)\//.exec(call.path) ?? [];
      const isMeant = (row: TableRow) => isNamed(row.full_name, decodeURIComponent(name));
      const id = records.repositories.table.rows().find(isMeant)?.id;
      const path = id === undefined ? call.path : call.path.replace(`/repos/${name}`, `/repositories/${id}`);
      return `<${call.host === undefined ? call.origin : API}${path}?${query}>; rel="${rel}"`;
    };
    const next = call.isStuck
      ? [linkTo(number, 'next')]
      : number < last
        ? [linkTo(number + 1, 'next'), linkTo(last, 'last')]
        : [];
    const links = [
      ...(number > 1 ? [linkTo(number - 1, 'prev')] : []),
      ...next,
      ...(number > 1 ? [linkTo(1, 'first')] : []),
    ];
    const shown = rows.slice((number - 1) * size, number * size).map(show);
    return json(wrap(shown), 200, links.length === 0 ? {} : { link: links.join(', ') });
  }

  const sorted = (rows: readonly TableRow[], member: string, descending: boolean) => {
    const read = (row: TableRow) => row[member] ?? '';
    const type = rows.some((row) => typeof row[member] === 'number') ? 'integer' : 'string';
    const id = { type: 'integer', read: (row: TableRow) => row.id, descending } as const;
    return sortRows(rows, [{ type, read, descending }, id]);
  };
  const inOrder = (
    { query }: Call,
    rows: readonly TableRow[],
    members: Readonly<Record<string, string>>,
    usual: 'asc' | 'desc',
  ) => {
    const [first = 'created'] = Object.keys(members);
    const member = members[query.get('sort') ?? first] ?? 'created_at';
    return sorted(rows, member, (query.get('direction') ?? usual) === 'desc');
  };

  function search(
    call: Call,
    rows: readonly TableRow[],
    form: SearchForm,
    order: Readonly<Record<string, string>>,
    schema: string,
  ) {
    searches.take();
    const { query } = call;
    const found = rows.filter(compileSearch(query.get('q') ?? '', form));
    const [size, number] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
    if (size * (number - 1) >= searchWindow && number > 1)
      throw new Fault(422, 'UNPROCESSABLE', `Only the first ${searchWindow} search results are available`);
    const member = order[query.get('sort') ?? ''] ?? 'created_at';
    const ordered = sorted(found, member, query.get('order') !== 'asc').slice(0, searchWindow);
    const show = (row: TableRow) => conform(asIssue(row), schema);
    const type = schema === 'issue-search-result-item' ? { search_type: 'lexical' } : {};
    return page(
      call,
      ordered,
      show,
      (items) => ({ total_count: found.length, incomplete_results: false, items, ...type }),
      ordered.length,
    );
  }

  function issuesOf(call: Call): SimulatedResponse {
    const { query } = call;
    const { full_name } = repositoryAt(records, call);
    const is = (name: string, test: (value: string, row: TableRow) => boolean) => (row: TableRow) =>
      query.get(name) === null || test(query.get(name) ?? '', row);
    const tests = [
      (row: TableRow) => (query.get('state') ?? 'open') === 'all' || row.state === (query.get('state') ?? 'open'),
      is('since', (since, row) => Date.parse(String(row.updated_at)) >= Date.parse(since)),
      is('creator', (login, row) => some(row, 'user', 'login').some((each) => isNamed(each, login))),
      is('labels', (names, row) =>
        names.split(',').every((name) => some(row, 'labels', 'name').some((each) => isNamed(each, name))),
      ),
      is('assignee', (login, row) =>
        login === 'none'
          ? [row.assignees].flat().length === 0
          : login === '*'
            ? [row.assignees].flat().length > 0
            : some(row, 'assignees', 'login').some((each) => isNamed(each, login)),
      ),
      is('milestone', (number, row) =>
        number === 'none'
          ? row.milestone == null
          : number === '*'
            ? row.milestone !== null
            : some(row, 'milestone', 'number').map(String).includes(number),
      ),
    ];
    const rows = all().filter((row) => row.repository === full_name && tests.every((test) => test(row)));
    const order = { created: 'created_at', updated: 'updated_at', comments: 'comments' };
    return page(call, inOrder(call, rows, order, 'desc'), (row) => conform(asIssue(row), 'issue'));
  }

  const inRepository = (table: Table, call: Call) => {
    const { full_name } = repositoryAt(records, call);
    return table.rows().filter(({ repository }) => repository === full_name);
  };
  const since = ({ query }: Call, rows: readonly TableRow[]) => {
    const from = query.get('since');
    return from === null ? rows : rows.filter(({ updated_at }) => Date.parse(String(updated_at)) >= Date.parse(from));
  };
  const isNumber = (call: Call, name: string) => (row: TableRow) =>
    row.repository === repositoryAt(records, call).full_name && String(row.number ?? row.id) === call.params[name];
  const repositories =
    (owner: string, usual: 'asc' | 'desc', schema: string): RouteHandler =>
    (call) => {
      const rows = records.repositories.table
        .rows()
        .filter((row) => owner === '' || some(row, 'owner', 'login')[0] === findUser(call.params[owner] ?? '')?.login);
      if (owner !== '' && findUser(call.params[owner] ?? '') === undefined) throw notFound();
      const names = { created: 'created_at', updated: 'updated_at', pushed: 'pushed_at' };
      const order = usual === 'desc' ? { ...names, full_name: 'full_name' } : { full_name: 'full_name', ...names };
      const sort = call.query.get('sort');
      const direction = sort === null ? usual : sort === 'full_name' ? 'asc' : 'desc';
      return page(call, inOrder(call, rows, order, direction), (row) => conform(row, schema));
    };
  const account = (login: string) => {
    const user = findUser(login);
    if (user === undefined) throw notFound();
    const more = { name: user.login, created_at: '2011-01-25T18:44:36Z', updated_at: '2024-01-25T18:44:36Z' };
    return { ...user, ...more, public_repos: 7, followers: 1 };
  };

  const texts = { title: 'title', body: 'body' };
  const routes: Routes = {
    'GET /user': () => json(conform(account('octocat'), 'private-user')),
    'GET /users/{username}': ({ params: { username = '' } }) => json(conform(account(username), 'public-user')),
    'GET /user/repos': repositories('', 'asc', 'repository'),
    'GET /users/{username}/repos': repositories('username', 'asc', 'minimal-repository'),
    'GET /orgs/{org}/repos': repositories('org', 'desc', 'minimal-repository'),
    'GET /orgs/{org}/members': (call) => {
      if (!isNamed(call.params.org, OWNER)) throw notFound();
      return page(call, records.users.table.rows(), (row) => conform(row, 'simple-user'));
    },
    'GET /repos/{owner}/{repo}': (call) =>
      json(conform({ ...repositoryAt(records, call), organization: ORGANIZATION }, 'full-repository')),
    'GET /repos/{owner}/{repo}/issues': issuesOf,
    'GET /repos/{owner}/{repo}/issues/comments': (call) => {
      const rows = since(call, inRepository(records.comments.table, call));
      const order = { created: 'created_at', updated: 'updated_at' };
      const shown = inOrder(call, rows, order, call.query.has('sort') ? 'desc' : 'asc');
      return page(call, shown, (row) => conform(row, 'issue-comment'));
    },
    'GET /repos/{owner}/{repo}/issues/comments/{comment_id}': (call) => {
      const { full_name } = repositoryAt(records, call);
      const isWanted = (row: TableRow) => row.repository === full_name && String(row.id) === call.params.comment_id;
      return json(conform(findRow(records.comments.table, isWanted), 'issue-comment'));
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}': (call) => {
      const row = all().find(isNumber(call, 'issue_number'));
      if (row === undefined) throw notFound();
      return json(conform(asIssue(row), 'issue'));
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': (call) => {
      if (!all().some(isNumber(call, 'issue_number'))) throw notFound();
      const rows = inRepository(records.comments.table, call).filter(
        ({ number }) => String(number) === call.params.issue_number,
      );
      return page(call, sorted(since(call, rows), 'id', false), (row) => conform(row, 'issue-comment'));
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': (call) =>
      json(conform(findRow(records.pull_requests.table, isNumber(call, 'pull_number')), 'pull-request')),
    'GET /repos/{owner}/{repo}/labels': (call) =>
      page(call, inRepository(records.labels.table, call), (row) => conform(row, 'label')),
    'GET /repos/{owner}/{repo}/labels/{name}': (call) => json(conform(labelAt(records, call), 'label')),
    'GET /repos/{owner}/{repo}/milestones': (call) => {
      const state = call.query.get('state') ?? 'open';
      const rows = inRepository(records.milestones.table, call).filter((row) => state === 'all' || row.state === state);
      return page(call, inOrder(call, rows, { due_on: 'due_on', completeness: 'closed_issues' }, 'asc'), (row) =>
        conform(row, 'milestone'),
      );
    },
    'GET /repos/{owner}/{repo}/milestones/{milestone_number}': (call) =>
      json(conform(findRow(records.milestones.table, isNumber(call, 'milestone_number')), 'milestone')),
    'GET /search/issues': (call) =>
      search(
        call,
        all(),
        { qualifiers: withUsers(ISSUES, ['author', 'assignee', 'mentions', 'user', 'org', 'repo']), texts },
        { created: 'created_at', updated: 'updated_at', comments: 'comments' },
        'issue-search-result-item',
      ),
    'GET /search/repositories': (call) => {
      const rows = records.repositories.table.rows();
      // Forks are left out unless the search names them.
      const found = /(?:^|\s)fork:/.test(call.query.get('q') ?? '') ? rows : rows.filter(({ fork }) => fork !== true);
      return search(
        call,
        found,
        {
          qualifiers: withUsers(REPOSITORIES, ['user', 'org', 'repo']),
          texts: { name: 'name', description: 'description' },
        },
        { stars: 'stargazers_count', forks: 'forks_count', updated: 'updated_at' },
        'repo-search-result-item',
      );
    },
  };
  const aliases = Object.entries(routes).filter(([key]) => key.startsWith('GET /repos/{owner}/{repo}/'));
  const byId = aliases.map(([key, handler]): [string, RouteHandler] => [
    key.replace('/repos/{owner}/{repo}', '/repositories/{id}'),
    (call) => {
      const row = records.repositories.table.find(call.params.id ?? '');
      const [owner = '', repo = ''] = String(row?.full_name).split('/');
      return handler({ ...call, path: renamed(call.path), params: { ...call.params, owner, repo } });
    },
  ]);
  return { routes: { ...routes, ...Object.fromEntries(byId) } satisfies Routes, named: renamed };
}

export function labelAt(records: Records, call: Call): TableRow {
  const { full_name } = repositoryAt(records, call);
  return findRow(records.labels.table, (row) => row.repository === full_name && isNamed(row.name, call.params.name));
}
