import {
  type Call,
  empty,
  type MovableClock,
  type SimulatedResponse,
  type SimulatorOptions,
  type TableRow,
} from '#connector/simulator';
import { notFound, refusal } from './records.ts';

const WEEK_MS = 7 * 86_400_000;

/** The channels that report changes. Source: "Notifications for resource changes". */
export function createChannels(clock: MovableClock, send: SimulatorOptions['send']) {
  let changes = 0;
  const channels = new Map<string, TableRow>();

  function notify({ id, token, expiration, address, resourceId, resourceUri }: TableRow, state: 'sync' | 'change') {
    const headers = {
      ...{ 'x-goog-channel-id': String(id), 'x-goog-resource-id': String(resourceId), 'x-goog-resource-state': state },
      ...{ 'x-goog-resource-uri': String(resourceUri), 'x-goog-message-number': String(changes + 1) },
      'x-goog-channel-expiration': new Date(Number(expiration)).toUTCString(),
      ...(token != null && { 'x-goog-channel-token': String(token) }),
    };
    if (clock.now() < Number(expiration)) send?.({ url: String(address), headers, body: '' });
  }

  return {
    note: (): void => {
      changes++;
      for (const channel of channels.values()) notify(channel, 'change');
    },
    watch: ({ body, origin, path }: Call): TableRow => {
      const { id, type, address, token, expiration = String(clock.now() + WEEK_MS) } = body.object();
      const isUrl = typeof address === 'string' && address.startsWith('https://');
      if (typeof id !== 'string' || type !== 'web_hook' || !isUrl) {
        throw refusal('push.webhookUrlNotHttps', 'WebHook callback must be HTTPS');
      }
      if (channels.has(id)) throw refusal('channelIdNotUnique', `Channel id ${id} not unique`);
      const shown = {
        kind: 'api#channel',
        id,
        token,
        expiration,
        resourceId: 'ret08u3rv24',
        resourceUri: origin + path,
      };
      channels.set(id, { ...shown, address });
      notify({ ...shown, address }, 'sync');
      return shown;
    },
    stop: ({ body }: Call): SimulatedResponse => {
      const { id, resourceId } = body.object();
      if (channels.get(String(id))?.resourceId !== resourceId) throw notFound(String(id), 'Channel');
      channels.delete(String(id));
      return empty();
    },
  };
}
