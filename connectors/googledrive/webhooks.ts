import { randomBytes, randomUUID } from 'node:crypto';
import { type ConnectorContext, json, type Registration, rejected, type Webhooks, webhooks } from '#connector';

/** Google ends a channel for changes after a week at the latest. Source: "Notifications for resource changes", "Optional properties". */
const LIFETIME_SECONDS = 7 * 24 * 60 * 60;

/** Channels that report that something changed, and not what. Source: "Notifications for resource changes". */
export const channels: Webhooks = {
  verify: webhooks.token({ header: 'x-goog-channel-token' }),
  events: ({ headers }) => {
    // The first call of a channel only says that it exists.
    if (headers['x-goog-resource-state'] === 'sync') return [];
    const [channel, number] = [headers['x-goog-channel-id'], headers['x-goog-message-number']];
    if (channel === undefined || number === undefined) throw rejected('The call names no channel and no message.');
    const raw = Object.fromEntries(
      Object.entries(headers).filter(([name]) => name.startsWith('x-goog-') && name !== 'x-goog-channel-token'),
    );
    return [{ id: `${channel}-${number}`, action: 'unknown', objectName: 'files', raw }];
  },
  // A call stands for any of them.
  reports: webhooks.allChangesOf(['files']),
  registration: {
    create: { run: (context, { url }) => register(context, url) },
    remove: {
      request: ({ id: registered }) => {
        const [id, resourceId] = registered.split(' ');
        return { method: 'POST', path: '/drive/v3/channels/stop', json: { id, resourceId } };
      },
      read: () => undefined,
    },
  },
};

/** Registers a channel for the changes from now on. Its token is the proof of its calls. */
async function register({ send, config }: ConnectorContext, address: string): Promise<Registration> {
  const driveId = json.findText(config['drive.id']);
  const query = { supportsAllDrives: true, ...(driveId !== undefined && { driveId }) };
  const { body: start } = await send({ path: '/drive/v3/changes/startPageToken', query });
  const token = randomBytes(32).toString('base64url');
  const { body } = await send({
    method: 'POST',
    path: '/drive/v3/changes/watch',
    query: {
      ...query,
      includeItemsFromAllDrives: true,
      pageToken: json.text(json.at(start, 'startPageToken'), 'the start of the changes'),
    },
    json: {
      id: randomUUID(),
      type: 'web_hook',
      address,
      token,
      expiration: String(Date.now() + LIFETIME_SECONDS * 1000),
    },
  });
  const [id, resourceId] = ['id', 'resourceId'].map((name) =>
    json.text(json.at(body, name), `the ${name} of the channel`),
  );
  return { id: `${id} ${resourceId}`, secret: token, expiresInSeconds: LIFETIME_SECONDS };
}
