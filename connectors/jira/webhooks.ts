import {
  type ConfigField,
  type ConnectorContext,
  type Json,
  json,
  type ProviderEvent,
  rejected,
  type Verify,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { quote } from './jql.ts';
import { readProjectKeys } from './projects.ts';

/** The secret that verifies webhooks. */
export const WEBHOOK_SECRET = {
  key: 'webhook.secret',
  type: 'string',
  label: 'Secret of the webhook',
  secret: true,
} as const satisfies Omit<ConfigField, 'description'>;

const REPORTED = {
  verify: webhooks.hmac({
    header: 'x-hub-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    signatures: (header) => (header.startsWith('sha256=') ? [header.slice('sha256='.length)] : []),
  }),
  secretKey: WEBHOOK_SECRET.key,
  reports: webhooks.allChangesOf(['issues', 'comments', 'worklogs', 'projects']),
  events: (call: WebhookCall) => readEvent(call),
} as const satisfies Webhooks;

/** Webhooks that an administrator enters, signed with their secret. Source: "Webhooks", secure admin webhooks. */
export const enteredWebhooks: Webhooks = {
  ...REPORTED,
  setup: [
    'In Jira, open Settings → System → WebHooks, and create a webhook.',
    'Enter the `eventUrl` of the instance as the URL.',
    'Generate a secret, and set `webhook.secret` to it.',
    'Select the events of issues, comments, worklogs and projects that you want.',
  ],
};

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  created: 'created',
  updated: 'updated',
  deleted: 'deleted',
};

/** Reads `{ webhookEvent: "jira:issue_updated", timestamp, issue, comment?, worklog?, project? }`. */
function readEvent(call: WebhookCall): readonly ProviderEvent[] {
  const event = json.object(webhooks.json(call), 'the event');
  const [, noun = '', verb = ''] =
    /^(?:jira:)?(issue|comment|worklog|project)_(\w+)$/.exec(String(event.webhookEvent)) ?? [];
  const action = ACTIONS[verb];
  if (json.findText(event.webhookEvent) === undefined) throw rejected('The request names no event.');
  if (action === undefined) return [];
  const { objectName, objectId } = recordOf(noun, event);
  const at = Number(event.timestamp);
  const delivery = call.headers['x-atlassian-webhook-identifier'];
  return [
    {
      ...(delivery !== undefined && { id: `${delivery}-${event.webhookEvent}-${objectId}` }),
      action,
      objectName,
      objectId,
      ...(Number.isSafeInteger(at) && { at: new Date(at) }),
      raw: event,
    },
  ];
}

function recordOf(noun: string, event: Json): { readonly objectName: string; readonly objectId: string } {
  const idOf = (...names: readonly string[]) => json.key(json.at(event, ...names), 'the id of the record');
  switch (noun) {
    case 'comment':
      return { objectName: 'comments', objectId: `${idOf('issue', 'id')}-${idOf('comment', 'id')}` };
    case 'worklog':
      return { objectName: 'worklogs', objectId: `${idOf('worklog', 'issueId')}-${idOf('worklog', 'id')}` };
    case 'project':
      return { objectName: 'projects', objectId: idOf('project', 'id') };
    default:
      return { objectName: 'issues', objectId: idOf('issue', 'id') };
  }
}

const WEBHOOK = '/rest/api/3/webhook';
/** Source: the description of the operation `PUT /rest/api/3/webhook/refresh`. */
const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const isSigned = webhooks.hmac({
  header: 'authorization',
  algorithm: 'sha256',
  encoding: 'base64url',
  signatures: (header) => partsOf(header).slice(2),
  signed: ({ headers }) => [partsOf(headers.authorization).slice(0, 2).join('.')],
});

function partsOf(header = ''): readonly string[] {
  return /^(?:Bearer|JWT) ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(header)?.slice(1) ?? [];
}

const TOLERANCE_SECONDS = 300;

/** Verifies a JSON Web Token (RFC 7519) that is signed with the secret of the app. It does not cover the body. */
const verifyToken: Verify = (call, known) => {
  const verdict = isSigned(call, known);
  if (verdict !== 'genuine') return verdict;
  const [, claims = ''] = partsOf(call.headers.authorization);
  const { exp } = Object(JSON.parse(Buffer.from(claims, 'base64url').toString()));
  return typeof exp === 'number' && exp + TOLERANCE_SECONDS < known.now / 1000 ? 'stale' : 'genuine';
};

/** Webhooks that an app registers. Source: the operations of `/rest/api/3/webhook`. */
export const registeredWebhooks: Webhooks = {
  ...REPORTED,
  verify: verifyToken,
  reports: webhooks.allChangesOf(['issues', 'comments']),
  registration: {
    create: {
      run: async (context, { url }) => {
        await removeOld(context, url);
        const { body } = await context.send({
          method: 'POST',
          path: WEBHOOK,
          json: { url, webhooks: [{ events: [...EVENTS], jqlFilter: await filterOfAll(context) }] },
        });
        const [registered] = json.objects(json.at(body, 'webhookRegistrationResult'), 'the registered webhooks');
        const [error] = Array.isArray(registered?.errors) ? registered.errors : [];
        if (error !== undefined) throw rejected(`Jira did not register the webhook: ${String(error)}`);
        const id = json.key(registered?.createdWebhookId, 'the id of the webhook');
        return { id, expiresInSeconds: LIFETIME_SECONDS };
      },
    },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: WEBHOOK, json: { webhookIds: [Number(id)] } }),
      read: () => undefined,
    },
  },
};

const EVENTS = ['issue_created', 'issue_updated', 'issue_deleted']
  .map((event) => `jira:${event}`)
  .concat(['comment_created', 'comment_updated', 'comment_deleted']);

/** Returns the filter for all issues. It can only name projects, so a project that is created later has events after the next renewal. */
async function filterOfAll(context: ConnectorContext): Promise<string> {
  const keys = await readProjectKeys(context);
  if (keys.length === 0) throw rejected('There are no projects yet, so no webhook can be registered.');
  return `project in (${keys.map(quote).join(', ')})`;
}

/** Removes earlier registrations of the same address. */
async function removeOld({ send }: ConnectorContext, url: string): Promise<void> {
  const { body } = await send({ path: WEBHOOK });
  const old = json.objects(json.at(body, 'values'), 'the webhooks').filter((each) => each.url === url);
  if (old.length > 0) await send({ method: 'DELETE', path: WEBHOOK, json: { webhookIds: old.map(({ id }) => id) } });
}
