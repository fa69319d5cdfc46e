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
import { findRow, isNamed, labelAt, notFound, repositoryAt } from './lists.ts';
import {
  API,
  asIssue,
  branchOf,
  commentOf,
  conform,
  findUser,
  issueUrls,
  milestoneOf,
  ORGANIZATION,
  OWNER,
  type Records,
  userOf,
  WEB,
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

/** Creates the routes that write, for a user who may write everything. */
export function createWrites(records: Records, clock: MovableClock): Routes {
  const stamp = () => writeSeconds(clock.now());
  const numbers = () =>
    [...records.issues.table.rows(), ...records.pull_requests.table.rows()].map(({ number }) => Number(number));
  const inRepository = (table: Table, call: Call, member: string, value: string | undefined) => {
    const { full_name } = repositoryAt(records, call);
    return findRow(table, (row) => row.repository === full_name && String(row[member]) === value);
  };
  const issueAt = (call: Call) => {
    const { full_name } = repositoryAt(records, call);
    const wanted = call.params.issue_number ?? call.params.pull_number;
    for (const { table } of [records.issues, records.pull_requests]) {
      const row = table.rows().find((each) => each.repository === full_name && String(each.number) === wanted);
      if (row !== undefined) return { table, row };
    }
    throw notFound();
  };

  const labelIn = (repository: unknown, name: string) =>
    records.labels.table.rows().find((row) => row.repository === repository && isNamed(row.name, name));
  const newLabel = (repository: unknown, { name, ...more }: TableRow) =>
    records.labels.table.insert({
      ...{ repository, name, ...more },
      url: `${API}/repos/${repository}/labels/${encodeURIComponent(String(name))}`,
    });

  /** Returns the members of an issue that a body sets. Labels that do not exist are created. */
  function issueValues(call: Call, repository: string, before?: TableRow): TableRow {
    const { title, body, state, state_reason, labels, assignees, assignee, milestone } = call.body.object();
    const logins = assignees ?? (assignee === undefined ? undefined : [assignee].filter((each) => each !== null));
    const users = [logins ?? []]
      .flat()
      .map((login) => findUser(String(Object(login).login ?? login)) ?? fail(invalid('Issue', 'assignees')));
    const named = [labels ?? []].flat().map((label) => {
      const name = String(Object(label).name ?? label);
      return labelIn(repository, name) ?? newLabel(repository, { name, color: 'ededed' });
    });
    const isClosing = state === 'closed' && before?.state !== 'closed';
    return {
      ...(title !== undefined && { title: textIn({ title: String(title ?? '') }, 'title', 'Issue') }),
      ...(body !== undefined && { body: body === '' ? null : body }),
      ...(state !== undefined && {
        state,
        closed_at: state === 'open' ? null : isClosing ? stamp() : before?.closed_at,
      }),
      ...(state !== undefined &&
        before?.head === undefined && {
          state_reason: state_reason ?? (state === 'closed' ? 'completed' : 'reopened'),
        }),
      ...(labels !== undefined && { labels: named }),
      ...(logins !== undefined && { assignees: users, assignee: users[0] ?? null }),
      ...(milestone !== undefined && {
        milestone:
          milestone === null
            ? null
            : (records.milestones.table
                .rows()
                .find((row) => row.repository === repository && String(row.number) === String(milestone)) ??
              fail(invalid('Issue', 'milestone'))),
      }),
    };
  }

  /** Returns a new issue. What it leaves out is missing, and `conform` fills it in. */
  const blank = (repository: string, kind: 'issues' | 'pulls') => {
    const number = Math.max(0, ...numbers()) + 1;
    const own = { number, repository, state: 'open', labels: [], assignees: [], comments: 0, user: userOf('octocat') };
    return { ...own, author_association: 'MEMBER', ...issueUrls(repository, number, kind) };
  };
  const repositoryValues = (body: TableRow): TableRow => {
    const given = Object.entries(body).filter(([name]) => SETTINGS.has(name));
    const isPrivate = body.private ?? (body.visibility === undefined ? undefined : body.visibility === 'private');
    const shown = isPrivate === undefined ? {} : { private: isPrivate, visibility: isPrivate ? 'private' : 'public' };
    return { ...Object.fromEntries(given), ...shown };
  };
  const createRepository = (owner: TableRow) => (call: Call) => {
    const values = repositoryValues(call.body.object());
    const name = textIn(values, 'name', 'Repository').replace(/[^\w.-]+/g, '-');
    const full_name = `${owner.login}/${name}`;
    if (records.repositories.table.rows().some((row) => isNamed(row.full_name, full_name)))
      throw invalid('Repository', 'name', 'custom', 'name already exists on this account');
    const row = records.repositories.table.insert({
      ...{ visibility: 'public', default_branch: 'main', has_issues: true, has_projects: true, has_wiki: true },
      ...{
        pushed_at: stamp(),
        ...values,
        name,
        full_name,
        owner,
        permissions: { admin: true, push: true, pull: true },
      },
      ...{ url: `${API}/repos/${full_name}`, html_url: `${WEB}/${full_name}` },
    });
    return json(conform(row, 'full-repository'), 201);
  };

  return {
    'POST /orgs/{org}/repos': (call) => {
      if (!isNamed(call.params.org, OWNER)) throw notFound();
      return createRepository(ORGANIZATION)(call);
    },
    'POST /user/repos': createRepository(userOf('octocat')),
    'PATCH /repos/{owner}/{repo}': (call) => {
      const { id, owner } = repositoryAt(records, call);
      const values = repositoryValues(call.body.object());
      const renamed = values.name === undefined ? {} : { full_name: `${Object(owner).login}/${values.name}` };
      return json(conform(records.repositories.table.update(String(id), { ...values, ...renamed }), 'full-repository'));
    },
    'DELETE /repos/{owner}/{repo}': (call) => {
      records.repositories.table.remove(String(repositoryAt(records, call).id));
      return empty();
    },
    'POST /repos/{owner}/{repo}/issues': (call) => {
      const { full_name } = repositoryAt(records, call);
      textIn(call.body.object(), 'title', 'Issue');
      const row = records.issues.table.insert({
        ...blank(String(full_name), 'issues'),
        ...issueValues(call, String(full_name)),
      });
      return json(conform(row, 'issue'), 201);
    },
    'PATCH /repos/{owner}/{repo}/issues/{issue_number}': (call) => {
      const { table, row } = issueAt(call);
      return json(
        conform(asIssue(table.update(String(row.id), issueValues(call, String(row.repository), row)) ?? row), 'issue'),
      );
    },
    'POST /repos/{owner}/{repo}/pulls': (call) => {
      const repository = repositoryAt(records, call);
      const { full_name } = repository;
      const values = call.body.object();
      const [head, base] = [
        textIn(values, 'head', 'PullRequest').replace(/^.*:/, ''),
        textIn(values, 'base', 'PullRequest'),
      ];
      textIn(values, 'title', 'PullRequest');
      if (head === base) throw invalid('PullRequest', 'head', 'custom', `No commits between ${base} and ${head}`);
      const isOpen = records.pull_requests.table
        .rows()
        .some(
          (row) =>
            row.repository === full_name &&
            row.state === 'open' &&
            Object(row.head).ref === head &&
            Object(row.base).ref === base,
        );
      if (isOpen) throw invalid('PullRequest', 'head', 'custom', `A pull request already exists for ${OWNER}:${head}.`);
      const row = records.pull_requests.table.insert({
        ...blank(String(full_name), 'pulls'),
        ...{ mergeable_state: 'unknown', additions: 1, changed_files: 1, commits: 1, draft: values.draft === true },
        maintainer_can_modify: values.maintainer_can_modify === true,
        head: branchOf(repository, head),
        base: branchOf(repository, base),
        ...issueValues(call, String(full_name)),
      });
      return json(conform(row, 'pull-request'), 201);
    },
    'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': (call) => {
      const { table, row } = issueAt(call);
      if (table !== records.pull_requests.table) throw notFound();
      const { base, maintainer_can_modify } = call.body.object();
      const values = {
        ...issueValues(call, String(row.repository), row),
        ...(base !== undefined && { base: branchOf(repositoryAt(records, call), String(base)) }),
        ...(maintainer_can_modify !== undefined && { maintainer_can_modify }),
      };
      return json(conform(table.update(String(row.id), values), 'pull-request'));
    },
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': (call) => {
      const { table, row } = issueAt(call);
      const body = textIn(call.body.object(), 'body', 'IssueComment');
      const { id, ...own } = records.comments.table.insert(
        commentOf(String(row.repository), Number(row.number), { body, user: userOf('octocat') }),
      );
      table.update(String(row.id), { comments: Number(row.comments) + 1 });
      return json(conform({ ...own, id }, 'issue-comment'), 201);
    },
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': (call) => {
      const { id } = inRepository(records.comments.table, call, 'id', call.params.comment_id);
      const body = textIn(call.body.object(), 'body', 'IssueComment');
      return json(conform(records.comments.table.update(String(id), { body }), 'issue-comment'));
    },
    'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}': (call) => {
      records.comments.table.remove(
        String(inRepository(records.comments.table, call, 'id', call.params.comment_id).id),
      );
      return empty();
    },
    'POST /repos/{owner}/{repo}/labels': (call) => {
      const { full_name } = repositoryAt(records, call);
      const { color = 'ededed', description = null, ...values } = call.body.object();
      const name = textIn(values, 'name', 'Label');
      if (labelIn(full_name, name) !== undefined) throw invalid('Label', 'name', 'already_exists');
      if (!/^[0-9a-f]{6}$/i.test(String(color))) throw invalid('Label', 'color');
      return json(conform(newLabel(full_name, { name, color, description }), 'label'), 201);
    },
    'PATCH /repos/{owner}/{repo}/labels/{name}': (call) => {
      const { id } = labelAt(records, call);
      const { new_name, color, description } = call.body.object();
      if (color !== undefined && !/^[0-9a-f]{6}$/i.test(String(color))) throw invalid('Label', 'color');
      const values = {
        ...(new_name !== undefined && { name: new_name }),
        ...(color !== undefined && { color }),
        ...(description !== undefined && { description: description === '' ? null : description }),
      };
      return json(conform(records.labels.table.update(String(id), values), 'label'));
    },
    'DELETE /repos/{owner}/{repo}/labels/{name}': (call) => {
      records.labels.table.remove(String(labelAt(records, call).id));
      return empty();
    },
    'POST /repos/{owner}/{repo}/milestones': (call) => {
      const full_name = String(repositoryAt(records, call).full_name);
      const { title: _, ...values } = call.body.object();
      const title = textIn(call.body.object(), 'title', 'Milestone');
      const known = records.milestones.table.rows().filter(({ repository }) => repository === full_name);
      if (known.some((row) => row.title === title)) throw invalid('Milestone', 'title', 'already_exists');
      const number = Math.max(0, ...known.map((row) => Number(row.number))) + 1;
      const row = records.milestones.table.insert(
        milestoneOf(full_name, number, { state: 'open', ...values, title, creator: userOf('octocat') }),
      );
      return json(conform(row, 'milestone'), 201);
    },
    'PATCH /repos/{owner}/{repo}/milestones/{milestone_number}': (call) => {
      const { id } = inRepository(records.milestones.table, call, 'number', call.params.milestone_number);
      const values = call.body.object();
      const closed = values.state === undefined ? {} : { closed_at: values.state === 'closed' ? stamp() : null };
      return json(conform(records.milestones.table.update(String(id), { ...values, ...closed }), 'milestone'));
    },
    'DELETE /repos/{owner}/{repo}/milestones/{milestone_number}': (call) => {
      records.milestones.table.remove(
        String(inRepository(records.milestones.table, call, 'number', call.params.milestone_number).id),
      );
      return empty();
    },
  };
}

function fail(error: Fault): never {
  throw error;
}
