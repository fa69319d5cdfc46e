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

/** The log of changes, and the channels that report them. Sources: "Retrieve changes", "Notifications for resource changes". */
export function createChanges(clock: MovableClock, send: SimulatorOptions['send']) {
  const log: { readonly fileId: string; readonly time: string }[] = [];
  const channels = new Map<string, TableRow>();

  function notify({ id, token, expiration, address, resourceId, resourceUri }: TableRow, state: 'sync' | 'change') {
    const headers = {
      ...{ 'x-goog-channel-id': String(id), 'x-goog-resource-id': String(resourceId), 'x-goog-resource-state': state },
      ...{ 'x-goog-resource-uri': String(resourceUri), 'x-goog-message-number': String(log.length + 1) },
      'x-goog-channel-expiration': new Date(Number(expiration)).toUTCString(),
      ...(token != null && { 'x-goog-channel-token': String(token) }),
    };
    if (clock.now() < Number(expiration)) send?.({ url: String(address), headers, body: '' });
  }

  return {
    note: (fileId: string): void => {
      log.push({ fileId, time: new Date(clock.now()).toISOString() });
      for (const channel of channels.values()) notify(channel, 'change');
    },
    startPageToken: () => ({ kind: 'drive#startPageToken', startPageToken: String(log.length) }),
    /** Lists the latest change of each file behind a position of the log. */
    list: ({ query, isStuck }: Call, find: (id: string) => TableRow | undefined): TableRow => {
      const [start, size] = [Number(query.get('pageToken') ?? Number.NaN), Number(query.get('pageSize') ?? 100)];
      if (!Number.isInteger(start) || start < 0 || start > log.length) throw refusal('invalid', undefined, 'pageToken');
      const end = Math.min(start + size, log.length);
      const isLatest = ({ fileId }: (typeof log)[number], at: number) =>
        !log.slice(start + at + 1).some((later) => later.fileId === fileId);
      const changes = log
        .slice(start, end)
        .filter(isLatest)
        .map(({ fileId, time }) => {
          const file = find(fileId);
          return { kind: 'drive#change', changeType: 'file', time, fileId, removed: file === undefined, file };
        });
      const next = isStuck ? start : end;
      const token = next < log.length ? { nextPageToken: String(next) } : { newStartPageToken: String(end) };
      return { kind: 'drive#changeList', changes, ...token };
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
