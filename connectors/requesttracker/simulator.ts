import {
  type Answer,
  basic,
  type Call,
  changesOf,
  createMovableClock,
  createTable,
  type Fault,
  fault,
  json,
  type MovableClock,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { type Collection, type Desk, find, list, readConditions, readQuery } from './simulator/lists.ts';
import {
  makeAttachments,
  makeQueues,
  makeTickets,
  makeTransactions,
  makeUsers,
  printInstant,
} from './simulator/rows.ts';
import { ATTACHMENT, QUEUE, TICKET, TRANSACTION, USER } from './simulator/schema.ts';
import { createScrip } from './simulator/scrip.ts';
import { addMessage, createTicket, removeTicket, updateTicket } from './simulator/writes.ts';

const HOST = 'rt.example.com';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { url: `https://${HOST}`, username: 'root', password: 'password' };

/** A Request Tracker 5.0.3 in memory, by its REST 2. Its answers have the forms of a real one; its clocks are five hours behind UTC. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const scrip = createScrip(options.send, clock);
  const desk = makeDesk(clock, scrip.tell);
  const { tickets, transactions, attachments, users, queues } = desk;
  const root = '/REST/2.0';
  const isOf = (call: Call) => (row: TableRow) =>
    row.ObjectType === 'RT::Ticket' && String(row.ObjectId) === call.params.id;
  return simulate(
    {
      authenticate: assertCaller,
      print: ({ status, message, headers }: Fault) => json({ message }, status, headers),
      clock,
      routes: {
        [`GET ${root}/rt`]: () => json({ Version: '5.0.3', Plugins: [] }),
        [`GET ${root}/tickets`]: (call) => list(tickets, call, readQuery(desk, tickets, call)),
        [`POST ${root}/tickets`]: (call) => list(tickets, call, readQuery(desk, tickets, call)),
        [`POST ${root}/ticket`]: (call) => createTicket(desk, clock, call),
        [`PUT ${root}/ticket/{id}`]: (call) => updateTicket(desk, clock, call),
        [`DELETE ${root}/ticket/{id}`]: (call) => removeTicket(desk, call),
        [`POST ${root}/ticket/{id}/{kind}`]: (call) => addMessage(desk, clock, call),
        [`GET ${root}/ticket/{id}/history`]: (call) => list(transactions, call, isOf(call)),
        [`GET ${root}/ticket/{id}/attachments`]: (call) => list(attachments, call, attachedTo(desk, isOf(call))),
        [`GET ${root}/transactions`]: (call) => list(transactions, call, readQuery(desk, transactions, call)),
        [`POST ${root}/transactions`]: (call) => list(transactions, call, readQuery(desk, transactions, call)),
        [`GET ${root}/transaction/{id}/attachments`]: (call) =>
          list(attachments, call, ({ TransactionId }) => String(TransactionId) === call.params.id),
        [`GET ${root}/attachments`]: (call) => list(attachments, call, readConditions(call)),
        [`GET ${root}/attachment/{id}`]: (call) => showAttachment(attachments, call),
        [`GET ${root}/users`]: (call) => list(users, call, readConditions(call)),
        [`GET ${root}/user/{id}`]: (call) => show(users, call),
        [`GET ${root}/queues/all`]: (call) => list(queues, call, () => true),
        [`GET ${root}/queue/{id}`]: (call) => show(queues, call),
      },
      commands: {
        ...scrip.commands,
        ...changesOf({
          tickets: {
            table: tickets.table,
            keyOf: ({ id }) => String(id),
            create: (number) => ({ Subject: `New ${number}`, Queue: 1, Status: 'new' }),
            change: (number) => ({ Priority: number + 1 }),
          },
          transactions: {
            table: transactions.table,
            keyOf: ({ id }) => String(id),
            create: () => ({ ObjectType: 'RT::Ticket', ObjectId: 1, Type: 'Status' }),
            change: () => ({}),
          },
        }),
      },
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

/** @param tell of each change of a ticket */
function makeDesk(clock: MovableClock, tell: (change: TableChange) => void): Desk {
  const keep = (
    rows: readonly TableRow[],
    initial: TableRow = {},
    changed: readonly string[] = [],
    onChange: (change: TableChange) => void = () => {},
  ) =>
    createTable({
      onChange,
      rows,
      keyOf: ({ id }) => String(id),
      initial: (_, before) => ({ ...initial, id: 1 + Math.max(...before().map(({ id }) => Number(id))) }),
      stamps: { clock, write: printInstant, created: ['Created'], changed },
    });
  const started = { Owner: 'Nobody', Requestor: [], Cc: [], AdminCc: [], Creator: 'root', LastUpdatedBy: 'root' };
  const none = { Priority: 0, InitialPriority: 0, FinalPriority: 0, TimeEstimated: 0, TimeWorked: 0, TimeLeft: 0 };
  const transactions = makeTransactions();
  return {
    tickets: {
      type: 'ticket',
      schema: TICKET,
      table: keep(makeTickets(), { ...started, ...none, CustomFields: {} }, ['LastUpdated'], tell),
      // Unless a query says otherwise, which no query that is sent here does.
      isListed: ({ Status }) => Status !== 'deleted',
    },
    transactions: {
      type: 'transaction',
      schema: TRANSACTION,
      table: keep(transactions, { TimeTaken: 0, Creator: 'root' }),
    },
    attachments: { type: 'attachment', schema: ATTACHMENT, table: keep(makeAttachments(transactions)) },
    users: { type: 'user', schema: USER, table: keep(makeUsers()) },
    queues: { type: 'queue', schema: QUEUE, table: keep(makeQueues()) },
  };
}

const isUser = basic(
  HOST,
  ({ username, password }) => username === DEMO_CONFIGURATION.username && password === DEMO_CONFIGURATION.password,
  'Unauthorized',
);

function assertCaller(call: Call): void {
  if ((call.host ?? HOST) !== HOST) throw fault(404, 'Not Found');
  isUser(call);
}

function attachedTo({ transactions }: Desk, isOf: (row: TableRow) => boolean) {
  const ids = new Set(
    transactions.table
      .rows()
      .filter(isOf)
      .map(({ id }) => id),
  );
  return ({ TransactionId }: TableRow) => ids.has(TransactionId);
}

/** What has no value is left out of a record, in lists it is empty. */
function show(collection: Collection, call: Call): Answer {
  const values = Object.entries(find(collection, call)).filter(([, value]) => value !== null);
  return json({ ...Object.fromEntries(values), CustomFields: [], _hyperlinks: [] });
}

/** Of an attachment that is not there, the server fails. */
function showAttachment({ table }: Collection, { params }: Call): Answer {
  const row = table.find(params.id ?? '');
  if (row === undefined) throw fault(500, 'Internal Server Error');
  const content = Buffer.from(String(row.Content)).toString('base64');
  return json({ ...row, Content: `${content.replace(/.{76}/g, '$&\n')}\n`, _hyperlinks: [] });
}
