import {
  type Call,
  empty,
  Fault,
  json,
  type MovableClock,
  type Routes,
  type Table,
  type TableRow,
  writeSeconds,
} from '#connector/simulator';
import { isNamed, notFound, repositoryAt, rowAt } from './lists.ts';
import {
  asIssue,
  branchOf,
  commentOf,
  conform,
  findUser,
  isPull,
  issueUrls,
  labelOf,
  milestoneOf,
  newRepository,
  ORGANIZATION,
  OWNER,
  type Records,
  userOf,
} from './records.ts';

function invalid(resource: string, field: string, code = 'invalid', message = 'Validation Failed'): Fault {
  return new Fault(422, code, message, { fields: [resource, field] });
}

function textIn(values: TableRow, name: string, resource: string): string {
  const text = values[name];
  if (typeof text !== 'string' || text.trim() === '') throw invalid(resource, name, 'missing_field');
  return text;
}

/** Members of a repository that a body can set. */
const SETTINGS: ReadonlySet<string> = new Set(
  'name description homepage archived has_issues has_wiki has_projects is_template default_branch'.split(' '),
);

const REPO = '/repos/{owner}/{repo}';
const ME = userOf('octocat');

/** Creates the routes that write, for a user who may write everything, and those that read one part of a repository. */
export function createWrites(records: Records, clock: MovableClock): Routes {
  const { repositories, issues, pull_requests, comments, labels, milestones } = records;
  const stamp = () => writeSeconds(clock.now());
  const work = { rows: () => [...issues.rows(), ...pull_requests.rows()] };
  const nextNumber = (rows: readonly TableRow[]) => Math.max(0, ...rows.map(({ number }) => Number(number))) + 1;
  const labelIn = (repository: unknown, name: string) =>
    labels.rows().find((row) => row.repository === repository && isNamed(row.name, name));

  /** Returns the members of an issue that a body sets. Labels that do not exist are created. */
  function issueValues(call: Call, repository: unknown, before?: TableRow): TableRow {
    const { title, body, state, state_reason, labels: names, assignees, assignee, milestone } = call.body.object();
    const logins = assignees ?? (assignee === undefined ? undefined : [assignee].filter((each) => each !== null));
    const users = [logins ?? []].flat().map((login) => {
      const user = findUser(String(Object(login).login ?? login));
      if (user === undefined) throw invalid('Issue', 'assignees');
      return user;
    });
    const named = [names ?? []].flat().map((label) => {
      const name = String(Object(label).name ?? label);
      return labelIn(repository, name) ?? labels.insert(labelOf(repository, name, { color: 'ededed' }));
    });
    const isChosen = (row: TableRow) => row.repository === repository && String(row.number) === String(milestone);
    const chosen = milestones.rows().find(isChosen) ?? null;
    if (milestone != null && chosen === null) throw invalid('Issue', 'milestone');
    const closed_at = state === 'open' ? null : (before?.closed_at ?? stamp());
    return {
      ...(title !== undefined && { title: textIn({ title: String(title) }, 'title', 'Issue') }),
      ...(body !== undefined && { body: body === '' ? null : body }),
      ...(state !== undefined && { state, closed_at }),
      ...(state !== undefined &&
        !isPull(before ?? {}) && { state_reason: state_reason ?? (state === 'closed' ? 'completed' : 'reopened') }),
      ...(names !== undefined && { labels: named }),
      ...(logins !== undefined && { assignees: users, assignee: users[0] ?? null }),
      ...(milestone !== undefined && { milestone: chosen }),
    };
  }

  /** Returns a new issue. What it leaves out is missing, and `conform` fills it in. */
  function newIssue(call: Call, kind: 'issues' | 'pulls'): TableRow {
    const repository = String(repositoryAt(records, call).full_name);
    const number = nextNumber(work.rows());
    textIn(call.body.object(), 'title', kind === 'issues' ? 'Issue' : 'PullRequest');
    return {
      ...{ number, repository, state: 'open', labels: [], assignees: [], comments: 0, user: ME },
      ...{ author_association: 'MEMBER', ...issueUrls(repository, number, kind), ...issueValues(call, repository) },
    };
  }

  const repositoryValues = (body: TableRow): TableRow => {
    const given = Object.entries(body).filter(([name]) => SETTINGS.has(name));
    const isPrivate = body.private ?? (body.visibility === undefined ? undefined : body.visibility === 'private');
    const shown = isPrivate === undefined ? {} : { private: isPrivate, visibility: isPrivate ? 'private' : 'public' };
    return { ...Object.fromEntries(given), ...shown };
  };
  const createRepository = (owner: TableRow) => (call: Call) => {
    const values = repositoryValues(call.body.object());
    const made = newRepository(textIn(values, 'name', 'Repository').replace(/[^\w.-]+/g, '-'), owner);
    if (repositories.rows().some((row) => isNamed(row.full_name, made.full_name)))
      throw invalid('Repository', 'name', 'custom', 'name already exists on this account');
    const row = repositories.insert({ pushed_at: stamp(), ...made, ...values, name: made.name });
    return json(conform(row, 'full-repository'), 201);
  };

  interface Part {
    readonly table: Table;
    /** The member that the last part of the path names. */
    readonly member: string;
    readonly schema: string;
    /** Returns the members that the body of a change sets. */
    readonly values: (body: TableRow) => TableRow;
  }

  /** Returns the routes of one record in a repository. */
  const partRoutes = (path: string, { table, member, schema, values }: Part): Routes => ({
    [`GET ${REPO}${path}`]: (call) => json(conform(rowAt(records, table, call, member), schema)),
    [`PATCH ${REPO}${path}`]: (call) => {
      const { id } = rowAt(records, table, call, member);
      return json(conform(table.update(String(id), values(call.body.object())), schema));
    },
    [`DELETE ${REPO}${path}`]: (call) => {
      table.remove(String(rowAt(records, table, call, member).id));
      return empty();
    },
  });

  return {
    'POST /orgs/{org}/repos': (call) => {
      if (!isNamed(call.params.org, OWNER)) throw notFound();
      return createRepository(ORGANIZATION)(call);
    },
    'POST /user/repos': createRepository(ME),
    [`PATCH ${REPO}`]: (call) => {
      const { id, owner } = repositoryAt(records, call);
      const values = repositoryValues(call.body.object());
      const renamed = values.name === undefined ? {} : { full_name: `${Object(owner).login}/${values.name}` };
      return json(conform(repositories.update(String(id), { ...values, ...renamed }), 'full-repository'));
    },
    [`DELETE ${REPO}`]: (call) => {
      repositories.remove(String(repositoryAt(records, call).id));
      return empty();
    },
    [`POST ${REPO}/issues`]: (call) => json(conform(issues.insert(newIssue(call, 'issues')), 'issue'), 201),
    [`PATCH ${REPO}/issues/{issue_number}`]: (call) => {
      const row = rowAt(records, work, call, 'number');
      const table = isPull(row) ? pull_requests : issues;
      const changed = table.update(String(row.id), issueValues(call, row.repository, row)) ?? row;
      return json(conform(asIssue(changed), 'issue'));
    },
    [`POST ${REPO}/pulls`]: (call) => {
      const repository = repositoryAt(records, call);
      const values = call.body.object();
      const refOf = ({ ref }: Readonly<Record<string, unknown>>) => ref;
      const head = textIn(values, 'head', 'PullRequest').replace(/^.*:/, '');
      const base = textIn(values, 'base', 'PullRequest');
      if (head === base) throw invalid('PullRequest', 'head', 'custom', `No commits between ${base} and ${head}`);
      const isSame = (row: TableRow) =>
        row.repository === repository.full_name && refOf(Object(row.head)) === head && refOf(Object(row.base)) === base;
      if (pull_requests.rows().some((row) => row.state === 'open' && isSame(row)))
        throw invalid('PullRequest', 'head', 'custom', `A pull request already exists for ${OWNER}:${head}.`);
      const row = pull_requests.insert({
        ...{ mergeable_state: 'unknown', additions: 1, changed_files: 1, commits: 1, draft: values.draft === true },
        maintainer_can_modify: values.maintainer_can_modify === true,
        ...{ head: branchOf(repository, head), base: branchOf(repository, base), ...newIssue(call, 'pulls') },
      });
      return json(conform(row, 'pull-request'), 201);
    },
    [`PATCH ${REPO}/pulls/{pull_number}`]: (call) => {
      const row = rowAt(records, pull_requests, call, 'number');
      const { base, maintainer_can_modify } = call.body.object();
      const values = {
        ...issueValues(call, row.repository, row),
        ...(base !== undefined && { base: branchOf(repositoryAt(records, call), String(base)) }),
        ...(maintainer_can_modify !== undefined && { maintainer_can_modify }),
      };
      return json(conform(pull_requests.update(String(row.id), values), 'pull-request'));
    },
    [`POST ${REPO}/issues/{issue_number}/comments`]: (call) => {
      const row = rowAt(records, work, call, 'number');
      const body = textIn(call.body.object(), 'body', 'IssueComment');
      const comment = comments.insert(commentOf(String(row.repository), Number(row.number), { body, user: ME }));
      const table = isPull(row) ? pull_requests : issues;
      table.update(String(row.id), { comments: Number(row.comments) + 1 });
      return json(conform(comment, 'issue-comment'), 201);
    },
    ...partRoutes('/issues/comments/{comment_id}', {
      ...{ table: comments, member: 'id', schema: 'issue-comment' },
      values: (body) => ({ body: textIn(body, 'body', 'IssueComment') }),
    }),
    [`POST ${REPO}/labels`]: (call) => {
      const { full_name } = repositoryAt(records, call);
      const { color = 'ededed', description = null, ...values } = call.body.object();
      const name = textIn(values, 'name', 'Label');
      if (labelIn(full_name, name) !== undefined) throw invalid('Label', 'name', 'already_exists');
      assertColor(color);
      return json(conform(labels.insert(labelOf(full_name, name, { color, description })), 'label'), 201);
    },
    ...partRoutes('/labels/{name}', {
      ...{ table: labels, member: 'name', schema: 'label' },
      values: ({ new_name: name, color, description }) => {
        if (color !== undefined) assertColor(color);
        return {
          ...(name !== undefined && { name }),
          ...(color !== undefined && { color }),
          ...(description !== undefined && { description: description === '' ? null : description }),
        };
      },
    }),
    [`POST ${REPO}/milestones`]: (call) => {
      const full_name = String(repositoryAt(records, call).full_name);
      const values = call.body.object();
      const title = textIn(values, 'title', 'Milestone');
      const known = milestones.rows().filter(({ repository }) => repository === full_name);
      if (known.some((row) => row.title === title)) throw invalid('Milestone', 'title', 'already_exists');
      const row = milestones.insert(
        milestoneOf(full_name, nextNumber(known), { state: 'open', ...values, title, creator: ME }),
      );
      return json(conform(row, 'milestone'), 201);
    },
    ...partRoutes('/milestones/{milestone_number}', {
      ...{ table: milestones, member: 'number', schema: 'milestone' },
      values: ({ state, ...values }) => ({
        ...values,
        ...(state !== undefined && { state, closed_at: state === 'closed' ? stamp() : null }),
      }),
    }),
  };
}

function assertColor(color: unknown): void {
  if (!/^[0-9a-f]{6}$/i.test(String(color))) throw invalid('Label', 'color');
}
