import {
  type Config,
  can,
  defineObject,
  type FieldsOfOptions,
  fieldsOf,
  type Json,
  json,
  type ListInput,
  type ObjectSpec,
  type Objects,
  type ProviderRequest,
  path,
  records,
} from '#connector';
import { idAt, ownerKindOf, ownerOf, placeOf, repositoryOf } from './account.ts';
import {
  all,
  BRANCH,
  COUNT,
  FLAG,
  ISSUE_TYPE,
  KEPT,
  LABELS,
  LOGIN_LIST,
  MADE,
  MILESTONE,
  repositoryField,
  STATE,
  TIME,
  UNLISTED,
  WORK,
  WRITTEN,
} from './fields.ts';
import official from './official.json' with { type: 'json' };
import { instantText, listOf, quote, type Search, searchBy, searchedLogin } from './search.ts';

/** The two kinds of a search for issues. */
interface Work {
  readonly word: 'is:issue' | 'is:pr';
  /** The last part of the path of one record. */
  readonly segment: 'issues' | 'pulls';
}

/** Returns the name of the repository in the address of a record or of its repository. */
function repositoryIn(row: Json): string {
  const [, name] = /\/repos\/[^/]+\/([^/]+)(?:\/|$)/.exec(String(row.repository_url ?? row.url)) ?? [];
  return json.text(name, 'the repository of a record');
}

/** Returns a record with the id by which the API finds it. A search has the time of a merge inside an object, and one record does not. */
function toRecord(row: Json): Json {
  const repository = repositoryIn(row);
  const id = idAt(repository, json.key(row.number, 'the number of a record'));
  return { ...row, id, repository, merged_at: row.merged_at ?? json.at(row, 'pull_request', 'merged_at') ?? null };
}

const translator = searchBy({
  ranges: {
    created_at: 'created',
    updated_at: 'updated',
    closed_at: 'closed',
    merged_at: 'merged',
    comments: 'comments',
  },
  words: {
    state: (text) => `state:${text}`,
    locked: (text) => (text === 'true' ? 'is:locked' : 'is:unlocked'),
    draft: (text) => `draft:${text}`,
    'user.login': (text) => `author:${searchedLogin(text)}`,
    'assignee.login': (text) => `assignee:${searchedLogin(text)}`,
    'milestone.title': (text) => `milestone:${quote(text)}`,
  },
  missing: {
    'assignee.login': ['no:assignee'],
    'milestone.title': ['no:milestone'],
    closed_at: ['is:open', 'is:closed'],
    merged_at: ['is:unmerged', 'is:merged'],
  },
  // The longest owner and a long repository, the kind, and parameters.
  reserved: 140,
});

const PARAMETERS = {
  label: { type: 'string', description: 'A label of the records.' },
  mentions: { type: 'string', description: 'The login of a person whom the records mention.' },
  text: { type: 'string', description: 'A phrase in the title, the text or the comments, as GitHub searches it.' },
} as const;

function baseOf(word: string, config: Config, { parameters }: ListInput<Search>): readonly string[] {
  const { label, mentions, text } = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, value.kind === 'string' ? quote(value.value) : undefined]),
  );
  const repository = repositoryOf(config);
  const kind = ownerKindOf(config) === 'organization' ? 'org' : 'user';
  return [
    repository === undefined ? `${kind}:${ownerOf(config)}` : `repo:${ownerOf(config)}/${repository}`,
    word,
    ...(label === undefined ? [] : [`label:${label}`]),
    ...(mentions === undefined ? [] : [`mentions:${mentions.slice(1, -1)}`]),
    ...(text === undefined ? [] : [text]),
  ];
}

/** Returns the beginning of the changes of a filter that a list without a search has too; undefined for any other filter. */
function sinceOf({ words, ranges }: Pick<Search, 'words' | 'ranges'> = { words: [], ranges: {} }): number | undefined {
  const { updated: { from = 0, to } = {}, ...others } = ranges;
  const isPlain = words.length === 0 && Object.keys(others).length === 0 && to === undefined;
  return isPlain ? from : undefined;
}

/** Returns the list of one repository, which shows changes at once and all rows, where it finds what is wanted. */
function plainOf(config: Config, { filter, parameters, orderBy }: ListInput<Search>): ProviderRequest | undefined {
  const since = sinceOf(filter);
  if (repositoryOf(config) === undefined || since === undefined || Object.keys(parameters).length > 0) return undefined;
  const [term] = orderBy;
  const query = {
    state: 'all',
    sort: term?.field.native === 'updated_at' ? 'updated' : 'created',
    direction: term?.direction ?? 'asc',
    // GitHub returns what changed after the time, and does not say whether it includes the time itself.
    ...(since > 0 && { since: instantText(since - 1000) }),
  };
  return { path: path`/repos/${ownerOf(config)}/${repositoryOf(config) ?? ''}/issues`, query };
}

