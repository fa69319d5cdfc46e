import {
  bearer,
  type Call,
  changesOf,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  Fault,
  json,
  type RegisteredClient,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  type TableRow,
  takePage,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createEvents } from './simulator/events.ts';
import { BOT, createWorkspace, membersIn, type Name, show, TEAM_ID, type Workspace } from './simulator/workspace.ts';

export { DEMO_CHANNEL, TEAM_ID } from './simulator/workspace.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'xoxb-demo';

/** An app with token rotation. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = {};

const AUTHORIZE = 'GET /oauth/v2/authorize';
const ACCESS = 'POST /api/oauth.v2.access';
const REASON = 'The log-in is in no description that the connector uses.';
const createJudge = createOfficialJudges(official, [
  { operation: AUTHORIZE, unjudged: ['query', 'response'], reason: REASON },
  { operation: ACCESS, unjudged: ['body', 'response'], reason: REASON },
]);

/** Slack's words for failures of the kit. */
const WORDS: Readonly<Record<number, string>> = {
  ...{
    400: 'invalid_arguments',
    401: 'invalid_auth',
    403: 'missing_scope',
    404: 'channel_not_found',
    409: 'name_taken',
  },
  ...{ 422: 'invalid_arguments', 429: 'ratelimited', 500: 'internal_error', 503: 'service_unavailable' },
};

/** Errors come with the status 200, unless Slack is busy or fails. Source: "Using the Slack Web API", "Evaluating responses". */
function print({ status, code, message, headers }: Fault): SimulatedResponse {
  const error = /^[a-z_]+$/.test(code) ? code : (WORDS[status] ?? 'fatal_error');
  const detail = error === 'invalid_arguments' ? { response_metadata: { messages: [`[ERROR] ${message}`] } } : {};
  return json({ ok: false, error, ...detail }, status === 429 || status >= 500 ? status : 200, headers);
}

const failure = (word: string) => new Fault(400, word, word);

