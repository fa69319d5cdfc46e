import { type Call, empty, fault, json, type SimulatedResponse, type TableRow } from '#connector/simulator';
import type { Desk } from './desk.ts';

const BEGINNINGS = ['new', 'open', 'resolved'];

/**
 * Creates a ticket. An unknown owner becomes Nobody.
 * @throws Fault 400
 */
export function createTicket(desk: Desk, call: Call): SimulatedResponse {
  const { Content, ...said } = call.body.object();
  const values = known(desk.tickets.read(said));
  const { Status = 'new' } = said;
  if (values.Queue === undefined) throw fault(400, 'Could not create ticket. Queue not set');
  if (!BEGINNINGS.includes(String(Status).toLowerCase())) {
    throw fault(400, `New tickets can not have status '${Status}' in this queue.`);
  }
  const { id } = desk.tickets.table.insert(values);
  addTransaction(desk, { ObjectId: id, Type: 'Create' }, { Content });
  return json({ id: String(id), type: 'ticket' }, 201, { location: `/REST/2.0/ticket/${id}` });
}

const REFUSALS: Readonly<Record<string, (value: unknown) => string>> = {
  Status: (value) => `Status '${value}' isn't a valid status for this ticket.`,
  Queue: (value) => `Queue ${value} does not exist`,
  Owner: () => 'That user does not exist',
};

/**
 * Updates a ticket. The response is a success even for refused values, which it reports among its messages.
 * @throws Fault 404
 */
export function updateTicket({ tickets, ...desk }: Desk, { params: { id = '' }, body }: Call): SimulatedResponse {
  const ticket = tickets.get(id);
  const said = body.object();
  const values = known(tickets.read(said, ticket));
  const refusals = Object.entries(REFUSALS).flatMap(([name, message]) =>
    name in said && values[name] === undefined ? [message(said[name])] : [],
  );
  const changed = Object.keys(values).filter((name) => JSON.stringify(ticket[name]) !== JSON.stringify(values[name]));
  for (const Field of changed) {
    const [OldValue, NewValue] = [ticket, values].map(({ [Field]: value }) => value && String(value).slice(0, 255));
    addTransaction({ tickets, ...desk }, { ObjectId: ticket.id, Type: 'Set', Field, OldValue, NewValue });
  }
  tickets.table.update(id, values);
  return json([...refusals, ...changed.map((name) => `${name} changed`)].map((text) => `Ticket ${id}: ${text}`));
}

/** Deletes a ticket. If it was deleted already, Request Tracker fails with a server error. */
export function removeTicket({ tickets }: Desk, { params: { id = '' } }: Call): SimulatedResponse {
  if (tickets.get(id).Status === 'deleted') throw fault(500, 'Internal Server Error');
  tickets.table.update(id, { Status: 'deleted' });
  return empty();
}

/**
 * Adds a comment or a reply to a ticket.
 * @throws Fault 400 also for a ticket that does not exist
 */
export function addMessage(
  desk: Desk,
  Type: 'Comment' | 'Correspond',
  { params: { id = '' }, body }: Call,
): SimulatedResponse {
  const { Content, ContentType, TimeTaken = 0 } = body.object();
  if (Content && !ContentType) throw fault(400, 'ContentType is a required field for application/json');
  const ticket = desk.tickets.table.find(id);
  if (ticket === undefined) throw fault(400, 'Message could not be recorded');
  const values = { ObjectId: ticket.id, Type, TimeTaken, Data: 'No Subject' };
  const transaction = addTransaction(desk, values, { Content, ContentType });
  desk.tickets.table.update(id, { TimeWorked: Number(ticket.TimeWorked) + Number(TimeTaken) });
  const said = Type === 'Comment' ? 'Comments added' : 'Correspondence added';
  return json([said], 201, { location: `/REST/2.0/transaction/${transaction}` });
}

function addTransaction({ transactions, attachments }: Desk, values: TableRow, message: TableRow = {}): unknown {
  const { id } = transactions.table.insert({ ObjectType: 'RT::Ticket', ...values });
  const { Content, ContentType = 'text/plain' } = message;
  if (Content) attachments.table.insert({ TransactionId: id, Content, ContentType });
  return id;
}

/** Returns the values that could be read. */
function known(values: TableRow): TableRow {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