function operationsOn({ word, segment }: Work) {
  const at = (config: Config, repository: string) => path`/repos/${ownerOf(config)}/${repository}/${segment}`;
  const one = (config: Config, id: string) => {
    const { repository, key } = placeOf(id);
    return `${at(config, repository)}/${key}`;
  };
  return {
    translator,
    shape: { kind: 'any' } as const,
    limits: { maxSortFields: 1 },
    parameters: PARAMETERS,
    list: listOf({
      search: '/search/issues',
      base: (config, input) => baseOf(word, config, input),
      plain: plainOf,
      sorts: { created_at: 'created', updated_at: 'updated' },
      continues: true,
      // The list of a repository has issues and pull requests.
      isRow: (row, { filter }) =>
        (row.pull_request == null) === (word === 'is:issue') &&
        Date.parse(String(row.updated_at)) >= (sinceOf(filter) ?? 0),
      toRecord,
    }),
    ...records({
      get: (id, _natives, config) => ({ path: one(config, id) }),
      record: ({ body }) => toRecord(json.object(body, 'a record')),
      create: {
        request: ({ repository, ...values }, config) => ({
          method: 'POST',
          path: at(config, String(repository ?? repositoryOf(config))),
          json: values,
        }),
      },
      update: {
        request: (id, values, config) => ({ method: 'PATCH', path: one(config, id), json: values }),
        record: ({ body }) => toRecord(json.object(body, 'a record')),
      },
    }),
    changes: {
      updated: 'updated_at',
      created: 'created_at',
      // The search finds a change some moments later, and GitHub does not say how many.
      overlapSeconds: 120,
      reports: ['created', 'updated'],
    },
  } satisfies Partial<ObjectSpec<Search>>;
}

const SHARED =
  'id node_id number title body state locked active_lock_reason labels comments draft author_association html_url created_at updated_at closed_at';
const SHARED_BUT: NonNullable<FieldsOfOptions['but']> = {
  id: { type: 'string', format: undefined },
  title: { ...KEPT, required: true, filter: {} },
  body: WRITTEN,
  state: { ...STATE, updateable: true, values: ['open', 'closed'], clearable: false },
  locked: FLAG,
  comments: COUNT,
  draft: {},
  ...all({ ...TIME, sortable: true }, 'created_at updated_at'),
  closed_at: { ...TIME, filter: { ...TIME.filter, ...can.null } },
};

/** Issues. GitHub's API cannot delete them, so they are closed. */
export function issues(isFixed: boolean, children: Objects): ObjectSpec {
  return defineObject<Search>({
    label: 'Issues',
    aliases: ['incidents'],
    fields: {
      ...fieldsOf(official, 'issue', {
        pick: `${SHARED} state_reason milestone assignees type`,
        but: {
          ...SHARED_BUT,
          labels: LABELS,
          assignees: LOGIN_LIST,
          milestone: { ...MILESTONE, ...WRITTEN },
          type: { ...ISSUE_TYPE, ...WRITTEN },
          state_reason: { updateable: true },
        },
      }),
      repository: repositoryField(isFixed),
      ...WORK,
    },
    children,
    ...operationsOn({ word: 'is:issue', segment: 'issues' }),
  });
}

/** Pull requests. Lists have the fields that they share with issues. */
export function pullRequests(isFixed: boolean, children: Objects): ObjectSpec {
  return defineObject<Search>({
    label: 'Pull requests',
    aliases: ['pulls'],
    fields: {
      ...fieldsOf(official, 'pull-request', {
        pick: `${SHARED} milestone assignees merged_at merged mergeable mergeable_state merge_commit_sha additions deletions changed_files commits review_comments maintainer_can_modify`,
        but: {
          ...SHARED_BUT,
          draft: { ...FLAG, ...MADE },
          labels: { ...LABELS, createable: false, updateable: false },
          assignees: { ...LOGIN_LIST, createable: false, updateable: false },
          milestone: MILESTONE,
          merged_at: { ...TIME, filter: { ...TIME.filter, ...can.null } },
          ...all(
            UNLISTED,
            'merged mergeable mergeable_state merge_commit_sha additions deletions changed_files commits review_comments',
          ),
          maintainer_can_modify: { ...KEPT, ...UNLISTED },
        },
      }),
      head: { ...BRANCH, ...MADE, required: true },
      base: { ...BRANCH, ...KEPT, required: true },
      repository: repositoryField(isFixed),
      ...WORK,
    },
    children,
    ...operationsOn({ word: 'is:pr', segment: 'pulls' }),
  });
}
