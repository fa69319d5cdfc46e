import {
  type ConnectorContext,
  can,
  codec,
  defined,
  defineObject,
  type FieldSpec,
  type FileDescription,
  fieldsOf,
  type Inputs,
  inputs,
  isDenied,
  json,
  list,
  notFound,
  type ProviderResponse,
  plainText,
  records,
  rejected,
} from '#connector';
import { form, nextCursor } from './form.ts';
import { messagesOfChannel } from './messages.ts';
import official from './official.json' with { type: 'json' };

/** Slack writes 0 for a time that never came. */
const TIME = {
  type: 'datetime',
  read: (native: unknown) => (native === 0 ? null : codec.epochSeconds.read(native)),
  domain: { step: 'second' },
} as const satisfies Partial<FieldSpec>;
const WRITTEN = { createable: true, updateable: true, clearable: false } as const;

/** A topic or a purpose: `{ value, creator, last_set }`. */
const NOTE: Partial<FieldSpec> = {
  type: 'string',
  ...WRITTEN,
  read: (native) => (json.isObject(native) ? json.at(native, 'value') : native),
};

const member =
  (name: string) =>
  ({ body }: ProviderResponse) =>
    json.object(json.at(body, name), `the ${name}`);

/** The methods that set parts of a channel, in the order in which they can be called: an archived channel has no other change. */
const CHANGES: readonly (readonly [field: string, method: (value: unknown) => string, part?: string])[] = [
  ['is_archived', (value) => (value === true ? '' : 'unarchive')],
  ['name', () => 'rename', 'name'],
  ['topic', () => 'setTopic', 'topic'],
  ['purpose', () => 'setPurpose', 'purpose'],
  ['is_archived', (value) => (value === true ? 'archive' : '')],
];

async function change({ send }: ConnectorContext, channel: string, values: Readonly<Record<string, unknown>>) {
  for (const [field, methodOf, part] of CHANGES) {
    const value = values[field];
    const method = value == null ? '' : methodOf(value);
    if (method === '') continue;
    const sent = form({ channel, ...(part !== undefined && { [part]: value }) });
    await send({ method: 'POST', path: `/conversations.${method}`, form: sent });
  }
  return member('channel')(await send(infoOf(channel)));
}

function infoOf(channel: string) {
  return { path: '/conversations.info', query: { channel, include_num_members: true } };
}

/** Public channels, and the private ones that the app is a member of. */
export const channels = defineObject<Inputs>({
  label: 'Channels',
  description: 'Public channels, and private ones that the app is a member of.',
  aliases: ['conversations'],
  fields: fieldsOf(official, 'Conversation', {
    pick: 'id name topic purpose is_private is_archived is_general is_member is_shared is_ext_shared num_members creator created updated previous_names',
    but: {
      name: { required: true, ...WRITTEN },
      topic: NOTE,
      purpose: NOTE,
      is_private: { createable: true, filter: can.only('exact', '=', 'IN') },
      is_archived: { updateable: true, clearable: false, filter: can.only('superset', '=') },
      created: TIME,
      updated: { type: 'datetime', ...codec.epochMilliseconds, domain: { step: 'millisecond' } },
    },
  }),
  translator: inputs({ is_private: 'types', is_archived: 'exclude_archived' }, ',', {
    text: (value, { name }) => {
      const isTrue = value.kind === 'boolean' && value.value;
      if (name === 'is_private') return isTrue ? 'private_channel' : 'public_channel';
      return String(!isTrue);
    },
  }),
  list: list<Inputs>({
    request: ({ filter, page }) => ({
      path: '/conversations.list',
      query: { types: 'public_channel,private_channel', ...filter, ...page },
    }),
    rows: (body) => json.array(json.at(body, 'channels'), 'the channels'),
    paging: { kind: 'cursor', cursor: 'cursor', size: 'limit', max: 999, next: nextCursor },
  }),
  get: { request: ({ id }) => infoOf(id), read: member('channel') },
  create: {
    run: async (context, { values: { name, is_private, ...more } }) => {
      const request = { method: 'POST', path: '/conversations.create', form: form({ name, is_private }) } as const;
      const id = json.text(json.at(member('channel')(await context.send(request)), 'id'), 'the id of the channel');
      try {
        return await change(context, id, more);
      } catch (error) {
        context.signal.throwIfAborted();
        if (!isDenied(error)) throw error;
        throw rejected(`The channel was created with the id '${id}'. Only its other fields failed: update them.`);
      }
    },
  },
  update: { run: (context, { id, values }) => change(context, id, values) },
  children: {
    messages: messagesOfChannel,
    members: defineObject({
      label: 'Members',
      description: 'The users who are members of the channel.',
      fields: { id: { type: 'string', nullable: false, label: 'Id of the user' } },
      list: list({
        request: ({ parentId = '', page }) => ({
          path: '/conversations.members',
          query: { channel: parentId, ...page },
        }),
        rows: (body) => json.array(json.at(body, 'members'), 'the members').map((id) => ({ id })),
        paging: { kind: 'cursor', cursor: 'cursor', size: 'limit', max: 999, next: nextCursor },
      }),
    }),
  },
});

