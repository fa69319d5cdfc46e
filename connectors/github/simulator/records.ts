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
const WEB = 'https://github.com';
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

export type Records = ReturnType<typeof createRecords>;
export type Name = Exclude<keyof Records, 'changeable'>;

export function userOf(login: string, type = 'User') {
  const id = 1 + [...login].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
  const url = `${API}/users/${login}`;
  const web = { html_url: `${WEB}/${login}`, avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4` };
  return { login, id, type, url, ...web };
}

export const ORGANIZATION = userOf(OWNER, 'Organization');
export const USERS = LOGINS.map((login) => userOf(login));

/** Returns a user by login, without regard to case. */
export function findUser(login: string) {
  return [...USERS, ORGANIZATION].find((user) => user.login.toLowerCase() === login.toLowerCase());
}

/** Returns a repository. What it leaves out is missing, and `conform` fills it in. */
export function newRepository(name: unknown, owner: TableRow): TableRow {
  const full_name = `${owner.login}/${name}`;
  return {
    ...{ name, full_name, owner, url: `${API}/repos/${full_name}`, html_url: `${WEB}/${full_name}` },
    ...{ visibility: 'public', default_branch: 'main', has_issues: true, has_projects: true, has_wiki: true },
    permissions: { admin: true, push: true, pull: true },
  };
}

function repositoryOf(index: number, name: string): TableRow {
  const counts = { stargazers_count: 0, forks_count: 0, size: 0, topics: [] };
  const pushed_at = writeSeconds(FIRST_MS);
  return { ...newRepository(name, ORGANIZATION), ...counts, id: 1_296_269 + index, pushed_at };
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

const timesOf = (index: number) => ({
  created_at: writeSeconds(FIRST_MS + Math.floor(index / 2) * 7 * HOUR_MS),
  updated_at: writeSeconds(FIRST_MS + 1000 * HOUR_MS + ((index * 17) % 60) * 5 * HOUR_MS),
});

const REPOSITORY_ROWS = REPOSITORIES.map((name, index): TableRow => {
  const isPrivate = index % 3 === 2;
  return {
    ...{ ...repositoryOf(index, name), ...timesOf(index) },
    ...{ archived: name === 'old_tools', fork: name === 'Spoon-Knife', stargazers_count: index * 9 },
    ...{ private: isPrivate, visibility: isPrivate ? 'private' : 'public' },
    description: pick([null, 'My first repository!', 'Tools & more', null], index),
    language: pick(['TypeScript', null, 'Ruby'], index),
  };
});
const LABEL_ROWS = LABELS.map((name, index) =>
  labelOf(HELLO, name, {
    ...{ id: 208_045_946 + index, color: 'd73a4a', default: index === 0 },
    description: index === 1 ? null : `About ${name}`,
  }),
);
const MILESTONE_ROWS = MILESTONES.map((text, index) =>
  milestoneOf(HELLO, index + 1, {
    ...{ id: 1_002_604 + index, title: text, description: index === 1 ? null : 'Tracking', creator: USERS[0] },
    ...{ ...timesOf(index), state: index === 1 ? 'closed' : 'open' },
    due_on: index === 0 ? '2024-10-09T07:00:00Z' : null,
    closed_at: index === 1 ? '2024-05-01T00:00:00Z' : null,
  }),
);
const COMMENT_ROWS = times(24, (index) =>
  commentOf(HELLO, pick([1, 2, 5], index), {
    ...{ id: 900 + index, body: pick(['Me too', 'Fixed in #2', '+1', 'ÄÖÜ'], index), user: pick(USERS, index) },
    ...timesOf(index),
  }),
);

function issueOf(index: number, kind: 'issues' | 'pulls'): TableRow {
  const inHello = index % 4 !== 3;
  const name = inHello ? 'hello-world' : pick(['Spoon-Knife', 'git.consortium', 'linguist'], index >> 2);
  const [repository, number] = [`${OWNER}/${name}`, index + 1];
  const isClosed = (index >> 1) % 3 === 1;
  const assignees = index % 5 < 2 ? USERS.slice(index % 3, (index % 3) + 1 + (index % 2)) : [];
  const stamped = timesOf(index);
  return {
    ...{ id: 1_000_000 + index, number, repository, title: title(index), body: body(index), user: pick(USERS, index) },
    ...{ state: isClosed ? 'closed' : 'open', closed_at: isClosed ? stamped.updated_at : null },
    state_reason: isClosed && kind === 'issues' ? pick(['completed', 'not_planned'], index >> 1) : null,
    ...{ assignees, assignee: assignees[0], comments: index % 7, locked: index % 11 === 5 },
    author_association: 'MEMBER',
    labels: inHello ? LABEL_ROWS.slice(index % 4, (index % 4) + (index % 3)) : [],
    milestone: inHello && index % 4 === 1 ? pick(MILESTONE_ROWS, index >> 2) : null,
    ...(isClosed && { closed_by: USERS[1] }),
    ...{ ...stamped, ...issueUrls(repository, number, kind) },
  };
}

function pullOf(index: number): TableRow {
  const issue = issueOf(index, 'pulls');
  const repository = REPOSITORY_ROWS.find(({ full_name }) => full_name === issue.repository) ?? {};
  const merged = issue.state === 'closed' && index % 2 === 0;
  return {
    ...{ ...issue, draft: index % 5 === 4, merged },
    ...(merged && { merged_at: issue.closed_at, merged_by: USERS[0] }),
    ...{ head: branchOf(repository, `topic-${index}`), base: branchOf(repository, 'main') },
    ...{ mergeable_state: 'clean', additions: index, deletions: index % 9, changed_files: 1, commits: 1 },
  };
}

/** Creates the records of an organization. Issues and pull requests share their numbers. */
export function createRecords(
  clock: MovableClock,
  report: (
    name: 'repositories' | 'issues' | 'pull_requests' | 'comments' | 'labels' | 'milestones',
    change: TableChange,
  ) => void,
) {
  const stamp = () => writeSeconds(clock.now());
  let nextId = 5_000_000;
  let nextNumber = 91;
  const tableOf = (name: Parameters<typeof report>[0], rows: readonly TableRow[]): Table =>
    createTable({
      ...{ rows, keyOf: ({ id }) => String(id), onChange: (change) => report(name, change) },
      initial: () => ({ id: nextId++, created_at: stamp(), updated_at: stamp() }),
      touch: () => ({ updated_at: stamp() }),
    });
  const issues = times(90, (index) => (index % 3 === 2 ? pullOf(index) : issueOf(index, 'issues')));
  const tables = {
    repositories: tableOf('repositories', REPOSITORY_ROWS),
    issues: tableOf(
      'issues',
      issues.filter((row) => !isPull(row)),
    ),
    pull_requests: tableOf('pull_requests', issues.filter(isPull)),
    comments: tableOf('comments', COMMENT_ROWS),
    labels: tableOf('labels', LABEL_ROWS),
    milestones: tableOf('milestones', MILESTONE_ROWS),
  };
  const newIssue = (kind: 'issues' | 'pulls') => (made: number) => {
    const number = nextNumber++;
    const pull = kind === 'pulls' ? { ...pullOf(number), draft: false, merged: false, merged_at: null } : {};
    return {
      ...{ ...pull, ...issueOf(4, kind), id: nextId++, number, title: `New ${made}`, repository: HELLO },
      ...{ created_at: stamp(), updated_at: stamp(), comments: 0, state: 'open', state_reason: null, closed_at: null },
      ...issueUrls(HELLO, number, kind),
    };
  };
  const changeable = (
    table: Table,
    keyOf: Changeable['keyOf'],
    label: string,
    create: Changeable['create'],
  ): Changeable => ({ table, keyOf, create, change: (number) => ({ [label]: `Changed ${number}` }) });
  return {
    ...tables,
    /** The tables that `POST /simulate/changes` changes. */
    changeable: {
      repositories: changeable(
        tables.repositories,
        ({ name }) => String(name),
        'description',
        (number) => repositoryOf(500 + number, `new-${number}`),
      ),
      issues: changeable(tables.issues, placeOf, 'title', newIssue('issues')),
      pull_requests: changeable(tables.pull_requests, placeOf, 'title', newIssue('pulls')),
      comments: changeable(
        tables.comments,
        ({ repository, id }) => `${String(repository).split('/')[1]}-${id}`,
        'body',
        (number) => commentOf(HELLO, 1, { body: `New ${number}`, user: USERS[0] }),
      ),
    },
  };
}

export const isPull = ({ head }: TableRow): boolean => head !== undefined;

/** Returns the id that the platform gives to an issue: its repository and its number. */
function placeOf({ repository, number }: TableRow): string {
  return `${String(repository).split('/')[1]}-${number}`;
}

export function labelOf(repository: unknown, name: string, values: TableRow): TableRow {
  return { repository, name, url: `${API}/repos/${repository}/labels/${encodeURIComponent(name)}`, ...values };
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
  if (!isPull(row)) return { ...row, score: 1 };
  const { url, html_url, merged_at } = row;
  const web = String(html_url);
  const pull_request = { url, html_url, merged_at, diff_url: `${web}.diff`, patch_url: `${web}.patch` };
  return { ...row, url: row.issue_url, pull_request, score: 1 };
}
