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
export const FILES_HOST = 'files.slack.com';
/** Some files are stored elsewhere, such as documents of Google. */
const isExternal = (index: number) => index % 8 === 5;
/** A file whose bytes are at a host that is not Slack's. */
const FOREIGN = 13;
const nameOf = (index: number) => `file-${index}.${FILETYPES(index)}`;
const fileUrl = (index: number, way: string) =>
  `https://${FILES_HOST}/files-pri/${TEAM_ID}-${fileId(index)}/${way}${nameOf(index)}`;
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

type Index = number;

function kindsAt(clock: MovableClock) {
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  const touch = () => ({ updated: clock.now() });
  return {
    channels: {
      ...{ schema: 'Conversation', missing: 'channel_not_found', rows: CHANNELS, makeId: channelId },
      ...{ created: ['created'], touch, retired: { is_archived: true }, made: { is_archived: false } },
      members: membersOf(
        'Conversation',
        'id name created creator is_archived is_private is_channel updated num_members',
      ),
      initial: {
        ...{ creator: BOT.user, is_channel: true, is_private: false, num_members: 1 },
        topic: NONE,
        purpose: NONE,
      },
      vary: {
        name: (index: Index) => `${pick(['general', 'random', 'straße', '日本', 'ops_2'], index)}-${index}`,
        ...{ created: seconds, updated: (index: Index) => seconds(index) * 1000 + 1234, creator: user },
        ...{ topic, purpose: topic, name_normalized: (index: Index) => `channel-${index}`, is_channel: () => true },
        ...{ is_archived: (index: Index) => index % 5 === 4, is_private: (index: Index) => index % 4 === 3 },
        num_members: (index: Index) => membersIn({ id: channelId(index) }).length,
      },
    },
    users: {
      ...{ schema: 'User', missing: 'user_not_found', rows: USERS, makeId: userId, label: 'real_name' },
      ...{ changed: ['updated'], retired: { deleted: true } },
      members: membersOf(
        'User',
        `id name real_name tz_label is_admin is_owner is_bot is_app_user is_restricted updated profile.title profile.phone
        profile.real_name profile.display_name profile.status_text profile.status_emoji profile.first_name profile.last_name`,
      ),
      vary: {
        ...{ team_id: () => TEAM_ID, name: (index: Index) => `user${index}`, updated: seconds, color: () => '9f69e7' },
        deleted: (index: Index) => index % 6 === 5,
        tz: sparse(7, cycle(['Europe/Vienna', 'America/Los_Angeles', 'Asia/Tokyo'])),
        ...{ tz_offset: cycle([3600, -28_800, 32_400]), locale: cycle(['de-AT', 'en-US']) },
        'profile.email': sparse(8, (index) => `user${index}@example.com`),
      },
    },
    usergroups: {
      ...{ schema: 'Usergroup', missing: 'no_such_subteam', rows: 24, makeId: groupId, label: 'name' },
      ...{ created: ['date_create'], changed: ['date_update'], retired: { date_delete: FIRST_SECONDS } },
      ...{ initial: NEW_GROUP, made: { date_delete: 0 } },
      members: membersOf('Usergroup', 'id name description date_create date_update'),
      vary: {
        ...{ team_id: () => TEAM_ID, handle: (index: Index) => `group-${index}`, created_by: user, updated_by: user },
        ...{ date_create: seconds, date_update: (index: Index) => seconds(index) + 60 },
        date_delete: (index: Index) => (index % 4 === 3 ? seconds(index) + 60 : 0),
        ...{ is_usergroup: () => true, is_subteam: () => true, user_count: (index: Index) => 1 + (index % 5) },
        prefs: (index: Index) => ({ channels: index % 2 === 0 ? [channelId(index)] : [], groups: [] }),
        users: (index: Index) => Array.from({ length: 1 + (index % 5) }, (_, each) => userId(index + each)),
      },
    },
    files: {
      ...{ schema: 'File', missing: 'file_not_found', rows: 60, makeId: fileId, label: 'title' },
      created: ['created', 'timestamp'],
      members: membersOf('File', 'id created timestamp title pretty_type is_public editable'),
      vary: {
        ...{ created: seconds, timestamp: seconds, user, filetype: FILETYPES, size: (index: Index) => index * 1111 },
        name: nameOf,
        mimetype: cycle(['image/png', 'application/pdf', 'application/zip', 'text/plain']),
        mode: (index: Index) => (isExternal(index) ? 'external' : FILETYPES(index) === 'text' ? 'snippet' : 'hosted'),
        is_external: isExternal,
        url_private: (index: Index) => (isExternal(index) ? 'https://docs.example.com/1' : fileUrl(index, '')),
        url_private_download: (index: Index) => {
          if (index === FOREIGN) return 'https://docs.example.com/download/1';
          return isExternal(index) ? undefined : fileUrl(index, 'download/');
        },
        channels: (index: Index) => [channelId(index % 4)],
      },
    },
    messages: {
      ...{ schema: 'Message', missing: 'message_not_found', rows: MESSAGES, key: 'ts', label: 'text' },
      makeId: (index: Index) => (index < MESSAGES ? messageAt(index) : stampOf(nowSeconds(), index)),
      initial: { type: 'message', team: TEAM_ID, ...BOT },
      made: { channel: DEMO_CHANNEL, thread_ts: null },
      members: membersOf('Message', 'text ts'),
      vary: {
        ...{ type: () => 'message', user, team: () => TEAM_ID },
        channel: (index: Index) => (Math.floor(index / THREAD) % 4 === 3 ? channelId(2) : DEMO_CHANNEL),
        thread_ts: (index: Index) => (index % THREAD < 3 ? messageAt(index - (index % THREAD)) : null),
        subtype: (index: Index) => (index % (THREAD * 2) === 2 ? 'thread_broadcast' : null),
      },
    },
  } as const satisfies Readonly<Record<string, Kind>>;
}

const NONE = { value: '', creator: '', last_set: 0 };
const NEW_GROUP = {
  ...{ team_id: TEAM_ID, description: '', handle: '', created_by: BOT.user, updated_by: BOT.user },
  ...{ date_delete: 0, is_usergroup: true, is_subteam: true, users: [], user_count: 0 },
  prefs: { channels: [], groups: [] },
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