const part = (native: string, spec: Partial<FieldSpec> = {}): FieldSpec => ({
  type: 'string',
  native: `profile.${native}`,
  ...spec,
});

/** The people and bots of the workspace. Slack filters them by nothing. */
export const users = defineObject({
  label: 'Users',
  description:
    'People and bots of the workspace, including deactivated ones. An e-mail address is an id of an active user as well.',
  aliases: ['members'],
  fields: {
    ...fieldsOf(official, 'User', {
      pick: 'id name real_name deleted is_bot is_admin is_owner is_restricted is_ultra_restricted is_app_user tz tz_label tz_offset locale color team_id updated',
      but: { updated: TIME, tz: { type: 'string' } },
    }),
    email: part('email', { format: 'email' }),
    display_name: part('display_name'),
    first_name: part('first_name'),
    last_name: part('last_name'),
    title: part('title'),
    phone: part('phone'),
    status_text: part('status_text'),
    status_emoji: part('status_emoji'),
    image: part('image_192', { format: 'uri' }),
    custom_fields: part('fields', { type: 'object', label: 'Custom fields of the profile, by their ids' }),
  },
  list: list({
    request: ({ page }) => ({ path: '/users.list', query: { include_locale: true, ...page } }),
    rows: (body) => json.array(json.at(body, 'members'), 'the users'),
    paging: { kind: 'cursor', cursor: 'cursor', size: 'limit', max: 200, next: nextCursor },
  }),
  get: {
    request: ({ id }) =>
      id.includes('@')
        ? { path: '/users.lookupByEmail', query: { email: id } }
        : { path: '/users.info', query: { user: id, include_locale: true } },
    read: member('user'),
  },
});

const GROUPS = { path: '/usergroups.list', query: { include_count: true, include_users: true } };

function groupsIn(body: unknown) {
  return json.objects(json.at(body, 'usergroups'), 'the user groups').map(showGroup);
}

function changedGroup(response: ProviderResponse) {
  return showGroup(member('usergroup')(response));
}

/**
 * Returns the group with this id.
 * @throws AppError NOT_FOUND for a group that is disabled, or does not exist
 */
function groupIn(body: unknown, id: string) {
  const group = groupsIn(body).find((each) => json.at(each, 'id') === id);
  if (group === undefined) throw notFound('There is no such user group, or it is disabled.');
  return group;
}

/** The channels of a group are sent under another name than they are shown. */
function showGroup(group: Readonly<Record<string, unknown>>) {
  return { ...group, channels: json.at(group, 'prefs', 'channels') };
}

