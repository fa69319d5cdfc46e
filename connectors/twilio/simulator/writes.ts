import { type Answer, type Call, empty, Fault, json, type MovableClock, type TableRow } from '#connector/simulator';
import { type Collection, invalid } from './lists.ts';
import { printRow, wholeSeconds } from './rows.ts';

/** Forms only: of any other body the provider sees nothing. */
function readForm({ body }: Call): URLSearchParams {
  return body.type === 'application/x-www-form-urlencoded' ? body.form() : new URLSearchParams();
}

const PHONE = /^(?:[a-z]+:)?\+[1-9]\d{4,14}$/;
const SENDER = /^(?=.*[A-Za-z])[A-Za-z0-9 _&+-]{1,11}$|^\d{3,8}$/;
const CALLEE = /^(?:client|sip|sim):.+$/;

/** The vendor's numbers that always fail. */
const NOT_VALID = '+15005550001';
const NOT_OWNED = '+15005550007';

const LONGEST_BODY = 1600;

function refuse(code: number, message: string): never {
  throw new Fault(400, String(code), message);
}

/**
 * The answer says `queued`; on its next look the message has been delivered.
 * @throws Fault 400
 */
export function createMessage({ name, table }: Collection, clock: MovableClock, call: Call): Answer {
  const form = readForm(call);
  const [to, from, body, service] = ['To', 'From', 'Body', 'MessagingServiceSid'].map((field) => form.get(field) ?? '');
  if (!to) refuse(21_604, "A 'To' phone number is required.");
  if (!PHONE.test(to) || to === NOT_VALID) refuse(21_211, `Invalid 'To' Phone Number: ${to}`);
  if (!from && !service) refuse(21_603, "A 'From' phone number is required.");
  if (from && ((!PHONE.test(from) && !SENDER.test(from)) || from === NOT_VALID)) {
    refuse(21_212, `Invalid From Number (caller ID): ${from}`);
  }
  if (from === NOT_OWNED)
    refuse(21_606, `The 'From' phone number provided (${from}) is not a valid message-capable number.`);
  if (from === to) refuse(21_266, "'To' and 'From' number cannot be the same.");
  const media = form.getAll('MediaUrl').length;
  if (!body && media === 0 && !form.get('ContentSid')) refuse(21_602, 'Message body is required.');
  if (body && body.length > LONGEST_BODY)
    refuse(21_617, 'The concatenated message body exceeds the 1600 character limit.');
  const isScheduled = form.get('ScheduleType') === 'fixed';
  if (isScheduled && !(service && form.get('SendAt')))
    refuse(35_111, 'A MessagingServiceSid and SendAt are required to schedule.');
  const now = wholeSeconds(clock.now());
  const made = { to, from: from || null, body, messaging_service_sid: service || null, num_media: String(media) };
  const delivered = { status: 'delivered', date_sent: now, price: '-0.00750' };
  const row = table.insert({
    ...made,
    num_segments: segmentsOf(body ?? ''),
    ...(isScheduled ? { status: 'scheduled' } : delivered),
  });
  const fresh = { ...row, ...(!isScheduled && { status: 'queued', date_sent: null, price: null }) };
  return json(printRow(name, fresh), 201);
}

/** A text of ASCII is taken for one of GSM-7. */
function segmentsOf(text: string): string {
  const [whole, part] = /^[\x20-\x7e\r\n]*$/.test(text) ? [160, 153] : [70, 67];
  return String(text.length <= whole ? 1 : Math.ceil(text.length / part));
}

/** The answer says `queued`; on its next look the call is over. @throws Fault 400 */
export function createCall({ name, table }: Collection, clock: MovableClock, call: Call): Answer {
  const form = readForm(call);
  const [to, from] = ['To', 'From'].map((field) => form.get(field) ?? '');
  if (!to) refuse(21_201, "No 'To' number is specified");
  if (!from) refuse(21_213, "Caller phone number is required ('From')");
  if ((!PHONE.test(to) && !CALLEE.test(to)) || to === NOT_VALID)
    refuse(21_211, `The phone number you are attempting to call, ${to}, is not valid.`);
  if ((!PHONE.test(from) && !CALLEE.test(from)) || from === NOT_VALID)
    refuse(21_212, `The source phone number provided, ${from}, is not valid.`);
  if (from === NOT_OWNED)
    refuse(21_210, `The source phone number provided, ${from}, is not yet verified for your account.`);
  if (!['Url', 'Twiml', 'ApplicationSid'].some((field) => form.get(field)))
    refuse(21_205, 'Url parameter is required.');
  const now = wholeSeconds(clock.now());
  const row = table.insert({ to, from, status: 'completed', start_time: now, end_time: now, duration: '0' });
  return json(printRow(name, { ...row, status: 'queued', start_time: null, end_time: null, duration: null }), 201);
}

/** @throws Fault 404 for none, and for one that was deleted */
export function find({ table }: Collection, { params, path }: Call, isThere: (row: TableRow) => boolean): TableRow {
  const row = table.find(params.sid ?? '');
  if (row !== undefined && isThere(row)) return row;
  throw new Fault(404, '20404', `The requested resource ${path} was not found`);
}

/** @throws Fault 400 for anything but an emptied text, or the end of what has not been sent */
export function updateMessage({ name, table }: Collection, { sid, status }: TableRow, call: Call): Answer {
  const form = readForm(call);
  const wanted = form.get('Status');
  if (form.get('Body')) throw invalid('Body can only be emptied.');
  if (wanted !== null && wanted !== 'canceled') throw invalid(`Status cannot become '${wanted}'.`);
  if (wanted !== null && !UNSENT.includes(String(status)))
    throw invalid(`A message that is ${status} cannot be canceled.`);
  const changes = { ...(form.has('Body') && { body: '' }), ...(wanted !== null && { status: wanted }) };
  return json(printRow(name, table.update(String(sid), changes) ?? {}));
}

const UNSENT = ['accepted', 'queued', 'scheduled'];
/** From which states a call gets to its end. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  canceled: ['queued', 'ringing'],
  completed: ['queued', 'ringing', 'in-progress'],
};

/** @throws Fault 400 for a call that is not where the change could be made */
export function updateCall({ name, table }: Collection, { sid, status }: TableRow, call: Call): Answer {
  const form = readForm(call);
  const wanted = form.get('Status');
  const redirects = form.has('Url') || form.has('Twiml');
  if (wanted !== null && !Object.hasOwn(ENDS, wanted)) throw invalid(`Status cannot become '${wanted}'.`);
  const from = wanted === null ? ['in-progress'] : ENDS[wanted];
  if ((wanted !== null || redirects) && !from?.includes(String(status))) {
    refuse(21_220, `Call is not in-progress. Cannot ${redirects ? 'redirect' : 'end'}.`);
  }
  return json(printRow(name, table.update(String(sid), wanted === null ? {} : { status: wanted }) ?? {}));
}

const UNFINISHED = ['accepted', 'queued', 'sending', 'scheduled', 'receiving', 'ringing', 'in-progress'];

/** @throws Fault 409 for a message or call that is on its way */
export function remove({ name, table }: Collection, { sid, status }: TableRow): Answer {
  if (name !== 'Recordings' && UNFINISHED.includes(String(status))) {
    throw new Fault(409, '20009', 'Cannot delete this resource before it is complete');
  }
  table.remove(String(sid));
  return empty();
}
