import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { BOT, type Name, TEAM_ID } from './workspace.ts';

type Change = Pick<TableChange, 'before' | 'after'>;
type Event = Readonly<Record<string, unknown>>;

/** Returns the event of a change; undefined for changes that have none. Source: the reference of the Events API. */
const EVENTS: Readonly<Record<Name, (change: Change, present: (row: TableRow) => TableRow) => Event | undefined>> = {
  messages: ({ before, after }, present) => {
    const message = { type: 'message', channel: (after ?? before)?.channel, channel_type: 'channel' };
    if (after === undefined) {
      return (
        before && { ...message, subtype: 'message_deleted', deleted_ts: before.ts, previous_message: present(before) }
      );
    }
    if (before === undefined) return { ...present(after), ...message };
    return { ...message, subtype: 'message_changed', message: present(after), previous_message: present(before) };
  },
  channels: ({ before, after }) => {
    if (after === undefined) return undefined;
    const { id, name, created, creator, is_archived } = after;
    if (before === undefined) return { type: 'channel_created', channel: { id, name, created, creator } };
    if (before.name !== name) return { type: 'channel_rename', channel: { id, name, created } };
    if (before.is_archived === is_archived) return undefined;
    return { type: is_archived === true ? 'channel_archive' : 'channel_unarchive', channel: id, user: BOT.user };
  },
  users: ({ before, after }, present) =>
    after && { type: before === undefined ? 'team_join' : 'user_change', user: present(after) },
  usergroups: ({ before, after }, present) =>
    after && { type: before === undefined ? 'subteam_created' : 'subteam_updated', subteam: present(after) },
  files: ({ before, after }) => {
    const id = (after ?? before)?.id;
    if (after === undefined) return { type: 'file_deleted', file_id: id };
    return { type: before === undefined ? 'file_created' : 'file_change', file_id: id, file: { id } };
  },
};

/** Creates the sender of events to the addresses that people entered. Source: "Verifying requests from Slack". */
export function createEvents(clock: MovableClock, send: SimulatorOptions['send']) {
  const entered = createEnteredWebhooks(send);
  let sent = 0;
  return {
    commands: entered.commands,
    report: (name: Name, change: Change, present: (row: TableRow) => TableRow): void => {
      const event = EVENTS[name](change, present);
      if (event === undefined) return;
      sent++;
      const nowMs = clock.now();
      const event_ts = `${Math.floor(nowMs / 1000)}.${String(sent).padStart(6, '0')}`;
      const body = {
        ...{ token: 'demo-verification-token', team_id: TEAM_ID, api_app_id: 'A0SIM00001' },
        event: { ts: event_ts, ...event, event_ts },
        ...{
          type: 'event_callback',
          event_id: `Ev${String(sent).padStart(9, '0')}`,
          event_time: Math.floor(nowMs / 1000),
        },
      };
      entered.report(({ secret }) =>
        signWebhook(
          {
            secret,
            header: 'x-slack-signature',
            prefix: 'v0=',
            timestamp: { header: 'x-slack-request-timestamp', unit: 'seconds' },
            signed: ({ body: text, timestamp }) => `v0:${timestamp}:${text}`,
          },
          body,
          { nowMs },
        ),
      );
    },
  };
}
