import { type Call, empty, Fault, json, type SimulatedResponse, type TableRow } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { type Account, present } from './account.ts';
import { invalid } from './lists.ts';

type Collection = Account[keyof Account];

/** Reads the form of a request. Twilio ignores bodies of other types. */
function readForm({ body }: Call): URLSearchParams {
  return body.type === 'application/x-www-form-urlencoded' ? body.form() : new URLSearchParams();
}

const ADDRESS = /^(?:[a-z]+:)?\+[1-9]\d{4,14}$|^(?:client|sip|sim):.+$/;
/** Twilio's test number that is never valid. */
const NOT_VALID = '+15005550001';
/** Values in the response to a creation, which does not show later states. */
const QUEUED = { status: 'queued', date_sent: null, start_time: null, end_time: null, price: null };

/**
 * Creates a message or a call. The response has the status `queued`. Later responses show the message as delivered, and the call as
 * completed.
 * @throws Fault 400
 */
export function create(collection: Collection, call: Call): SimulatedResponse {
  const { name, needed, table } = collection;
  const form = readForm(call);
  const missing = Object.entries(needed).find(([, fields]) => !fields.split(' ').some((field) => form.get(field)));
  if (missing !== undefined) throw new Fault(400, missing[0], `${missing[1].replaceAll(' ', ' or ')} is required.`);
  const to = form.get('To') ?? '';
  if (!ADDRESS.test(to) || to === NOT_VALID) throw new Fault(400, '21211', `Invalid 'To' Phone Number: ${to}`);
  const [from, service] = [form.get('From') || null, form.get('MessagingServiceSid') || null];
  const own =
    name === 'Messages'
      ? { status: 'delivered', body: form.get('Body') ?? '', messaging_service_sid: service, price: '-0.00750' }
      : { status: 'completed', duration: '0' };
  return json(present(collection, { ...table.insert({ to, from, ...own }), ...QUEUED }), 201);
}

/**
 * Updates a message or a call. The body of a message can be emptied, and an unfinished call can be ended or receive other instructions.
 * @throws Fault 400 for other changes, and in a state in which the change is impossible
 */
export function update(collection: Collection, { sid, status }: TableRow, call: Call): SimulatedResponse {
  const { name, ends, table } = collection;
  const form = readForm(call);
  const wanted = form.get('Status');
  const isRedirected = form.has('Url') || form.has('Twiml');
  if (form.get('Body')) throw invalid('Body can only be emptied.');
  if (wanted !== null && !Object.hasOwn(ends, wanted)) throw invalid(`Status cannot become '${wanted}'.`);
  const states = wanted === null ? 'in-progress' : (ends[wanted] ?? '');
  if ((wanted !== null || isRedirected) && !states.split(' ').includes(String(status))) {
    if (name === 'Messages') throw invalid(`A message that is ${status} cannot be canceled.`);
    throw new Fault(400, '21220', `Call is not in-progress. Cannot ${isRedirected ? 'redirect' : 'end'}.`);
  }
  const values = { ...(form.has('Body') && { body: '' }), ...(wanted !== null && { status: wanted }) };
  return json(present(collection, table.update(String(sid), values) ?? {}));
}

/**
 * Deletes a resource.
 * @throws Fault 409 for a message or call in progress
 */
export function remove({ name, table }: Collection, { sid, status }: TableRow): SimulatedResponse {
  if (name !== 'Recordings' && official.unfinished.split(' ').includes(String(status))) {
    throw new Fault(409, '20009', 'Cannot delete this resource before it is complete');
  }
  table.remove(String(sid));
  return empty();
}
