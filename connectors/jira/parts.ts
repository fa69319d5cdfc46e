import {
  can,
  codec,
  defineObject,
  type FieldSpec,
  type Fields,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  list,
  notFound,
  type ObjectSpec,
  type OneCall,
  path,
} from '#connector';
import { DOCUMENT } from './adf.ts';
import { writeInstant } from './fields.ts';
import official from './official.json' with { type: 'json' };

const USER: Partial<FieldSpec> = {
  type: 'string',
  read: (user) => (json.isObject(user) ? json.at(user, 'accountId') : user),
};
const TIME: Partial<FieldSpec> = { type: 'datetime', read: codec.instant(3).read, write: writeInstant };
const WRITTEN = { createable: true, updateable: true } as const;

/** The fields that name a part of an issue. Its id is the issue and its own id, because Jira needs both to find it. */
const NAMES: Fields = {
  id: { type: 'string', nullable: false },
  issueId: {
    type: 'string',
    nullable: false,
    required: true,
    createable: true,
    label: 'Id or key of the issue',
    filter: can.only('exact', '='),
  },
};

/** The comments of issues. */
export const comments = partsOf({
  segment: 'comment',
  rows: 'comments',
  about: {
    label: 'Comments',
    description: 'Comments of issues. A list needs the issue: `issueId`, or the path of the issue.',
  },
  fields: fieldsOf(official, 'Comment', {
    pick: 'author body created updateAuthor updated jsdPublic',
    but: {
      author: USER,
      updateAuthor: USER,
      body: { type: 'string', required: true, ...WRITTEN, ...DOCUMENT },
      created: TIME,
      updated: TIME,
    },
  }),
});

/** The worklogs of issues: time that was spent on them. */
export const worklogs = partsOf({
  segment: 'worklog',
  rows: 'worklogs',
  about: {
    label: 'Worklogs',
    description: 'Time that was spent on issues. A list needs the issue: `issueId`, or the path of the issue.',
    aliases: ['time-entries'],
  },
  fields: {
    ...fieldsOf(official, 'Worklog', {
      pick: 'author comment created started timeSpent timeSpentSeconds updateAuthor updated',
      but: {
        author: USER,
        updateAuthor: USER,
        comment: { type: 'string', ...WRITTEN, ...DOCUMENT },
        created: TIME,
        updated: TIME,
        started: { ...TIME, ...WRITTEN, required: true },
        timeSpentSeconds: { type: 'integer', required: true, ...WRITTEN, clearable: false },
      },
    }),
    hours: { type: 'number', native: 'timeSpentSeconds', label: 'Hours', read: toHours },
  },
});

/** Returns seconds as hours with two decimals. */
function toHours(seconds: unknown): unknown {
  return typeof seconds === 'number' ? Math.round(seconds / 36) / 100 : seconds;
}

interface Part {
  readonly segment: 'comment' | 'worklog';
  readonly rows: string;
  readonly about: Pick<ObjectSpec, 'label' | 'description' | 'aliases'>;
  readonly fields: Fields;
}

function partsOf({ segment, rows, about, fields }: Part): ObjectSpec {
  const pathOf = (issue: string) => path`/rest/api/3/issue/${issue}/${segment}`;
  const pathTo = (id: string) => {
    const [issue, own] = divide(id);
    return path`/rest/api/3/issue/${issue}/${segment}/${own}`;
  };
  const record = (part: unknown, issueId: string): Json => {
    const own = json.object(part, 'the part of an issue');
    return { ...own, issueId, id: `${issueId}-${json.text(own.id, 'the id')}` };
  };
  const issueOf = ({ filter, parentId }: { readonly filter?: Inputs; readonly parentId?: string }) =>
    parentId ?? String(filter?.issueId ?? '');
  const pages = list<Inputs>({
    request: ({ page, ...input }) => ({ path: pathOf(issueOf(input)), query: page }),
    rows: (body) => json.array(json.at(body, rows), `the list '${rows}'`),
    paging: {
      kind: 'offset',
      offset: 'startAt',
      size: 'maxResults',
      max: 100,
      total: ({ body }) => json.at(body, 'total'),
    },
  });
  return defineObject<Inputs>({
    ...about,
    fields: { ...NAMES, ...fields },
    translator: inputs({ issueId: 'issueId' }),
    requiredFilters: ['issueId'],
    list: {
      ...pages,
      read: (response, input) => {
        const page = pages.read(response, input);
        return { ...page, records: page.records.map((part) => record(part, issueOf(input))) };
      },
    },
    get: { request: ({ id }) => ({ path: pathTo(id) }), read: ({ body }, { id }) => record(body, divide(id)[0]) },
    create: {
      request: ({ values: { issueId, ...values } }) => ({
        method: 'POST',
        path: pathOf(String(issueId)),
        json: values,
      }),
      read: ({ body }, { values }) => record(body, String(values.issueId)),
    },
    update: {
      request: ({ id, values }) => ({ method: 'PUT', path: pathTo(id), json: values }),
      read: ({ body }, { id }) => record(body, divide(id)[0]),
    },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: pathTo(id) }),
      read: () => undefined,
    } satisfies OneCall<{ readonly id: string }, void>,
  });
}

/** Returns the issue and the part's own id: `10010-10000`, or `EX-1-10000` where a key named the issue. */
function divide(id: string): readonly [issue: string, own: string] {
  const [, issue = '', own = ''] = /^(.+)-(\d+)$/.exec(id) ?? [];
  if (own === '') throw notFound('There is no such part of an issue: its id is `<issue>-<id>`.');
  return [issue, own];
}
