import { codec, type FieldSpec, type Fields, fieldsOf, json, type ObjectSpec, parts, path } from '#connector';
import { DOCUMENT } from './adf.ts';
import { writeInstant } from './fields.ts';
import official from './official.json' with { type: 'json' };

const USER: Partial<FieldSpec> = {
  type: 'string',
  read: (user) => (json.isObject(user) ? json.at(user, 'accountId') : user),
};
const TIME: Partial<FieldSpec> = { type: 'datetime', read: codec.instant(3).read, write: writeInstant };
const WRITTEN = { createable: true, updateable: true } as const;

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
  return parts({
    about,
    whole: { field: 'issueId', label: 'Id or key of the issue' },
    // `10010-10000`, or `EX-1-10000` where a key named the issue.
    id: { separator: '-', own: /^\d+$/ },
    fields,
    path: (issue, own) => path`/rest/api/3/issue/${issue}/${segment}` + (own === undefined ? '' : path`/${own}`),
    rows,
    paging: {
      kind: 'offset',
      offset: 'startAt',
      size: 'maxResults',
      max: 100,
      total: ({ body }) => json.at(body, 'total'),
    },
    change: 'PUT',
  });
}
