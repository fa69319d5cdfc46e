import {
  type ConnectorContext,
  can,
  defineObject,
  type Fields,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListOperation,
  list,
  notFound,
  type ObjectSpec,
  type ProviderRequest,
  plainText,
  type RecordKey,
} from '#connector';
import { form, nextCursor } from './form.ts';
import official from './official.json' with { type: 'json' };

const SENT = { createable: true, updateable: true, clearable: false } as const;
/** A list that is sent as JSON in a form. */
const LIST = { type: 'array', ...SENT, write: (value: unknown) => JSON.stringify(value) } as const;

const fields: Fields = {
  id: { type: 'string', nullable: false },
  channel: {
    type: 'string',
    nullable: false,
    required: true,
    createable: true,
    label: 'Id of the channel',
    domain: { text: { possible: (text) => /^[A-Z][A-Z0-9]+$/.test(text) } },
    filter: can.only('exact', '='),
  },
  time: {
    type: 'datetime',
    native: 'ts',
    nullable: false,
    label: 'Time of sending',
    // A timestamp has ten digits before its point.
    domain: { step: 'millisecond', first: '2001-09-09T01:46:40Z', last: '2286-11-20T17:46:39Z' },
    filter: can.only('exact', '>=', '<='),
    read: readTimestamp,
  },
  ...fieldsOf(official, 'Message', {
    pick: 'ts text user bot_id username type subtype blocks attachments files reactions thread_ts parent_user_id reply_count reply_users_count latest_reply edited permalink team',
    but: {
      text: { nullable: true, ...SENT },
      blocks: LIST,
      attachments: LIST,
      thread_ts: { createable: true, clearable: false, label: 'Timestamp of the first message of the thread' },
    },
  }),
};

/** Below a channel or a message, the path names the channel. */
const fieldsBelow: Fields = { ...fields, channel: { type: 'string', nullable: false } };

/** `1712345678.123456` → an instant with milliseconds. */
function readTimestamp(native: unknown): unknown {
  const [, seconds, ms] = /^(\d{10})\.(\d{3})\d{3}$/.exec(String(native)) ?? [];
  return seconds === undefined ? native : new Date(Number(seconds + ms)).toISOString();
}

/** Bounds of time as timestamps of whole milliseconds. */
const translator = inputs({ channel: 'channel', time: { by: { '>=': 'oldest', '<=': 'latest' } } }, ',', {
  text: (value) => (value.kind === 'datetime' ? `${(value.epochMs / 1000).toFixed(3)}000` : plainText(value)),
});

type MessageList = ListOperation<Inputs> & { readonly request: unknown };

/**
 * Returns a list of messages.
 * @param place returns the conversation of a list, and the first message of a thread
 */
function listOf(method: string, place: (input: { readonly filter?: Inputs; readonly parentId?: string }) => Place) {
  const pages = list<Inputs>({
    request: ({ filter = {}, page, ...input }) => {
      const { oldest, latest } = filter;
      return {
        path: `/${method}`,
        query: {
          ...place({ filter, ...input }),
          ...page,
          oldest,
          // The last microsecond of a millisecond belongs to it.
          latest: typeof latest === 'string' ? latest.replace(/000$/, '999') : undefined,
          ...((oldest ?? latest) !== undefined && { inclusive: true }),
        },
      };
    },
    rows: (body) => json.array(json.at(body, 'messages'), 'the messages'),
    paging: { kind: 'cursor', cursor: 'cursor', size: 'limit', max: 999, next: nextCursor },
  });
  return {
    ...pages,
    read: (response, input) => {
      const page = pages.read(response, input);
      const { channel, ts } = place(input);
      const shown = page.records.map((message) => record(message, channel));
      // A thread begins with its first message, on every page.
      return { ...page, records: shown.filter((message) => message.ts !== ts) };
    },
  } satisfies MessageList;
}

interface Place {
  readonly channel: string;
  readonly ts?: string;
}

function record(message: unknown, channel: string): Json & { readonly ts: string } {
  const own = json.object(message, 'a message');
  const ts = json.text(own.ts, 'the timestamp of a message');
  return { ...own, ts, channel, id: `${channel}-${ts}` };
}

/** Returns the conversation and the timestamp of a message. */
function divide(id: string): Required<Place> {
  const [, channel, ts] = /^([A-Z][A-Z0-9]+)-(\d{10}\.\d{6})$/.exec(id) ?? [];
  if (channel === undefined || ts === undefined)
    throw notFound('There is no such message: its id is `<channel>-<ts>`.');
  return { channel, ts };
}

async function find({ send }: ConnectorContext, { id }: RecordKey): Promise<Json> {
  const { channel, ts } = divide(id);
  const read = async (request: ProviderRequest) => {
    const { body } = await send(request);
    return json.objects(json.at(body, 'messages'), 'the messages').find((message) => message.ts === ts);
  };
  const only = { channel, oldest: ts, latest: ts, inclusive: true };
  // The history has no replies. A thread has them behind its first message.
  const message =
    (await read({ path: '/conversations.history', query: { ...only, limit: 1 } })) ??
    (await read({ path: '/conversations.replies', query: { ...only, ts, limit: 2 } }));
  if (message === undefined) throw notFound('There is no such message in the channel.');
  return record(message, channel);
}

const operations = {
  fields,
  translator,
  get: { run: find },
  create: {
    request: ({ values }) => ({ method: 'POST', path: '/chat.postMessage', form: form(values) }),
    read: ({ body }) => record(json.at(body, 'message'), json.text(json.at(body, 'channel'), 'the channel')),
  },
  update: {
    run: async (context, { id, values }) => {
      await context.send({ method: 'POST', path: '/chat.update', form: form({ ...divide(id), ...values }) });
      return find(context, { id });
    },
  },
  remove: {
    request: ({ id }) => ({ method: 'POST', path: '/chat.delete', form: form({ ...divide(id) }) }),
    read: () => undefined,
  },
} satisfies Partial<ObjectSpec<Inputs>>;

/** The messages of channels. Slack lists those of one channel at a time. */
export const messages = defineObject<Inputs>({
  label: 'Messages',
  description: 'Messages of channels. A list needs the channel: `channel`, or the path of the channel.',
  ...operations,
  requiredFilters: ['channel'],
  list: listOf('conversations.history', ({ filter }) => ({ channel: String(filter?.channel) })),
  children: {
    replies: defineObject<Inputs>({
      label: 'Replies',
      description: 'The replies of the thread that a message began.',
      fields: fieldsBelow,
      translator,
      list: listOf('conversations.replies', ({ parentId = '' }) => divide(parentId)),
    }),
  },
});

/** The messages of one channel, below it. */
export const messagesOfChannel = defineObject<Inputs>({
  label: messages.label,
  description: 'The messages of the channel, without the replies of threads.',
  fields: fieldsBelow,
  translator,
  list: listOf('conversations.history', ({ parentId = '' }) => ({ channel: parentId })),
});
