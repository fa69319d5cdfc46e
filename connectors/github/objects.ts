import {
  type Config,
  can,
  defineObject,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListOptions,
  list,
  nextLink,
  type ObjectSpec,
  type Objects,
  type Paging,
  type ProviderRequest,
  path,
  records,
} from '#connector';
import { idAt, ownerKindOf, ownerOf, placeOf, repositoryOf } from './account.ts';
import { all, COUNT, FLAG, KEPT, MADE, UNLISTED, WRITTEN } from './fields.ts';
import { issues, pullRequests } from './issues.ts';
import official from './official.json' with { type: 'json' };
import { listOf, quote, type Search, searchBy } from './search.ts';

/** Pages whose next one is named by the header `Link`. */
const LINKS: Paging = { kind: 'link', size: 'per_page', max: 100, next: nextLink };
const rowsOf = (body: unknown) => json.objects(body, 'the records');

const repositoryPath = (config: Config, repository = repositoryOf(config) ?? '') =>
  path`/repos/${ownerOf(config)}/${repository}`;

/** Returns the list of all repositories of the owner, which shows private ones only to members and to the owner. */
function repositoriesOf(config: Config): ProviderRequest {
  switch (ownerKindOf(config)) {
    case 'organization':
      return { path: path`/orgs/${ownerOf(config)}/repos`, query: { type: 'all' } };
    case 'self':
      return { path: '/user/repos', query: { affiliation: 'owner' } };
    case 'user':
      return { path: path`/users/${ownerOf(config)}/repos`, query: { type: 'owner' } };
  }
}

const toRepository = (repository: Json): Json => ({ ...repository, id: repository.name });

const repositories = defineObject<Search>({
  label: 'Repositories',
  description: 'Repositories of the owner. Their names are their ids.',
  aliases: ['repos'],
  fields: fieldsOf(official, 'full-repository', {
    pick: 'id node_id name full_name description homepage html_url clone_url private visibility fork archived disabled is_template default_branch language topics size stargazers_count forks_count watchers_count open_issues_count has_issues has_wiki has_projects created_at updated_at pushed_at subscribers_count',
    but: {
      id: { type: 'string', format: undefined },
      name: { ...MADE, required: true },
      ...all(KEPT, 'description homepage is_template has_issues has_wiki has_projects'),
      private: { ...FLAG, ...KEPT },
      archived: { ...FLAG, updateable: true, clearable: false },
      default_branch: { updateable: true, clearable: false },
      ...all(
        { domain: { step: 'second' }, filter: can.only('exact', '=', '<', '<=', '>', '>=') },
        'created_at pushed_at',
      ),
      ...all({ ...COUNT, sortable: true }, 'stargazers_count forks_count'),
      size: COUNT,
      subscribers_count: UNLISTED,
    },
  }),
  parameters: { topic: { type: 'string', description: 'A topic of the repositories.' } },
  shape: { kind: 'and' },
  limits: { maxSortFields: 1 },
  translator: searchBy({
    ranges: {
      created_at: 'created',
      pushed_at: 'pushed',
      stargazers_count: 'stars',
      forks_count: 'forks',
      size: 'size',
    },
    words: {
      archived: (text) => `archived:${text}`,
      private: (text) => (text === 'true' ? 'is:private' : 'is:public'),
    },
    reserved: 120,
  }),
  list: listOf({
    search: '/search/repositories',
    base: (config, { parameters: { topic } }) => [
      `${ownerKindOf(config) === 'organization' ? 'org' : 'user'}:${ownerOf(config)}`,
      'fork:true',
      ...(topic?.kind === 'string' ? [`topic:${quote(topic.value)}`] : []),
    ],
    plain: (config, { filter, orderBy, parameters }) => {
      if (filter !== undefined || orderBy.length > 0 || parameters.topic !== undefined) return undefined;
      const { query, ...request } = repositoriesOf(config);
      return { ...request, query: { ...query, sort: 'created', direction: 'asc' } };
    },
    sorts: { stargazers_count: 'stars', forks_count: 'forks' },
    continues: false,
    toRecord: toRepository,
  }),
  ...records({
    get: (id, _natives, config) => ({ path: repositoryPath(config, id) }),
    record: ({ body }) => toRepository(json.object(body, 'a repository')),
    create: {
      request: (values, config) => ({
        method: 'POST',
        path: ownerKindOf(config) === 'organization' ? path`/orgs/${ownerOf(config)}/repos` : '/user/repos',
        json: values,
      }),
    },
    update: {
      request: (id, values, config) => ({ method: 'PATCH', path: repositoryPath(config, id), json: values }),
      record: ({ body }) => toRepository(json.object(body, 'a repository')),
    },
    remove: (id, config) => ({ method: 'DELETE', path: repositoryPath(config, id) }),
  }),
});