/** The groups of users that can be mentioned together. Slack lists them all at once, and disabled ones not at all. */
export const usergroups = defineObject({
  label: 'User groups',
  description: 'Groups of users that can be mentioned together. To delete one is to disable it.',
  aliases: ['groups'],
  fields: {
    ...fieldsOf(official, 'Usergroup', {
      pick: 'id name handle description user_count users is_external auto_type created_by updated_by date_create date_update team_id',
      but: {
        name: { required: true, ...WRITTEN },
        handle: WRITTEN,
        description: WRITTEN,
        users: {},
        auto_type: { type: 'string' },
        date_create: TIME,
        date_update: TIME,
      },
    }),
    channels: {
      type: 'array',
      ...WRITTEN,
      label: 'Ids of the channels that members join by default',
      write: (value) => (Array.isArray(value) ? value.join() : value),
    },
  },
  list: list({ request: () => GROUPS, rows: groupsIn, paging: { kind: 'whole' } }),
  create: {
    request: ({ values }) => ({ method: 'POST', path: '/usergroups.create', form: form(values) }),
    read: changedGroup,
  },
  update: {
    request: ({ id, values }) => ({
      method: 'POST',
      path: '/usergroups.update',
      form: form({ ...values, usergroup: id }),
    }),
    read: changedGroup,
  },
  get: { request: () => GROUPS, read: ({ body }, { id }) => groupIn(body, id) },
  remove: {
    run: async ({ send }, { id }) => {
      const { body } = await send(GROUPS);
      groupIn(body, id);
      await send({ method: 'POST', path: '/usergroups.disable', form: { usergroup: id } });
    },
  },
});

const SECONDS = (value: Parameters<typeof plainText>[0]) =>
  value.kind === 'datetime' ? String(Math.floor(value.epochMs / 1000)) : plainText(value);

/** The files that people and apps shared. */
export const files = defineObject<Inputs>({
  label: 'Files',
  description: 'Files that were shared in the workspace.',
  fields: fieldsOf(official, 'File', {
    pick: 'id name title mimetype filetype pretty_type size mode user created channels groups ims is_external is_public is_starred editable url_private url_private_download permalink permalink_public num_stars comments_count',
    but: {
      user: { filter: can.only('exact', '=') },
      created: { ...TIME, filter: can.only('superset', '=', '<=', '>=', '<', '>') },
    },
  }),
  parameters: {
    channel: { type: 'string', description: 'Only files that were shared in this channel: its id.' },
    types: {
      type: 'string',
      description: 'Only files of these types, separated by commas: spaces, snippets, images, gdocs, zips or pdfs.',
    },
  },
  translator: inputs({ user: 'user', created: { from: 'ts_from', to: 'ts_to' } }, ',', { text: SECONDS }),
  list: list<Inputs>({
    request: ({ filter, page, parameters: { channel, types } }) => ({
      path: '/files.list',
      query: {
        ...filter,
        ...(channel && { channel: plainText(channel) }),
        ...(types && { types: plainText(types) }),
        ...page,
      },
    }),
    rows: (body) => json.array(json.at(body, 'files'), 'the files'),
    paging: {
      kind: 'number',
      page: 'page',
      size: 'count',
      max: 200,
      total: ({ body }) => json.at(body, 'paging', 'total'),
    },
  }),
  ...records({
    get: (id) => ({ path: '/files.info', query: { file: id } }),
    record: member('file'),
    remove: (id) => ({ method: 'POST', path: '/files.delete', form: { file: id } }),
  }),
  media: {
    types: ['*'],
    about: { request: ({ id }) => ({ path: '/files.info', query: { file: id } }), read: describeFile },
    request: ({ about }) => ({ url: about?.url ?? '' }),
  },
  changes: { updated: 'created', reports: ['created'] },
});

/**
 * Returns where the bytes of a file are. They need the same token as every call.
 * @throws AppError PROVIDER_REJECTED for a file that Slack does not store
 */
function describeFile(response: ProviderResponse): FileDescription {
  const record = member('file')(response);
  const [url, name, type] = ['url_private_download', 'name', 'mimetype'].map((each) =>
    json.findText(json.at(record, each)),
  );
  if (url === undefined) throw rejected('Slack does not store this file. `url_private` has its address.');
  return defined({ url, name, type: type?.toLowerCase() });
}
