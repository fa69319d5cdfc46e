import {
  type ConnectorContext,
  json,
  type ObjectSpec,
  type ProviderResponse,
  path,
  type RecordInput,
  rejected,
  type UpdateInput,
} from '#connector';
import { conditionOnId, findRow, type Searched, searchById } from './lists.ts';

type Operations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'>;
type Row = Readonly<Record<string, unknown>>;

const KEY_ONLY = [{ native: 'id' }];

export function ticketRecords(searched: Searched) {
  const find = searchById(searched);
  return {
    get: { run: (context, input) => findRow(context, find, input) },
    create: {
      run: async (context, { values, fields }) => {
        const made = await context.send({ method: 'POST', path: '/ticket', json: values });
        return findRow(context, find, { id: createdId(made), fields });
      },
    },
    update: {
      run: async (context, input) => {
        const { id, values } = input;
        await findRow(context, find, { id, fields: KEY_ONLY });
        const { body } = await context.send({ method: 'PUT', path: path`/ticket/${id}`, json: values });
        const row = await findRow(context, find, {
          id,
          fields: [...input.fields, ...CHOSEN.map((native) => ({ native }))],
        });
        return assertChanged(row, values, body);
      },
    },
    remove: {
      run: async (context, { id }) => {
        await findRow(context, find, { id, fields: KEY_ONLY });
        await context.send({ method: 'DELETE', path: path`/ticket/${id}` });
      },
    },
  } satisfies Operations;
}

/** Members whose values must exist at Request Tracker. */
const CHOSEN = ['Status', 'Queue', 'Owner'] as const;

/**
 * Asserts that Request Tracker made the change. It reports a rejected change as a success, with messages in the user's language.
 * @throws AppError PROVIDER_REJECTED with these messages
 */
function assertChanged(row: Row, values: UpdateInput['values'], messages: unknown): Row {
  const shown = (value: unknown) => String(json.isObject(value) ? value.id : value).toLowerCase();
  const refused = CHOSEN.filter(
    (native) => Object.hasOwn(values, native) && shown(row[native]) !== shown(values[native]),
  );
  if (refused.length === 0) return row;
  throw rejected(
    (Array.isArray(messages) ? messages : [`Request Tracker did not change ${refused.join(', ')}.`]).join(' '),
  );
}

/** Returns the id from the address of the new record, which is the only content that all responses share. */
function createdId({ headers }: ProviderResponse): string {
  return json.text(/\/(\d+)$/.exec(headers.location ?? '')?.[1], 'the id of the new record');
}

/** The path of each kind of message. */
const MESSAGES: Readonly<Record<string, string>> = { Comment: 'comment', Correspond: 'correspond' };

export function transactionRecords(searched: Searched) {
  const find = searchById(searched);
  const read = async (context: ConnectorContext, input: RecordInput) => {
    const row = await findRow(context, find, input);
    const wantsText = input.fields.some(({ native }) => native === 'Content' || native === 'ContentType');
    return wantsText ? { ...row, ...(await readText(context, input.id)) } : row;
  };
  return {
    get: { run: (context, input) => read(context, input) },
    create: {
      run: async (context, { values, fields }) => {
        const { ObjectId: ticket, Type: type, ...message } = values;
        const kind = MESSAGES[String(type)];
        if (kind === undefined)
          throw rejected(
            `A new transaction cannot have the type '${type}'. Use ${Object.keys(MESSAGES).join(' or ')}.`,
          );
        const made = await context.send({
          method: 'POST',
          path: path`/ticket/${String(ticket)}/${kind}`,
          json: { ContentType: 'text/plain', ...message },
        });
        return read(context, { id: createdId(made), fields });
      },
    },
  } satisfies Operations;
}

/** Reads the text of a message: its first part that is no file. */
async function readText({ send }: ConnectorContext, transactionId: string): Promise<Row> {
  const { body } = await send({
    path: path`/transaction/${transactionId}/attachments`,
    query: { fields: 'ContentType,Filename', orderby: 'id', per_page: 100 },
  });
  const parts = json.objects(json.at(body, 'items'), 'the attachments');
  const text = parts.find(({ ContentType, Filename }) => !Filename && String(ContentType).startsWith('text/'));
  if (text === undefined) return {};
  const whole = await readAttachment(send, json.key(text.id, 'the id of an attachment'));
  return { ContentType: text.ContentType, Content: Buffer.from(String(whole), 'base64').toString('utf8') };
}

async function readAttachment(send: ConnectorContext['send'], id: string): Promise<unknown> {
  return json.at((await send({ path: path`/attachment/${id}` })).body, 'Content');
}

export function attachmentRecords() {
  return {
    get: {
      run: async (context, input) => {
        const { id, fields } = input;
        const row = await findRow(context, findAttachment, {
          id,
          fields: fields.filter(({ native }) => native !== 'Content'),
        });
        const isWhole = fields.some(({ native }) => native === 'Content');
        return isWhole ? { ...row, Content: await readAttachment(context.send, id) } : row;
      },
    },
  } satisfies Operations;
}

const findAttachment: Parameters<typeof findRow>[1] = (id, more) => ({
  path: '/attachments',
  query: { ...more, query: conditionOnId('=', id) },
});