const users = defineObject({
  label: 'Users',
  description: 'Members of the organization, or the user who owns the repositories.',
  aliases: ['members'],
  fields: {
    id: { type: 'string', native: 'login', nullable: false },
    ...fieldsOf(official, 'public-user', {
      pick: 'node_id login name email type site_admin avatar_url html_url company blog location bio public_repos followers following created_at updated_at',
      but: all(UNLISTED, 'name email company blog location bio public_repos followers following created_at updated_at'),
    }),
  },
  list: list({
    request: ({ page }, config) =>
      ownerKindOf(config) === 'organization'
        ? { path: path`/orgs/${ownerOf(config)}/members`, query: page }
        : { path: path`/users/${ownerOf(config)}` },
    rows: (body) => (Array.isArray(body) ? body : [json.object(body, 'the owner')]),
    paging: LINKS,
  }),
  ...records({ get: (id) => ({ path: path`/users/${id}` }) }),
});

/** Returns a comment with the ids by which the API finds it and its issue. */
function toComment(comment: Json): Json {
  const [, repository = '', issue = ''] =
    /\/repos\/[^/]+\/([^/]+)\/issues\/(\d+)$/.exec(String(comment.issue_url)) ?? [];
  return {
    ...comment,
    id: idAt(repository, json.key(comment.id, 'the id of a comment')),
    issue_id: idAt(repository, issue),
  };
}

const issuePath = (config: Config, id: string) => {
  const { repository, key } = placeOf(id);
  return path`/repos/${ownerOf(config)}/${repository}/issues/${key}`;
};
const commentPath = (config: Config, id: string) => {
  const { repository, key } = placeOf(id);
  return path`/repos/${ownerOf(config)}/${repository}/issues/comments/${key}`;
};

/** Comments of a repository, or of one issue. Without either, GitHub has no list. Those below an issue need no filter. */
function comments(config: Config, isChild: boolean): ObjectSpec {
  const isListed = !isChild && repositoryOf(config) !== undefined;
  const options: ListOptions<Inputs> = {
    request: ({ filter: { issue, ...filter } = {}, page, parentId }, given) => {
      const of = parentId ?? issue;
      if (of !== undefined) return { path: `${issuePath(given, String(of))}/comments`, query: { ...filter, ...page } };
      const query = { sort: 'created', direction: 'asc', ...filter, ...page };
      return { path: `${repositoryPath(given)}/issues/comments`, query };
    },
    rows: (body) => rowsOf(body).map(toComment),
    paging: LINKS,
  };
  return defineObject<Inputs>({
    label: 'Comments',
    description: 'Comments on issues and pull requests.',
    fields: {
      issue_id: {
        ...{ type: 'string', nullable: false, createable: true, required: true },
        // GitHub ignores the case of repositories.
        filter: can.only('superset', '='),
        domain: { text: { nonEmpty: true, possible: (text) => /^[\w.-]{1,100}-\d{1,15}$/.test(text) } },
      },
      ...fieldsOf(official, 'issue-comment', {
        pick: 'id node_id body html_url author_association created_at updated_at',
        but: {
          id: { type: 'string', format: undefined },
          body: { ...WRITTEN, required: true, clearable: false },
          created_at: { domain: { step: 'second' } },
          // GitHub returns comments that changed after the time, so the request has the second before.
          updated_at: { domain: { step: 'second' }, filter: can.only('superset', '>=') },
        },
      }),
      author: { type: 'string', native: 'user.login' },
    },
    ...(!isChild && !isListed && { requiredFilters: ['issue_id'] }),
    translator: inputs({ issue_id: 'issue', updated_at: { by: { '>=': 'since' } } }, ',', {
      text: (value) =>
        value.kind === 'datetime' ? new Date(value.epochMs - 1000).toISOString() : String(Object(value).value),
    }),
    list: list(options),
    ...records({
      get: (id, _natives, given) => ({ path: commentPath(given, id) }),
      record: ({ body }) => toComment(json.object(body, 'a comment')),
      create: {
        request: ({ issue_id, ...values }, given) => ({
          method: 'POST',
          path: `${issuePath(given, String(issue_id))}/comments`,
          json: values,
        }),
      },
      update: {
        request: (id, values, given) => ({ method: 'PATCH', path: commentPath(given, id), json: values }),
        record: ({ body }) => toComment(json.object(body, 'a comment')),
      },
      remove: (id, given) => ({ method: 'DELETE', path: commentPath(given, id) }),
    }),
    ...(isListed && { changes: { updated: 'updated_at', created: 'created_at' } }),
  });
}

