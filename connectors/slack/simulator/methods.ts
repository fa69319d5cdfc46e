import { type Call, Fault, type TableRow, takePage } from '#connector/simulator';
import { BOT, membersIn, type Name, show, TEAM_ID, type Workspace } from './workspace.ts';

type Given = URLSearchParams;
type Method = (given: Given, call: Call) => TableRow;

const failure = (word: string) => new Fault(400, word, word);
const isSet = (given: Given, name: string) => /^(?:true|1)$/.test(given.get(name) ?? '');

/** Returns the methods of the Web API by their names. Each returns its response without `ok`. */
export function methodsOf(workspace: Workspace, nowSeconds: () => number): Readonly<Record<string, Method>> {
  const { channels, users, usergroups, files, messages } = workspace;
  const rowsOf = (name: Name) => workspace[name].table.rows();
  const find = (name: Name, given: Given, parameter: string) => workspace[name].get(given.get(parameter) ?? '');
  const change = (name: Name, { id, ts = id }: TableRow, values: TableRow) =>
    show(workspace[name], workspace[name].table.update(String(ts), values) ?? {});

  /** Returns a page of a list, and a cursor that is empty on the last one. Source: "Pagination". */
  const pageOf = <Item>(given: Given, { isStuck }: Call, rows: readonly Item[], most = 1000) => {
    const refuse = (_: string, parameter: string) => failure(`invalid_${parameter}`);
    const sizes = { size: 'limit', usual: 100, most, beyond: 'refused', refuse } as const;
    const page = takePage(rows, { kind: 'cursor', cursor: 'cursor', ...sizes }, { query: given, isStuck });
    return [page.rows, { response_metadata: { next_cursor: page.next ?? '' } }, page.next !== undefined] as const;
  };

  const channelIn = (given: Given) => find('channels', given, 'channel');
  const changeChannel = (given: Given, values: TableRow) => ({ channel: change('channels', channelIn(given), values) });
  const describe = (given: Given, member: 'topic' | 'purpose') =>
    changeChannel(given, { [member]: { value: given.get(member) ?? '', creator: BOT.user, last_set: nowSeconds() } });
  const archive = (given: Given, is_archived: boolean) => {
    const isDone = channelIn(given).is_archived === is_archived;
    if (isDone) throw failure(is_archived ? 'already_archived' : 'not_archived');
    changeChannel(given, { is_archived });
    return {};
  };
  const nameIn = (given: Given, id?: unknown) => {
    const name = given.get('name');
    if (rowsOf('channels').some((row) => row.name === name && row.id !== id)) throw failure('name_taken');
    return { name, name_normalized: name };
  };

  const messageIn = (given: Given) => {
    const [{ id }, row] = [channelIn(given), find('messages', given, 'ts')];
    if (row.channel !== id) throw failure('message_not_found');
    return row;
  };
  const contentIn = (given: Given) => {
    const [text, blocks] = [given.get('text') ?? '', given.get('blocks')];
    if (text === '' && blocks === null) throw failure('no_text');
    return { text, ...(blocks !== null && { blocks: JSON.parse(blocks) }) };
  };
  /** Returns a page of messages between two times. A parent shows how many replies it has. */
  const pageOfMessages = (given: Given, call: Call, found: readonly TableRow[], most: number) => {
    const [rows, metadata, has_more] = pageOf(given, call, between(given, found), most);
    const all = rowsOf('messages');
    const shown = rows.map((row) => {
      const replies = all.filter(({ thread_ts, ts }) => thread_ts === row.ts && ts !== row.ts);
      const thread = { thread_ts: row.ts, reply_count: replies.length, latest_reply: replies.at(-1)?.ts };
      return show(messages, { ...row, ...(replies.length > 0 && thread) });
    });
    return { messages: shown, has_more, ...(has_more && metadata) };
  };

  const groupIn = (given: Given, id?: unknown) => {
    const values = Object.fromEntries([...given].filter(([name]) => /^(?:name|handle|description)$/.test(name)));
    const isTaken = rowsOf('usergroups').some((row) => row.name === values.name && row.id !== id);
    if (isTaken) throw failure('name_already_exists');
    const listed = given.get('channels')?.split(',').filter(Boolean);
    return { ...values, ...(listed && { prefs: { channels: listed, groups: [] } }), updated_by: BOT.user };
  };
  const changeGroup = (given: Given, valuesOf: (row: TableRow) => TableRow) => {
    const row = find('usergroups', given, 'usergroup');
    return { usergroup: change('usergroups', row, valuesOf(row)) };
  };

  return {
    'auth.test': () => ({
      ...{ url: 'https://demo.slack.com/', team: 'Demo', user: 'bot', team_id: TEAM_ID },
      ...{ user_id: BOT.user, bot_id: BOT.bot_id, is_enterprise_install: false },
    }),
    'conversations.list': (given, call) => {
      const types = (given.get('types') ?? 'public_channel').split(',');
      const found = rowsOf('channels')
        .filter(({ is_private }) => types.includes(is_private === true ? 'private_channel' : 'public_channel'))
        .filter(({ is_archived }) => is_archived !== true || !isSet(given, 'exclude_archived'));
      const [rows, metadata] = pageOf(given, call, found);
      return { channels: rows.map((row) => show(channels, row)), ...metadata };
    },
    'conversations.info': (given) => ({ channel: show(channels, channelIn(given)) }),
    'conversations.create': (given) => {
      const row = { ...nameIn(given), is_private: isSet(given, 'is_private') };
      return { channel: show(channels, channels.table.insert(row)) };
    },
    'conversations.rename': (given) => changeChannel(given, nameIn(given, channelIn(given).id)),
    'conversations.setTopic': (given) => describe(given, 'topic'),
    'conversations.setPurpose': (given) => describe(given, 'purpose'),
    'conversations.archive': (given) => archive(given, true),
    'conversations.unarchive': (given) => archive(given, false),
    'conversations.members': (given, call) => {
      const [members, metadata] = pageOf(given, call, membersIn(channelIn(given)));
      return { members, ...metadata };
    },
    // The newest message is the first. Replies are not in it, unless they were sent to the channel too.
    'conversations.history': (given, call) => {
      const { id } = channelIn(given);
      const isShown = ({ thread_ts, ts, subtype }: TableRow) =>
        thread_ts == null || thread_ts === ts || subtype === 'thread_broadcast';
      const found = rowsOf('messages').filter((row) => row.channel === id && isShown(row));
      return pageOfMessages(given, call, found.toReversed(), 999);
    },
    'conversations.replies': (given, call) => {
      const parent = messageIn(given);
      const found = rowsOf('messages').filter(({ ts, thread_ts }) => ts === parent.ts || thread_ts === parent.ts);
      return pageOfMessages(given, call, found, 1000);
    },
    'chat.postMessage': (given) => {
      const { id, is_archived } = channelIn(given);
      if (is_archived === true) throw failure('is_archived');
      const row = messages.table.insert({ ...contentIn(given), channel: id, thread_ts: given.get('thread_ts') });
      return { channel: id, ts: row.ts, message: show(messages, row) };
    },
    'chat.update': (given) => {
      const row = messageIn(given);
      const edited = { user: BOT.user, ts: `${nowSeconds()}.000000` };
      const message = change('messages', row, { ...contentIn(given), edited });
      return { channel: row.channel, ts: row.ts, text: message.text, message };
    },
    'chat.delete': (given) => {
      const { ts, channel } = messageIn(given);
      messages.table.remove(String(ts));
      return { channel, ts };
    },
    'users.list': (given, call) => {
      const [rows, metadata] = pageOf(given, call, rowsOf('users'));
      return { members: rows.map((row) => show(users, row)), cache_ts: nowSeconds(), ...metadata };
    },
    'users.info': (given) => ({ user: show(users, find('users', given, 'user')) }),
    'users.lookupByEmail': (given) => {
      const active = rowsOf('users').filter(({ deleted }) => deleted !== true);
      const found = active.find(({ profile }) => Object(profile).email === given.get('email'));
      if (found === undefined) throw failure('users_not_found');
      return { user: show(users, found) };
    },
    'usergroups.list': (given) => {
      const rows = rowsOf('usergroups').filter((row) => row.date_delete === 0 || isSet(given, 'include_disabled'));
      const more = { include_users: 'users', include_count: 'user_count' };
      const left = Object.entries(more).flatMap(([name, member]) => (isSet(given, name) ? [] : [[member, undefined]]));
      return { usergroups: rows.map((row) => show(usergroups, { ...row, ...Object.fromEntries(left) })) };
    },
    'usergroups.create': (given) => ({ usergroup: show(usergroups, usergroups.table.insert(groupIn(given))) }),
    'usergroups.update': (given) => changeGroup(given, ({ id }) => groupIn(given, id)),
    'usergroups.disable': (given) => changeGroup(given, () => ({ date_delete: nowSeconds(), deleted_by: BOT.user })),
    'files.list': (given, { isStuck }) => {
      const found = rowsOf('files').filter((row) => isWanted(row, given));
      const style = { kind: 'number', page: 'page', size: 'count', usual: 100, most: 1000 } as const;
      const { rows, size, total, start } = takePage(found, style, { query: given, isStuck });
      const paging = { count: size, total, page: 1 + Math.floor(start / size), pages: Math.ceil(total / size) };
      return { files: rows.map((row) => show(files, row)), paging };
    },
    'files.info': (given) => ({ file: show(files, find('files', given, 'file')) }),
    'files.delete': (given) => {
      files.table.remove(String(find('files', given, 'file').id));
      return {};
    },
  };
}

