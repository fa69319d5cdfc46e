import {
  createOfficialJudges,
  type Deviation,
  type JsonSchema,
  type JudgedPart,
  withNullMembers,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

const properties = (schema: JsonSchema, change: (properties: Readonly<Record<string, JsonSchema>>) => object) => ({
  ...schema,
  properties: { ...Object(schema.properties), ...change(Object(schema.properties)) },
});
const added = (names: readonly string[], reason: string, members: object): readonly Deviation[] =>
  names.map((schema) => ({ schema, reason, change: (given) => properties(given, () => members) }));
const anything = (schema: string, reason: string): Deviation => ({ schema, reason, change: () => ({}) });
const paged = (operation: string): Deviation => ({
  ...{ operation, unjudged: ['query'] },
  reason: '"Pagination" has the parameters `page[size]` and `page[after]` of every list.',
});
const unknown = (operation: string, reason: string, ...unjudged: readonly JudgedPart[]): Deviation => ({
  ...{ operation, unjudged, reason },
});

/** Lets all members of a schema be null. Source: the examples of the documentation. */
const nullable = (schema: string): Deviation => ({
  schema,
  reason: 'Examples of the documentation have null for members without a value.',
  change: withNullMembers,
});

const VALUES = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' }, value: {} } } };
const FIELDS = 'Custom fields are `{ id, value }`, and a value can be of any type.';
const PAGES = {
  meta: {
    type: 'object',
    properties: { has_more: { type: 'boolean' }, after_cursor: { type: ['string', 'null'] }, before_cursor: {} },
  },
  links: { type: 'object', properties: { next: {}, prev: {} } },
};
const LISTS = ['Tickets', 'Users', 'Organizations', 'Groups', 'TicketComments'].map((name) => `${name}Response`);
const DEFINITIONS = ['Ticket', 'User', 'Organization'].map((name) => `${name}FieldsResponse`);
const PAGED =
  'tickets users organizations groups tickets/{ticket_id}/comments search/export ticket_fields user_fields organization_fields';
const STATUSES = ['new', 'open', 'pending', 'hold', 'solved', 'closed', 'deleted'];

export const createJudge = createOfficialJudges(official, [
  ...PAGED.split(' ').map((path) => paged(`GET /api/v2/${path}`)),
  ...added([...LISTS, ...DEFINITIONS], '"Pagination" has `meta` and `links` of every list.', PAGES),
  ...added(['TicketUpdateInput'], FIELDS, { custom_fields: VALUES }),
  ...added(['TicketObject'], FIELDS, { custom_fields: VALUES }),
  ...added(['TicketObject'], 'The incremental export has deleted tickets.', { status: { enum: STATUSES } }),
  ...added(['OrganizationObject'], 'The incremental export has deleted organizations.', {
    deleted_at: { type: ['string', 'null'] },
    organization_fields: { type: ['object', 'null'], additionalProperties: true },
  }),
  ...['TicketObject', 'TicketUpdateInput', 'UserForAdmin', 'GroupObject', 'OrganizationObject', 'Webhook'].map(
    nullable,
  ),
  ...['TicketFieldObject', 'CustomFieldObject'].map(nullable),
  anything('SearchResultObject', 'A result is a whole record of its type.'),
  anything('UserInput', 'Every member of a user can be set, as the description of the endpoint says.'),
  unknown('POST /api/v2/groups', 'The document lacks the body.', 'body'),
  unknown('PUT /api/v2/organizations/{organization_id}', 'The document lacks the body.', 'body'),
  unknown('PUT /api/v2/groups/{group_id}', 'The document lacks the body.', 'body'),
  unknown('GET /oauth/authorizations/new', 'The log-in is in no document.', 'query', 'response'),
  unknown('POST /oauth/tokens', 'The log-in is in no document.', 'body', 'response'),
]);