/** Returns the operations on records of a collection of the repository. */
function recordsOf(collection: 'labels' | 'milestones', what: string) {
  const at = (config: Config, id: string) => repositoryPath(config) + path`/${collection}/${id}`;
  return records({
    get: (id, _natives, config) => ({ path: at(config, id) }),
    create: {
      request: (values, config) => ({ method: 'POST', path: `${repositoryPath(config)}/${collection}`, json: values }),
    },
    update: {
      request: (id, values, config) => ({ method: 'PATCH', path: at(config, id), json: values }),
      record: ({ body }) => json.object(body, what),
    },
    remove: (id, config) => ({ method: 'DELETE', path: at(config, id) }),
  });
}

const labels = defineObject({
  label: 'Labels',
  description: 'Labels of the repository. Their names are their ids.',
  fields: {
    id: { type: 'string', native: 'name', nullable: false },
    ...fieldsOf(official, 'label', {
      pick: 'node_id name color description default',
      but: { name: { ...MADE, required: true }, color: { ...KEPT }, description: { ...KEPT } },
    }),
  },
  list: list({
    request: ({ page }, config) => ({ path: `${repositoryPath(config)}/labels`, query: page }),
    rows: rowsOf,
    paging: LINKS,
  }),
  ...recordsOf('labels', 'a label'),
});

const milestones = defineObject<Inputs>({
  label: 'Milestones',
  description: 'Milestones of the repository. Their numbers are their ids.',
  fields: {
    id: { type: 'integer', native: 'number', nullable: false },
    ...fieldsOf(official, 'milestone', {
      pick: 'node_id number title description state open_issues closed_issues due_on created_at updated_at closed_at html_url',
      but: {
        title: { ...KEPT, required: true },
        ...all(KEPT, 'description due_on'),
        state: { ...KEPT, domain: { closed: true }, filter: can.only('exact', '=') },
      },
    }),
    creator: { type: 'string', native: 'creator.login' },
  },
  translator: inputs({ state: 'state' }),
  list: list<Inputs>({
    request: ({ page, filter }, config) => ({
      path: `${repositoryPath(config)}/milestones`,
      query: { state: 'all', sort: 'due_on', direction: 'asc', ...filter, ...page },
    }),
    rows: rowsOf,
    paging: LINKS,
  }),
  ...recordsOf('milestones', 'a milestone'),
});

/** Returns the objects of an owner. Labels and milestones belong to one repository, so they need `github.repository`. */
export function objectsOf(config: Config): Objects {
  const children = { comments: comments(config, true) };
  const isFixed = repositoryOf(config) !== undefined;
  return {
    repositories,
    issues: issues(isFixed, children),
    pull_requests: pullRequests(isFixed, children),
    comments: comments(config, false),
    users,
    ...(isFixed && { labels, milestones }),
  };
}
