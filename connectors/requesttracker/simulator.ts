import {
  basic,
  type Call,
  type Collection,
  changesOf,
  createMovableClock,
  type Fault,
  fault,
  json,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableRow,
} from '#connector/simulator';
import { createDesk, type Desk, type Resource } from './simulator/desk.ts';
import { list, readConditions, readQuery, show } from './simulator/lists.ts';
import { createScrip } from './simulator/scrip.ts';
import { addMessage, createTicket, removeTicket, updateTicket } from './simulator/writes.ts';

const HOST = 'rt.example.com';

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { url: `https://${HOST}`, username: 'root', password: 'password' };

/**
 * Creates a simulator of a Request Tracker 5.0.3 with REST 2 in memory. Its responses have the formats of a real server, and its time zone
 * is five hours behind UTC.
 */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const scrip = createScrip(options.send, clock);
  const desk = createDesk(clock, scrip.notify);
  const { tickets, transactions, attachments, users, queues } = desk;
  const root = '/REST/2.0';
  const search = (collection: Collection<Resource>) => (call: Call) =>
    list(collection, call, readQuery(desk, collection, call));
  return simulate(
    {
      hosts: [HOST],
      authenticate: basic(
        HOST,
        ({ username, password }) =>
          username === DEMO_CONFIGURATION.username && password === DEMO_CONFIGURATION.password,
      ),
      print: ({ status, message, headers }: Fault) => json({ message }, status, headers),
      clock,
      routes: {
        [`GET ${root}/rt`]: () => json({ Version: '5.0.3', Plugins: [] }),
        [`POST ${root}/tickets`]: search(tickets),
        [`POST ${root}/ticket`]: (call) => createTicket(desk, call),
        [`PUT ${root}/ticket/{id}`]: (call) => updateTicket(desk, call),
        [`DELETE ${root}/ticket/{id}`]: (call) => removeTicket(desk, call),
        [`POST ${root}/ticket/{id}/comment`]: (call) => addMessage(desk, 'Comment', call),
        [`POST ${root}/ticket/{id}/correspond`]: (call) => addMessage(desk, 'Correspond', call),
        [`GET ${root}/ticket/{id}/attachments`]: (call) => list(attachments, call, attachedTo(desk, call)),
        [`POST ${root}/transactions`]: search(transactions),
        [`GET ${root}/transaction/{id}/attachments`]: (call) =>
          list(attachments, call, ({ TransactionId }) => String(TransactionId) === call.params.id),
        [`GET ${root}/attachments`]: (call) => list(attachments, call, readConditions(call)),
        [`GET ${root}/attachment/{id}`]: (call) => showAttachment(attachments, call),
        [`GET ${root}/users`]: (call) => list(users, call, readConditions(call)),
        [`GET ${root}/user/{id}`]: ({ params: { id = '' } }) => show(users.get(id)),
        [`GET ${root}/queues/all`]: (call) => list(queues, call, () => true),
        [`GET ${root}/queue/{id}`]: ({ params: { id = '' } }) => show(queues.get(id)),
      },
      commands: { ...scrip.commands, ...changesOf({ tickets, transactions }) },
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

function attachedTo({ transactions }: Desk, { params }: Call) {
  const isOf = ({ ObjectType, ObjectId }: TableRow) => ObjectType === 'RT::Ticket' && String(ObjectId) === params.id;
  const ids = transactions.table.rows().flatMap((row) => (isOf(row) ? [row.id] : []));
  return ({ TransactionId }: TableRow) => ids.includes(TransactionId);
}

/** Shows an attachment. For one that does not exist, Request Tracker fails with 500. */
function showAttachment({ table }: Collection, { params }: Call): SimulatedResponse {
  const row = table.find(params.id ?? '');
  if (row === undefined) throw fault(500, 'Internal Server Error');
  const content = Buffer.from(String(row.Content)).toString('base64');
  return json({ ...row, Content: `${content.replace(/.{76}/g, '$&\n')}\n` });
}
