import { randomBytes } from 'node:crypto';
import {
  type Config,
  type ConnectorContext,
  type Json,
  json,
  type ProviderEvent,
  path,
  type Registration,
  rejected,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { idAt, ownerKindOf, ownerOf, repositoryOf } from './account.ts';

/** An event of GitHub: the object that it reports, and the id of its record. */
interface Kind {
  readonly objectName: string;
  /** The member of the payload that holds the record. */
  readonly member: string;
  readonly idOf: (record: Json, repository: string) => string;
}

const byNumber: Kind['idOf'] = ({ number }, repository) => idAt(repository, json.key(number, 'the number of a record'));

const KINDS: Readonly<Record<string, Kind>> = {
  issues: { objectName: 'issues', member: 'issue', idOf: byNumber },
  pull_request: { objectName: 'pull_requests', member: 'pull_request', idOf: byNumber },
  issue_comment: {
    objectName: 'comments',
    member: 'comment',
    idOf: ({ id }, repository) => idAt(repository, json.key(id, 'the id of a comment')),
  },
  repository: {
    objectName: 'repositories',
    member: 'repository',
    idOf: ({ name }) => json.text(name, 'the name of a repository'),
  },
  label: { objectName: 'labels', member: 'label', idOf: ({ name }) => json.text(name, 'the name of a label') },
  milestone: {
    objectName: 'milestones',
    member: 'milestone',
    idOf: ({ number }) => json.key(number, 'the number of a milestone'),
  },
};

/** Returns the change that an action is. A milestone that is `opened` was closed before. A transferred issue has another repository now. */
function changeIn(event: string, action: string): ProviderEvent['action'] {
  const isOpened = action === 'opened' && (event === 'issues' || event === 'pull_request');
  if (isOpened || action === 'created') return 'created';
  return action === 'deleted' || (action === 'transferred' && event === 'issues') ? 'deleted' : 'updated';
}

/** Webhooks of a repository or an organization. Source: "Webhook events and payloads", "Validating webhook deliveries". */
export const hooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    signatures: (header) => (header.startsWith('sha256=') ? [header.slice('sha256='.length)] : []),
  }),
  reports: webhooks.allChangesOf(Object.values(KINDS).map(({ objectName }) => objectName)),
  events: (call, config) => readEvents(call, config),
  registration: {
    create: { run: (context, { url }) => register(context, url) },
    remove: {
      request: ({ id }, config) => ({ method: 'DELETE', path: hooksPath(config) + path`/${id}` }),
      read: () => undefined,
    },
  },
};

/** Reads the event of a delivery. A `ping` reports no change. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const name = call.headers['x-github-event'] ?? '';
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) return [];
  const body = json.object(webhooks.json(call), 'an event');
  const owner = json.findText(json.at(body, 'repository', 'owner', 'login'));
  const repository = json.text(json.at(body, 'repository', 'name'), 'the repository of an event');
  const wanted = repositoryOf(config);
  const isOurs =
    isSame(owner, ownerOf(config)) &&
    (kind.objectName === 'repositories' || wanted === undefined || isSame(repository, wanted)) &&
    // Without a repository, these are no objects of the instance.
    (wanted !== undefined || !['labels', 'milestones'].includes(kind.objectName));
  if (!isOurs) return [];
  const word = json.text(body.action, 'the action of an event');
  const record = json.object(body[kind.member], 'the record of an event');
  const delivery = json.findText(call.headers['x-github-delivery']);
  const { objectName, idOf } = kind;
  const objectId = idOf(record, repository);
  const event = (action: ProviderEvent['action'], id: string): ProviderEvent => ({
    ...(delivery !== undefined && { id: id === objectId ? delivery : `${delivery}-before` }),
    ...{ action, objectName, objectId: id, raw: body },
  });
  // A new name is a new id.
  const before = json.findText(json.at(body, 'changes', ...(RENAMES[name] ?? []), 'name', 'from'));
  const isRenamed = before !== undefined && RENAMES[name] !== undefined;
  return [event(changeIn(name, word), objectId), ...(isRenamed ? [event('deleted', before)] : [])];
}

/** The path in events to the name before, for objects whose names are their ids. */
const RENAMES: Readonly<Record<string, readonly string[]>> = { label: [], repository: ['repository'] };

/** Names of owners and repositories are compared without regard to case. */
function isSame(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/**
 * Returns the path of the webhooks.
 * @throws AppError where the owner has no webhooks
 */
function hooksPath(config: Config): string {
  const repository = repositoryOf(config);
  if (repository !== undefined) return path`/repos/${ownerOf(config)}/${repository}/hooks`;
  if (ownerKindOf(config) === 'organization') return path`/orgs/${ownerOf(config)}/hooks`;
  throw rejected('GitHub has webhooks of organizations and of repositories. Set github.repository for a user.');
}

/** Registers an address. GitHub never shows a secret again, so a webhook with the same address is replaced. */
async function register({ send, config }: ConnectorContext, url: string): Promise<Registration> {
  const all = hooksPath(config);
  const { body: found } = await send({ path: all, query: { per_page: 100 } });
  for (const hook of json.objects(found, 'the webhooks')) {
    if (json.at(hook, 'config', 'url') !== url) continue;
    await send({ method: 'DELETE', path: all + path`/${json.key(hook.id, 'the id of a webhook')}` });
  }
  const secret = randomBytes(32).toString('hex');
  const { body } = await send({
    method: 'POST',
    path: all,
    json: {
      name: 'web',
      active: true,
      events: Object.keys(KINDS),
      config: { url, content_type: 'json', insecure_ssl: '0', secret },
    },
  });
  return { id: json.key(json.at(body, 'id'), 'the id of the webhook'), secret };
}