/** Returns the messages between two timestamps. These are compared as texts, because a number cannot hold all their digits. */
function between(given: Given, rows: readonly TableRow[]): readonly TableRow[] {
  const [oldest, latest] = [normalOf(given.get('oldest') ?? '0'), normalOf(given.get('latest') ?? '9999999999.999999')];
  return rows.filter((row) => {
    const ts = normalOf(String(row.ts));
    return (ts > oldest && ts < latest) || (isSet(given, 'inclusive') && (ts === oldest || ts === latest));
  });
}

function normalOf(ts: string): string {
  const [whole = '', part = ''] = ts.split('.');
  return whole.padStart(10, '0') + part.padEnd(6, '0');
}

const TYPES: Readonly<Record<string, string>> = { images: 'png', pdfs: 'pdf', zips: 'zip', snippets: 'text' };

/** Returns whether a file is in a list. Bounds of times include themselves. Source: `files.list`. */
function isWanted({ user, channels, created, filetype }: TableRow, given: Given): boolean {
  const [from, to] = [given.get('ts_from') ?? 0, given.get('ts_to') ?? Number.POSITIVE_INFINITY].map(Number);
  const [channel, types] = [given.get('channel'), (given.get('types') ?? 'all').split(',')];
  return (
    [user, null].includes(given.get('user')) &&
    (channel === null || Object(channels).includes(channel)) &&
    Number(created) >= Number(from) &&
    Number(created) <= Number(to) &&
    types.some((type) => type === 'all' || TYPES[type] === filetype)
  );
}