/** Creates a simulator of a Slack workspace in memory. README.md lists the sources. */
export function createSimulator({ memory, send, baseUrl }: SimulatorOptions): Simulator {
  const clock = createMovableClock();
  const events = createEvents(clock, send);
  const workspace: Workspace = createWorkspace(clock, (name, change) =>
    events.report(name, change, (row) => show(workspace[name], row)),
  );
  const oauth = createOAuthServer({
    ...{ title: 'Slack simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    accessTokens: [DEMO_ACCESS_TOKEN],
    prefixes: { access: 'xoxe.xoxb-', refresh: 'xoxe-' },
    lifetimes: { codeMs: 600_000, accessMs: 43_200_000 },
    tokenResponse: (standard) => ({
      ...{ ok: true, ...standard, token_type: 'bot', bot_user_id: BOT.user, app_id: 'A0SIM00001' },
      ...{ team: { id: TEAM_ID, name: 'Demo' }, enterprise: null, authed_user: { id: BOT.user } },
    }),
  });
  const methods = methodsOf(workspace, () => Math.floor(clock.now() / 1000));
  const routes: Routes = Object.fromEntries(
    Object.keys(official.operations).map((key) => [
      key,
      (call) => {
        const given = call.method === 'GET' ? call.query : call.body.form();
        const answer = methods[key.slice(key.lastIndexOf('/') + 1)]?.(given, call);
        return json({ ok: true, ...answer });
      },
    ]),
  );
  return simulate(
    {
      ...{ clock, print, routes, official: createJudge() },
      open: { [AUTHORIZE]: oauth.authorize, [ACCESS]: async (call) => accessOf(await oauth.token(call), call) },
      authenticate: bearer(oauth.accepts),
      commands: { ...oauth.commands, ...events.commands, ...changesOf(workspace) },
    },
    { baseUrl },
  );
}

/** Returns a token response with Slack's words for an error, and the status 200. */
function accessOf(response: SimulatedResponse, { body }: Call): SimulatedResponse {
  const { error } = JSON.parse(String(response.body));
  if (error === undefined) return response;
  const grant = body.form().get('grant_type') === 'refresh_token' ? 'invalid_refresh_token' : 'invalid_code';
  const words = {
    invalid_grant: grant,
    invalid_client: 'bad_client_secret',
    unsupported_grant_type: 'invalid_grant_type',
  };
  return json({ ok: false, error: Object(words)[String(error)] ?? error });
}

type Method = (given: URLSearchParams, call: Call) => TableRow;

/** Returns the methods of the Web API by their names. */
function methodsOf(workspace: Workspace, nowSeconds: () => number): Readonly<Record<string, Method>> {
  const { channels, users, usergroups, files, messages } = workspace;
  const of = (name: Name, rows: readonly TableRow[]) => rows.map((row) => show(workspace[name], row));
  const one = (name: Name, given: URLSearchParams, parameter: string) =>
    workspace[name].get(given.get(parameter) ?? '');

  const pageOf = <Item>(rows: readonly Item[], query: URLSearchParams, { isStuck }: Call, most = 1000, usual = 100) => {
    const refuse = (_: string, parameter: string) => failure(`invalid_${parameter}`);
    const sizes = { size: 'limit', usual, most, beyond: 'refused', refuse } as const;
    const page = takePage(rows, { kind: 'cursor', cursor: 'cursor', ...sizes }, { query, isStuck });
    return { rows: page.rows, has_more: page.next !== undefined, response_metadata: { next_cursor: page.next ?? '' } };
  };

  const changeChannel = (given: URLSearchParams, change: (row: TableRow) => TableRow) => {
    const row = one('channels', given, 'channel');
    return { channel: show(channels, channels.table.update(String(row.id), change(row)) ?? row) };
  };
  const archive = (given: URLSearchParams, is_archived: boolean) => {
    if (one('channels', given, 'channel').is_archived === is_archived) {
      throw failure(is_archived ? 'already_archived' : 'not_archived');
    }
    changeChannel(given, () => ({ is_archived }));
    return {};
  };
  const describe = (given: URLSearchParams, member: 'topic' | 'purpose') => {
    const value = given.get(member) ?? '';
    if (value.length > 250) throw failure('too_long');
    return changeChannel(given, () => ({ [member]: { value, creator: BOT.user, last_set: nowSeconds() } }));
  };
  const nameIn = (given: URLSearchParams) => {
    const name = given.get('name') ?? '';
    if (name === '') throw failure('invalid_name_required');
    if (name.length > 80) throw failure('invalid_name_maxlength');
    if (!/^[\p{Ll}\p{Lo}\p{M}\p{N}_-]+$/u.test(name)) throw failure('invalid_name_specials');
    if (channels.table.rows().some((row) => row.name === name)) throw failure('name_taken');
    return name;
  };

  /** Returns the message of a channel, or the error that there is none. */
  const messageIn = (given: URLSearchParams) => {
    one('channels', given, 'channel');
    const row = one('messages', given, 'ts');
    if (row.channel !== given.get('channel')) throw failure('message_not_found');
    return row;
  };
  const showMessages = (rows: readonly TableRow[]) => {
    const all = messages.table.rows();
    return rows.map((row) => {
      const replies = all.filter(({ thread_ts, ts }) => thread_ts === row.ts && ts !== row.ts);
      const latest_reply = replies.at(-1)?.ts;
      const thread = replies.length === 0 ? {} : { thread_ts: row.ts, reply_count: replies.length, latest_reply };
      return show(messages, { ...row, ...thread });
    });
  };
  const contentIn = (given: URLSearchParams) => {
    const [text, blocks] = [given.get('text'), given.get('blocks')];
    if ((text ?? '') === '' && blocks === null) throw failure('no_text');
    if ((text ?? '').length > 40_000) throw failure('msg_too_long');
    return { text: text ?? '', ...(blocks !== null && { blocks: JSON.parse(blocks) }) };
  };
  const between = (given: URLSearchParams, rows: readonly TableRow[]) => {
    const isInclusive = /^(?:true|1)$/.test(given.get('inclusive') ?? '');
    const [oldest, latest] = [given.get('oldest') ?? '0', given.get('latest') ?? '9999999999.999999'];
    // Texts, because a number cannot hold all digits.
    return rows.filter(({ ts }) => {
      const [after, before] = [order(String(ts), oldest), order(String(ts), latest)];
      return isInclusive ? after >= 0 && before <= 0 : after > 0 && before < 0;
    });
  };

  const writeGroup = (given: URLSearchParams, id?: string) => {
    const values = Object.fromEntries(
      ['name', 'handle', 'description'].flatMap((name) => (given.has(name) ? [[name, given.get(name)]] : [])),
    );
    const isTaken = usergroups.table.rows().some((row) => row.name === values.name && row.id !== id);
    if (isTaken) throw failure('name_already_exists');
    const listed = given
      .get('channels')
      ?.split(',')
      .filter((channel) => channel !== '');
    const prefs = listed && { prefs: { channels: listed, groups: [] } };
    const row = { ...values, ...prefs, updated_by: BOT.user };
    const stored = id === undefined ? usergroups.table.insert(row) : usergroups.table.update(id, row);
    return { usergroup: show(usergroups, stored ?? row) };
  };

  return {
    'auth.test': () => ({
      ...{ url: 'https://demo.slack.com/', team: 'Demo', user: 'bot', team_id: TEAM_ID },
      ...{ user_id: BOT.user, bot_id: BOT.bot_id, is_enterprise_install: false },
    }),
    'conversations.list': (given, call) => {
      const types = (given.get('types') ?? 'public_channel').split(',');
      const isHidden = given.get('exclude_archived') === 'true';
      const found = channels.table
        .rows()
        .filter((row) => types.includes(row.is_private === true ? 'private_channel' : 'public_channel'))
        .filter((row) => !isHidden || row.is_archived !== true);
      const { rows, response_metadata } = pageOf(found, given, call);
      return { channels: of('channels', rows), response_metadata };
    },
    'conversations.info': (given) => ({ channel: show(channels, one('channels', given, 'channel')) }),
    'conversations.create': (given) => {
      const row = { name: nameIn(given), is_private: given.get('is_private') === 'true' };
      return { channel: show(channels, channels.table.insert(row)) };
    },
    'conversations.rename': (given) => {
      const isSame = one('channels', given, 'channel').name === given.get('name');
      const name = isSame ? given.get('name') : nameIn(given);
      return changeChannel(given, () => ({ name, name_normalized: name }));
    },
    'conversations.setTopic': (given) => describe(given, 'topic'),
    'conversations.setPurpose': (given) => describe(given, 'purpose'),
    'conversations.archive': (given) => archive(given, true),
    'conversations.unarchive': (given) => archive(given, false),
    'conversations.members': (given, call) => {
      const { id } = one('channels', given, 'channel');
      const { rows, response_metadata } = pageOf(membersIn(Number(String(id).slice(-5))), given, call);
      return { members: rows, response_metadata };
    },
    'conversations.history': (given, call) => {
      const { id } = one('channels', given, 'channel');
      const roots = messages.table
        .rows()
        .filter(
          ({ channel, thread_ts, ts, subtype }) =>
            channel === id && (thread_ts == null || thread_ts === ts || subtype === 'thread_broadcast'),
        );
      const found = between(given, roots).toReversed();
      const { rows, has_more, response_metadata } = pageOf(found, given, call, 999);
      return { messages: showMessages(rows), has_more, ...(has_more && { response_metadata }) };
    },
    'conversations.replies': (given, call) => {
      const { ts, channel, thread_ts } = messageIn(given);
      const isReply = thread_ts != null && thread_ts !== ts;
      const thread = messages.table
        .rows()
        .filter((row) => row.channel === channel && (row.ts === ts || (!isReply && row.thread_ts === ts)));
      const { rows, has_more, response_metadata } = pageOf(between(given, thread), given, call);
      return { messages: showMessages(rows), has_more, ...(has_more && { response_metadata }) };
    },
    'chat.postMessage': (given) => {
      const channel = one('channels', given, 'channel');
      if (channel.is_archived === true) throw failure('is_archived');
      const thread_ts = given.get('thread_ts');
      const isBroadcast = thread_ts !== null && given.get('reply_broadcast') === 'true';
      const row = messages.table.insert({
        ...contentIn(given),
        ...{ channel: channel.id, thread_ts, subtype: isBroadcast ? 'thread_broadcast' : null },
      });
      return { channel: channel.id, ts: row.ts, message: show(messages, row) };
    },
    'chat.update': (given) => {
      const { ts, channel } = messageIn(given);
      const edited = { user: BOT.user, ts: `${nowSeconds()}.000000` };
      const row = messages.table.update(String(ts), { ...contentIn(given), edited }) ?? {};
      return { channel, ts, text: row.text, message: show(messages, row) };
    },
    'chat.delete': (given) => {
      const { ts, channel } = messageIn(given);
      messages.table.remove(String(ts));
      return { channel, ts };
    },
    'users.list': (given, call) => {
      const { rows, response_metadata } = pageOf(users.table.rows(), given, call, 1000, 1000);
      return { members: of('users', rows), cache_ts: nowSeconds(), response_metadata };
    },
    'users.info': (given) => ({ user: show(users, one('users', given, 'user')) }),
    'users.lookupByEmail': (given) => {
      const found = users.table
        .rows()
        .find(({ profile, deleted }) => Object(profile).email === given.get('email') && deleted !== true);
      if (found === undefined) throw failure('users_not_found');
      return { user: show(users, found) };
    },
    'usergroups.list': (given) => {
      const isShown = given.get('include_disabled') === 'true';
      const rows = usergroups.table.rows().filter(({ date_delete }) => isShown || date_delete === 0);
      const left = [
        ...(given.get('include_users') === 'true' ? [] : ['users']),
        ...(given.get('include_count') === 'true' ? [] : ['user_count']),
      ];
      return {
        usergroups: of('usergroups', rows).map((row) =>
          Object.fromEntries(Object.entries(row).filter(([name]) => !left.includes(name))),
        ),
      };
    },
    'usergroups.create': (given) => writeGroup(given),
    'usergroups.update': (given) => writeGroup(given, String(one('usergroups', given, 'usergroup').id)),
    'usergroups.disable': (given) => {
      const { id } = one('usergroups', given, 'usergroup');
      const row = usergroups.table.update(String(id), { date_delete: nowSeconds(), deleted_by: BOT.user });
      return { usergroup: show(usergroups, row ?? {}) };
    },
    'files.list': (given, { isStuck }) => {
      const found = files.table.rows().filter((row) => isWanted(row, given));
      const style = { kind: 'number', page: 'page', size: 'count', usual: 100, most: 1000 } as const;
      const page = takePage(found, style, { query: given, isStuck });
      const paging = {
        count: page.size,
        total: page.total,
        page: 1 + Math.floor(page.start / page.size),
        pages: Math.ceil(page.total / page.size),
      };
      return { files: of('files', page.rows), paging };
    },
    'files.info': (given) => ({ file: show(files, one('files', given, 'file')) }),
    'files.delete': (given) => {
      files.table.remove(String(one('files', given, 'file').id));
      return {};
    },
  };
}

/** Compares timestamps, whose fractions may have fewer digits. */
function order(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return whole.padStart(12, '0') + fraction.padEnd(6, '0');
  });
  return (a ?? '') < (b ?? '') ? -1 : Number(a !== b);
}

const TYPES: Readonly<Record<string, readonly string[]>> = {
  images: ['png'],
  pdfs: ['pdf'],
  zips: ['zip'],
  snippets: ['text'],
};

/** Returns whether a file is in a list. Bounds of times include themselves. Source: `files.list`. */
function isWanted({ user, channels, created, filetype }: TableRow, given: URLSearchParams): boolean {
  const [from, to] = [Number(given.get('ts_from') ?? 0), Number(given.get('ts_to') ?? Number.POSITIVE_INFINITY)];
  const types = (given.get('types') ?? 'all').split(',');
  return (
    [user, null].includes(given.get('user')) &&
    (given.get('channel') === null || (Array.isArray(channels) && channels.includes(given.get('channel')))) &&
    Number(created) >= from &&
    Number(created) <= to &&
    types.some((type) => type === 'all' || TYPES[type]?.includes(String(filetype)) === true)
  );
}
