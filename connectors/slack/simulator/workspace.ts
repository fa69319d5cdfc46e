import {
  type Collection,
  type CollectionSpec,
  createCollections,
  createConform,
  cycle,
  Fault,
  HOSTILE_TEXTS,
  type Members,
  type MovableClock,
  pick,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

export const TEAM_ID = 'T012AB3C4';
export const BOT = { user: 'U0BOT0001', bot_id: 'B0BOT0001' } as const;

const ids = (prefix: string) => (index: number) => `${prefix}0SIM${String(index).padStart(5, '0')}`;
const [channelId, userId, groupId, fileId] = [ids('C'), ids('U'), ids('S'), ids('F')];

/** A channel with messages. */
export const DEMO_CHANNEL = channelId(1);

const CHANNELS = 30;
const USERS = 140;
const MESSAGES = 180;
/** Every message of this number is the parent of a thread, to which the two behind it belong. */
const THREAD = 9;
const FIRST_SECONDS = 1_703_894_400;
const seconds = (index: number) => FIRST_SECONDS + Math.floor(index / 2) * 90_000;
const user = (index: number) => userId((index * 7) % USERS);
const topic = (index: number) => ({
  value: pick(HOSTILE_TEXTS, index).slice(0, 250),
  creator: user(index),
  last_set: seconds(index),
});
const FILETYPES = cycle(['png', 'pdf', 'zip', 'text']);
const stampOf = (atSeconds: number, part: number) => `${atSeconds}.${String(part).padStart(6, '0')}`;
const messageAt = (index: number) => stampOf(FIRST_SECONDS + index * 60, index);

interface Kind extends CollectionSpec {
  readonly schema: string;
  /** The provider's word for a record that does not exist. */
  readonly missing: string;
}

/** Returns members of a schema by name. Those that no row needs, such as addresses of pictures, are left out. */
function membersOf(schema: string, wanted: string): Members {
  const names = wanted.split(/\s+/);
  return Object.fromEntries(Object.entries(schemaMembers(official, schema)).filter(([path]) => names.includes(path)));
}

function kindsAt(clock: MovableClock) {
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  const touchMs = () => ({ updated: clock.now() });
  return {
    channels: {
      schema: 'Conversation',
      missing: 'channel_not_found',
      members: membersOf(
        'Conversation',
        'id name name_normalized created creator is_archived is_private is_channel topic purpose updated num_members',
      ),
      rows: CHANNELS,
      makeId: channelId,
      created: ['created'],
      touch: touchMs,
      retired: { is_archived: true },
      initial: ({ name }: TableRow) => ({
        ...{ name_normalized: name, creator: BOT.user, is_channel: true, is_archived: false, is_private: false },
        ...{ topic: NONE, purpose: NONE, num_members: 1, ...touchMs() },
      }),
      made: { is_archived: false },
      vary: {
        name: (index: number) => `${pick(['general', 'random', 'straße', '日本', 'ops_2'], index)}-${index}`,
        name_normalized: (index: number) => `channel-${index}`,
        created: seconds,
        updated: (index: number) => seconds(index) * 1000 + 1234,
        creator: user,
        topic,
        purpose: topic,
        is_archived: (index: number) => index % 5 === 4,
        is_private: (index: number) => index % 4 === 3,
        is_channel: () => true,
        num_members: (index: number) => membersIn({ id: channelId(index) }).length,
      },
    },
    users: {
      schema: 'User',
      missing: 'user_not_found',
      members: membersOf(
        'User',
        'id team_id name real_name deleted tz tz_label tz_offset is_admin is_owner is_bot is_app_user is_restricted updated locale color profile.title profile.phone profile.real_name profile.display_name profile.status_text profile.status_emoji profile.first_name profile.last_name profile.email',
      ),
      rows: USERS,
      makeId: userId,
      changed: ['updated'],
      retired: { deleted: true },
      label: 'real_name',
      vary: {
        team_id: () => TEAM_ID,
        name: (index: number) => `user${index}`,
        updated: seconds,
        color: () => '9f69e7',
        deleted: (index: number) => index % 6 === 5,
        tz: sparse(7, cycle(['Europe/Vienna', 'America/Los_Angeles', 'Asia/Tokyo'])),
        tz_offset: cycle([3600, -28_800, 32_400]),
        locale: cycle(['de-AT', 'en-US']),
        'profile.email': sparse(8, (index) => `user${index}@example.com`),
      },
    },
    usergroups: {
      schema: 'Usergroup',
      missing: 'no_such_subteam',
      members: membersOf(
        'Usergroup',
        'id team_id name handle description date_create date_update date_delete created_by updated_by is_usergroup is_subteam user_count',
      ),
      rows: 24,
      makeId: groupId,
      created: ['date_create'],
      changed: ['date_update'],
      retired: { date_delete: FIRST_SECONDS },
      initial: () => ({ ...OWN_GROUP, prefs: { channels: [], groups: [] } }),
      made: { date_delete: 0 },
      label: 'name',
      vary: {
        team_id: () => TEAM_ID,
        handle: (index: number) => `group-${index}`,
        date_create: seconds,
        date_update: (index: number) => seconds(index) + 60,
        date_delete: (index: number) => (index % 4 === 3 ? seconds(index) + 60 : 0),
        created_by: user,
        updated_by: user,
        is_usergroup: () => true,
        is_subteam: () => true,
        user_count: (index: number) => 1 + (index % 5),
        prefs: (index: number) => ({ channels: index % 2 === 0 ? [channelId(index)] : [], groups: [] }),
        users: (index: number) => Array.from({ length: 1 + (index % 5) }, (_, each) => userId(index + each)),
      },
    },
    files: {
      schema: 'File',
      missing: 'file_not_found',
      members: membersOf(
        'File',
        'id created timestamp name title user filetype pretty_type mimetype mode size is_public is_external editable',
      ),
      rows: 60,
      makeId: fileId,
      created: ['created', 'timestamp'],
      label: 'title',
      vary: {
        created: seconds,
        timestamp: seconds,
        name: (index: number) => `file-${index}.${FILETYPES(index)}`,
        user,
        filetype: FILETYPES,
        mimetype: cycle(['image/png', 'application/pdf', 'application/zip', 'text/plain']),
        mode: (index: number) => (FILETYPES(index) === 'text' ? 'snippet' : 'hosted'),
        size: (index: number) => index * 1111,
        channels: (index: number) => [channelId(index % 4)],
      },
    },
    messages: {
      schema: 'Message',
      missing: 'message_not_found',
      key: 'ts',
      members: membersOf('Message', 'type text ts user'),
      rows: MESSAGES,
      makeId: (index: number) => (index < MESSAGES ? messageAt(index) : stampOf(nowSeconds(), index)),
      initial: () => ({ type: 'message', team: TEAM_ID, ...BOT }),
      made: { channel: DEMO_CHANNEL, thread_ts: null },
      label: 'text',
      vary: {
        type: () => 'message',
        user,
        team: () => TEAM_ID,
        channel: (index: number) => (Math.floor(index / THREAD) % 4 === 3 ? channelId(2) : DEMO_CHANNEL),
        thread_ts: (index: number) => (index % THREAD < 3 ? messageAt(index - (index % THREAD)) : null),
        subtype: (index: number) => (index % (THREAD * 2) === 2 ? 'thread_broadcast' : null),
      },
    },
  } as const satisfies Readonly<Record<string, Kind>>;
}

const NONE = { value: '', creator: '', last_set: 0 };
const OWN_GROUP = {
  ...{ team_id: TEAM_ID, description: '', handle: '', created_by: BOT.user, updated_by: BOT.user },
  ...{ date_delete: 0, is_usergroup: true, is_subteam: true, users: [], user_count: 0 },
};

/** Returns the members of a channel. */
export function membersIn({ id }: TableRow): readonly string[] {
  const index = Number(String(id).slice(-5));
  return Array.from({ length: 3 + ((index * 5) % 40) }, (_, each) => userId((index + each * 3) % USERS));
}

export type Name = keyof ReturnType<typeof kindsAt>;
export type Workspace = Readonly<Record<Name, Collection<Kind, Name>>>;

/** Creates the channels, users, user groups, files and messages of a workspace. */
export function createWorkspace(clock: MovableClock, onChange: (name: Name, change: TableChange) => void): Workspace {
  return createCollections<Name, Kind>({
    clock,
    onChange,
    of: kindsAt(clock),
    writeTime: (ms) => Math.floor(ms / 1000),
    refuse: () => undefined,
    absent: ({ missing }) => new Fault(404, missing, missing),
  });
}

const conform = createConform(official, { replacesWrong: true });

/** Returns a row in the form of its schema. */
export function show({ schema }: Kind, row: TableRow): TableRow {
  return conform(row, schema);
}
