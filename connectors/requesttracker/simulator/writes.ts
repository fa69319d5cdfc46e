import { type Answer, type Call, empty, Fault, fault, json, type TableRow } from '#connector/simulator';
import { type Desk, find } from './lists.ts';
import { attachmentOf, printInstant, trimSubject } from './rows.ts';
import { TICKET } from './schema.ts';

interface Clock {
  readonly now: () => number;
}

const STATUSES = ['new', 'open', 'stalled', 'resolved', 'rejected', 'deleted'];
const BEGINNINGS = ['new', 'open', 'resolved'];

/** @throws Fault 400 */
export function createTicket(desk: Desk, clock: Clock, call: Call): Answer {
  const { Queue, Content, ...given } = call.body.object();
  if (Queue === undefined) throw fault(400, 'Could not create ticket. Queue not set');
  const queue = queueOf(desk, Queue);
  if (queue === undefined) throw new Fault(403, 'FORBIDDEN', `No permission to create tickets in the queue '${Queue}'`);
  const status = String(given.Status ?? 'new').toLowerCase();
  if (!STATUSES.includes(status))
    throw fault(400, `Status '${given.Status}' isn't a valid status for tickets in this queue.`);
  if (!BEGINNINGS.includes(status)) throw fault(400, `New tickets can not have status '${status}' in this queue.`);
  const isUser = given.Owner === undefined || userOf(desk, given.Owner) !== undefined;
  const columns = readColumns({ ...given, ...(!isUser && { Owner: 'Nobody' }) });
  const row = desk.tickets.table.insert({ Subject: null, ...columns, Queue: queue, Status: status });
  addTransaction(desk, clock, { ObjectId: row.id, Type: 'Create' }, Content);
  return created(call, 'ticket', row.id);
}

/** What is refused is told among the messages of a success. @throws Fault 404 */
export function updateTicket(desk: Desk, clock: Clock, call: Call): Answer {
  const ticket = find(desk.tickets, call);
  const { Status, Queue, Owner, ...given } = call.body.object();
  const status = String(Status ?? ticket.Status).toLowerCase();
  const queue = Queue === undefined ? ticket.Queue : queueOf(desk, Queue);
  const owner = Owner === undefined ? ticket.Owner : userOf(desk, Owner);
  const refusals = [
    ...(STATUSES.includes(status)
      ? []
      : [`Ticket ${ticket.id}: Status '${Status}' isn't a valid status for this ticket.`]),
    ...(queue === undefined ? [`Ticket ${ticket.id}: Queue ${Queue} does not exist`] : []),
    ...(owner === undefined ? [`Ticket ${ticket.id}: That user does not exist`] : []),
  ];
  const changes = {
    ...readColumns(given),
    ...(STATUSES.includes(status) && { Status: status }),
    ...(queue !== undefined && { Queue: queue }),
    ...(owner !== undefined && { Owner: owner }),
  };
  const names = Object.entries(changes).filter(
    ([name, value]) => JSON.stringify(ticket[name]) !== JSON.stringify(value),
  );
  for (const [name, value] of names) {
    const values = { OldValue: shorten(ticket[name]), NewValue: shorten(value) };
    addTransaction(desk, clock, { ObjectId: ticket.id, Type: 'Set', Field: name, ...values });
  }
  desk.tickets.table.update(String(ticket.id), changes);
  return json([...refusals, ...names.map(([name]) => `Ticket ${ticket.id}: ${name} changed`)]);
}

/** The server fails where it is done already. */
export function removeTicket({ tickets }: Desk, call: Call): Answer {
  const { id, Status } = find(tickets, call);
  if (Status === 'deleted') throw fault(500, 'Internal Server Error');
  tickets.table.update(String(id), { Status: 'deleted' });
  return empty();
}

const KINDS: Readonly<Record<string, string>> = { comment: 'Comment', correspond: 'Correspond' };

/** @throws Fault 400 also for a ticket that there is not */
export function addMessage(desk: Desk, clock: Clock, call: Call): Answer {
  const { Content, ContentType, TimeTaken = 0 } = call.body.object();
  const Type = KINDS[call.params.kind ?? ''];
  if (Type === undefined) throw fault(404, 'Not Found');
  if (Content && !ContentType) throw fault(400, 'ContentType is a required field for application/json');
  const ticket = desk.tickets.table.find(call.params.id ?? '');
  if (ticket === undefined) throw fault(400, 'Message could not be recorded');
  const values = { ObjectId: ticket.id, Type, TimeTaken, Data: 'No Subject' };
  const id = addTransaction(desk, clock, values, Content, ContentType);
  desk.tickets.table.update(String(ticket.id), { TimeWorked: Number(ticket.TimeWorked) + Number(TimeTaken) });
  const said = Type === 'Comment' ? 'Comments added' : 'Correspondence added';
  return json([said], 201, { location: `/REST/2.0/transaction/${id}` });
}

function addTransaction(
  desk: Desk,
  clock: Clock,
  values: TableRow,
  text?: unknown,
  type: unknown = 'text/plain',
): unknown {
  const nothing = { Field: null, OldValue: null, NewValue: null, Data: null };
  const transaction = desk.transactions.table.insert({ ...nothing, ObjectType: 'RT::Ticket', ...values });
  if (typeof text !== 'string' || text === '') return transaction.id;
  const number = 1 + Math.max(...desk.attachments.table.rows().map(({ id }) => Number(id)));
  const made = { ...transaction, Created: printInstant(clock.now()) };
  desk.attachments.table.insert({ ...attachmentOf(made, number, text), ContentType: type });
  return transaction.id;
}

function created(call: Call, type: string, id: unknown): Answer {
  const location = `/REST/2.0/${type}/${id}`;
  return json({ id: String(id), type, _url: `${call.origin}${location}` }, 201, { location });
}

/** Columns that a ticket has, in the form that it keeps them in; others are passed over. */
function readColumns(values: TableRow): TableRow {
  const known = Object.entries(values).filter(([name]) => Object.hasOwn(TICKET, name) && name !== 'id');
  return Object.fromEntries(known.map(([name, value]) => [name, readColumn(name, value)]));
}

function readColumn(name: string, value: unknown): unknown {
  if (name === 'Subject') return value === null ? null : trimSubject(String(value));
  if (TICKET[name] === 'integer') return Number.parseInt(String(value), 10) || 0;
  if (TICKET[name] === 'users') return Array.isArray(value) ? value : [value];
  if (TICKET[name] === 'custom')
    return Object.fromEntries(Object.entries(value ?? {}).map(([field, each]) => [field, [each].flat()]));
  if (TICKET[name] !== 'date') return value;
  const ms = Date.parse(`${String(value).replace(' ', 'T').replace(/Z?$/, 'Z')}`);
  return ms > 0 ? printInstant(ms) : null;
}

function shorten(value: unknown): unknown {
  return value === null || value === undefined ? null : String(value).slice(0, 255);
}

function queueOf({ queues }: Desk, wanted: unknown): unknown {
  return queues.table.rows().find(({ id, Name }) => String(id) === String(wanted) || Name === wanted)?.id;
}

function userOf({ users }: Desk, wanted: unknown): unknown {
  return users.table.rows().find(({ id, Name }) => String(id) === String(wanted) || Name === wanted)?.Name;
}
