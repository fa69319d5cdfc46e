import {
  type Changeable,
  createConform,
  createTable,
  cycle,
  HOSTILE_TEXTS,
  type MovableClock,
  pick,
  sparse,
  type Table,
  type TableChange,
  type TableRow,
  times,
  writeSeconds,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

export const API = 'https://api.github.com';
export const WEB = 'https://github.com';
export const OWNER = 'octo-org';
const HELLO = `${OWNER}/hello-world`;
const LOGINS = ['octocat', 'hubot', 'Mona-Lisa', 'defunkt', 'o'];
const REPOSITORIES = ['hello-world', 'Spoon-Knife', 'git.consortium', 'linguist', 'old_tools', 'octo-lib', 'empty'];
const LABELS = ['bug', 'good first issue', 'Bug report', 'priority: high', 'ünïcode ☃'];
const MILESTONES = ['v1.0', 'v1.0 beta', 'Später'];
const FIRST_MS = Date.parse('2024-01-30T22:10:00Z');
const HOUR_MS = 3_600_000;

const bring = createConform(official, {
  textOf: (name, { format }) =>
    format === 'uri' || name.endsWith('_url') ? `${API}/${name}` : format === 'date-time' ? writeSeconds(FIRST_MS) : '',
});
const brought = new WeakMap<TableRow, Map<string, TableRow>>();

/** Brings a record into the form of the description. Addresses that nothing else reads are made from their names. */
export function conform(given: TableRow | undefined, schema: string): TableRow {
  const row = given ?? {};
  const known = brought.get(row) ?? new Map<string, TableRow>();
  brought.set(row, known);
  const found = known.get(schema) ?? bring(row, schema);
  known.set(schema, found);
  return found;
}

export type Name = 'repositories' | 'issues' | 'pull_requests' | 'comments' | 'labels' | 'milestones' | 'users';
export type Records = Readonly<Record<Name, Changeable & { readonly table: Table }>>;

export function userOf(login: string, type = 'User') {
  const id = 1 + [...login].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
  const url = `${API}/users/${login}`;
  const web = { html_url: `${WEB}/${login}`, avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4` };
  return { login, id, type, url, ...web };
}

export const ORGANIZATION = userOf(OWNER, 'Organization');
const USERS = LOGINS.map((login) => userOf(login));

/** Returns a user by login, without regard to case. */
export function findUser(login: string) {
  return [...USERS, ORGANIZATION].find((user) => user.login.toLowerCase() === login.toLowerCase());
}

/** Returns a repository. What it leaves out is missing, and `conform` fills it in. */
function repositoryOf(index: number, name: string, owner: TableRow = ORGANIZATION): TableRow {
  const full_name = `${owner.login}/${name}`;
  return {
    ...{ id: 1_296_269 + index, name, full_name, owner, url: `${API}/repos/${full_name}` },
    ...{ html_url: `${WEB}/${full_name}`, visibility: 'public', default_branch: 'main', topics: [] },
    ...{ has_issues: true, has_projects: true, has_wiki: true, stargazers_count: 0, forks_count: 0, size: 0 },
    ...{ pushed_at: writeSeconds(FIRST_MS), permissions: { admin: true, push: true, pull: true } },
  };
}

export function issueUrls(repository: string, number: number, kind: 'issues' | 'pulls') {
  const api = `${API}/repos/${repository}`;
  const html_url = `${WEB}/${repository}/${kind === 'pulls' ? 'pull' : 'issues'}/${number}`;
  const issue_url = `${api}/issues/${number}`;
  return {
    ...{ url: `${api}/${kind}/${number}`, html_url, repository_url: api },
    ...{ issue_url, comments_url: `${issue_url}/comments` },
  };
}

/** Returns the branch of a pull request. */
export function branchOf(repository: TableRow, ref: string) {
  const sha = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
  return { label: `${OWNER}:${ref}`, ref, sha, user: ORGANIZATION, repo: repository };
}

const title = (index: number) =>
  `${pick(['Found a bug', 'found a BUG again', 'Crash: ', 'Größe is wrong', "Don't panic"], index)} ${pick([...HOSTILE_TEXTS.filter((text) => text.trim() !== '' && text.length < 100), 'x'], index)}`;
const body = sparse(4, cycle(['It does not work.', 'see #1', ...HOSTILE_TEXTS.filter((text) => text !== '')], 1));

/** Creates the records of an organization. Issues and pull requests share their numbers. */
export function createRecords(clock: MovableClock, report: (name: Name, change: TableChange) => void): Records {
  const stamp = () => writeSeconds(clock.now());
  let nextId = 5_000_000;

  function create(
    name: Name,
    rows: readonly TableRow[],
    more: Pick<Changeable, 'create' | 'change'> & { readonly key?: (row: TableRow) => string },
  ) {
    const table: Table = createTable({
      rows,
      keyOf: ({ id }) => String(id),
      initial: () => ({ id: nextId++, created_at: stamp(), updated_at: stamp() }),
      touch: () => ({ updated_at: stamp() }),
      onChange: (change) => report(name, change),
    });
    return { table, keyOf: more.key ?? table.keyOf, create: more.create, change: more.change };
  }

  const timesOf = (index: number) => ({
    created_at: writeSeconds(FIRST_MS + Math.floor(index / 2) * 7 * HOUR_MS),
    updated_at: writeSeconds(FIRST_MS + 1000 * HOUR_MS + ((index * 17) % 60) * 5 * HOUR_MS),
  });
  const repositories = REPOSITORIES.map(
    (name, index): TableRow => ({
      ...repositoryOf(index, name),
      ...timesOf(index),
      description: pick([null, 'My first repository!', 'Tools & more', null], index),
      language: pick(['TypeScript', null, 'Ruby'], index),
      archived: name === 'old_tools',
      fork: name === 'Spoon-Knife',
      private: index % 3 === 2,
      visibility: index % 3 === 2 ? 'private' : 'public',
      stargazers_count: index * 9,
    }),
  );
  const byName = (name: string) => repositories.find((each) => each.name === name) ?? repositoryOf(99, name);
  const labelRows = LABELS.map((name, index) => ({
    ...{ id: 208_045_946 + index, repository: HELLO, name, color: 'd73a4a', default: index === 0 },
    description: index === 1 ? null : `About ${name}`,
    url: `${API}/repos/${HELLO}/labels/${encodeURIComponent(name)}`,
  }));
  const milestoneRows = MILESTONES.map((text, index) =>
    milestoneOf(HELLO, index + 1, {
      ...{ id: 1_002_604 + index, title: text, description: index === 1 ? null : 'Tracking', creator: USERS[0] },
      ...{ ...timesOf(index), state: index === 1 ? 'closed' : 'open' },
      due_on: index === 0 ? '2024-10-09T07:00:00Z' : null,
      closed_at: index === 1 ? '2024-05-01T00:00:00Z' : null,
    }),
  );

  function issueOf(index: number, kind: 'issues' | 'pulls'): TableRow {
    const inHello = index % 4 !== 3;
    const repository = `${OWNER}/${inHello ? 'hello-world' : pick(['Spoon-Knife', 'git.consortium', 'linguist'], index >> 2)}`;
    const isClosed = (index >> 1) % 3 === 1;
    const number = index + 1;
    const assignees = index % 5 < 2 ? USERS.slice(index % 3, (index % 3) + 1 + (index % 2)) : [];
    const { updated_at } = timesOf(index);
    const state_reason = isClosed && kind === 'issues' ? pick(['completed', 'not_planned'], index >> 1) : null;
    return {
      ...{
        id: 1_000_000 + index,
        number,
        repository,
        title: title(index),
        body: body(index),
        user: pick(USERS, index),
      },
      ...{ state: isClosed ? 'closed' : 'open', state_reason, closed_at: isClosed ? updated_at : null },
      ...{
        assignees,
        assignee: assignees[0],
        comments: index % 7,
        locked: index % 11 === 5,
        author_association: 'MEMBER',
      },
      labels: inHello ? labelRows.slice(index % 4, (index % 4) + (index % 3)) : [],
      milestone: inHello && index % 4 === 1 ? pick(milestoneRows, index >> 2) : null,
      ...(isClosed && { closed_by: USERS[1] }),
      ...timesOf(index),
      ...issueUrls(repository, number, kind),
    };
  }

  function pullOf(index: number): TableRow {
    const issue = issueOf(index, 'pulls');
    const repository = byName(String(issue.repository).split('/')[1] ?? '');
    const merged = issue.state === 'closed' && index % 2 === 0;
    return {
      ...{ ...issue, draft: index % 5 === 4, merged },
      ...(merged && { merged_at: issue.closed_at, merged_by: USERS[0] }),
      ...{ head: branchOf(repository, `topic-${index}`), base: branchOf(repository, 'main') },
      ...{ mergeable_state: 'clean', additions: index, deletions: index % 9, changed_files: 1, commits: 1 },
    };
  }

  const issueRows = times(90, (index) => index)
    .filter((index) => index % 3 !== 2)
    .map((index) => issueOf(index, 'issues'));
  const pullRows = times(90, (index) => index)
    .filter((index) => index % 3 === 2)
    .map(pullOf);
  let nextNumber = 91;
  const newIssue = (number: number, kind: 'issues' | 'pulls') => {
    const own = nextNumber++;
    const pull = kind === 'pulls' ? { ...pullOf(own), draft: false, merged: false, merged_at: null } : {};
    return {
      ...{ ...pull, ...issueOf(4, kind), id: nextId++, number: own, title: `New ${number}`, repository: HELLO },
      ...{ created_at: stamp(), updated_at: stamp(), comments: 0, state: 'open', state_reason: null, closed_at: null },
      ...issueUrls(HELLO, own, kind),
    };
  };
  const commentRows = times(
    24,
    (index): TableRow =>
      commentOf(HELLO, pick([1, 2, 5], index), {
        ...{ id: 900 + index, body: pick(['Me too', 'Fixed in #2', '+1', 'ÄÖÜ'], index), user: pick(USERS, index) },
        ...timesOf(index),
      }),
  );
  const changed = (member: string) => (number: number) => ({ [member]: `Changed ${number}` });
  return {
    repositories: create('repositories', repositories, {
      key: ({ name }) => String(name),
      create: (number) => ({
        ...repositoryOf(500 + number, `new-${number}`),
        created_at: stamp(),
        updated_at: stamp(),
      }),
      change: changed('description'),
    }),
    issues: create('issues', issueRows, {
      key: placeOf,
      create: (number) => newIssue(number, 'issues'),
      change: changed('title'),
    }),
    pull_requests: create('pull_requests', pullRows, {
      key: placeOf,
      create: (number) => newIssue(number, 'pulls'),
      change: changed('title'),
    }),
    comments: create('comments', commentRows, {
      key: ({ repository, id }) => `${String(repository).split('/')[1]}-${id}`,
      create: (number) => commentOf(HELLO, 1, { body: `New ${number}`, user: USERS[0] }),
      change: changed('body'),
    }),
    labels: create('labels', labelRows, {
      create: (number) => ({ repository: HELLO, name: `new-${number}`, color: 'ededed' }),
      change: changed('description'),
      key: ({ name }) => String(name),
    }),
    milestones: create('milestones', milestoneRows, {
      create: (number) =>
        milestoneOf(HELLO, 100 + number, { title: `New ${number}`, state: 'open', creator: USERS[0] }),
      change: changed('title'),
      key: ({ number }) => String(number),
    }),
    users: create('users', USERS, {
      key: ({ login }) => String(login),
      create: (number) => userOf(`new-${number}`),
      change: changed('name'),
    }),
  };
}

/** Returns the id that the platform gives to an issue: its repository and its number. */
function placeOf({ repository, number }: TableRow): string {
  return `${String(repository).split('/')[1]}-${number}`;
}

export function milestoneOf(repository: string, number: number, values: TableRow): TableRow {
  const urls = {
    html_url: `${WEB}/${repository}/milestone/${number}`,
    url: `${API}/repos/${repository}/milestones/${number}`,
  };
  return { repository, number, ...urls, ...values };
}

export function commentOf(repository: string, number: number, values: TableRow): TableRow {
  const { issue_url, html_url: page } = issueUrls(repository, number, 'issues');
  const html_url = `${page}#issuecomment-${values.id ?? 0}`;
  return { repository, number, issue_url, html_url, author_association: 'MEMBER', ...values };
}

const asIssues = new WeakMap<TableRow, TableRow>();

/** Returns an issue as lists of issues show it: a pull request with its addresses. */
export function asIssue(row: TableRow): TableRow {
  const known = asIssues.get(row) ?? makeIssue(row);
  asIssues.set(row, known);
  return known;
}

function makeIssue(row: TableRow): TableRow {
  if (row.head === undefined) return { ...row, score: 1 };
  const { url, html_url, merged_at } = row;
  const web = String(html_url);
  const pull_request = { url, html_url, merged_at, diff_url: `${web}.diff`, patch_url: `${web}.patch` };
  return { ...row, url: row.issue_url, pull_request, score: 1 };
}
