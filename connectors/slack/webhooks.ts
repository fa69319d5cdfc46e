import {
  type Config,
  handshakes,
  type Json,
  json,
  type ProviderEvent,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';

/** The configuration keys of the app's signing secret, and of the workspace whose events are read. */
export const SIGNING_SECRET = 'webhook.secret';
export const TEAM = 'slack.team.id';

const TIMESTAMP = 'x-slack-request-timestamp';

/** The events of the Events API, each with what it says about which record. Source: the reference of events. */
const EVENTS: Readonly<
  Record<string, readonly [object: string, action: ProviderEvent['action'], id: readonly string[]]>
> = {
  channel_created: ['channels', 'created', ['channel', 'id']],
  channel_rename: ['channels', 'updated', ['channel', 'id']],
  channel_archive: ['channels', 'updated', ['channel']],
  channel_unarchive: ['channels', 'updated', ['channel']],
  channel_deleted: ['channels', 'deleted', ['channel']],
  group_rename: ['channels', 'updated', ['channel', 'id']],
  group_archive: ['channels', 'updated', ['channel']],
  group_unarchive: ['channels', 'updated', ['channel']],
  group_deleted: ['channels', 'deleted', ['channel']],
  team_join: ['users', 'created', ['user', 'id']],
  user_change: ['users', 'updated', ['user', 'id']],
  user_profile_changed: ['users', 'updated', ['user', 'id']],
  subteam_created: ['usergroups', 'created', ['subteam', 'id']],
  subteam_updated: ['usergroups', 'updated', ['subteam', 'id']],
  file_created: ['files', 'created', ['file_id']],
  file_change: ['files', 'updated', ['file_id']],
  file_deleted: ['files', 'deleted', ['file_id']],
};

/** The events of an app, signed with its signing secret. Source: "Verifying requests from Slack". */
export const appWebhooks: Webhooks = {
  secretKey: SIGNING_SECRET,
  verify: webhooks.hmac({
    header: 'x-slack-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    signatures: (header) => (header.startsWith('v0=') ? [header.slice('v0='.length)] : []),
    signed: ({ headers, body }) => ['v0:', headers[TIMESTAMP] ?? '', ':', body],
    signedAt: ({ headers }) => headers[TIMESTAMP],
  }),
  handshake: handshakes.echo({ body: ['challenge'] }),
  events: readEvents,
  reports: {
    ...webhooks.allChangesOf(['channels', 'messages', 'usergroups', 'files']),
    users: ['created', 'updated'],
  },
  setup: [
    'Set `webhook.secret` to the signing secret of the app, under “Basic Information”.',
    'Open “Event Subscriptions” of the app, and enter the `eventUrl` of the instance as the request URL.',
    'Subscribe the bot to `message.channels`, and to the other events that you want: `channel_created`, `team_join`, `file_created` …',
    'Save the changes, and invite the app to the channels.',
  ],
};

/** An app has one address for all workspaces that installed it, so events of other workspaces are left out. */
function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const body = json.object(webhooks.json(call), 'an event');
  const team = config[TEAM];
  if (body.type !== 'event_callback' || (team !== undefined && body.team_id !== team)) return [];
  const event = json.object(body.event, 'the event');
  const change = event.type === 'message' ? readMessage(event) : readChange(event);
  if (change === undefined) return [];
  const at = new Date(Number(body.event_time) * 1000);
  return [{ ...change, id: json.text(body.event_id, 'the id of the event'), at, raw: body }];
}

type Change = Pick<ProviderEvent, 'action' | 'objectName' | 'objectId'>;

function readChange(event: Json): Change | undefined {
  const type = String(event.type);
  const [objectName, action, path] = (Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined) ?? [];
  if (objectName === undefined || action === undefined || path === undefined) return undefined;
  const objectId = json.text(json.at(event, ...path), 'the id of the record');
  const isDisabled = objectName === 'usergroups' && Number(json.at(event, 'subteam', 'date_delete') ?? 0) > 0;
  return { objectName, objectId, action: isDisabled ? 'deleted' : action };
}

/** Reads a new, changed or deleted message: https://docs.slack.dev/reference/events/message */
function readMessage(event: Json): Change {
  const [action, ts] =
    event.subtype === 'message_deleted'
      ? (['deleted', event.deleted_ts] as const)
      : event.subtype === 'message_changed'
        ? (['updated', json.at(event, 'message', 'ts')] as const)
        : (['created', event.ts] as const);
  const channel = json.text(event.channel, 'the channel');
  return { objectName: 'messages', objectId: `${channel}-${json.text(ts, 'the timestamp')}`, action };
}
