import { type Answer, type Call, empty, Fault, json, type MovableClock, type TableRow } from '#connector/simulator';
import { type Collection, invalid } from './lists.ts';
import { printRow, wholeSeconds } from './rows.ts';

/** Forms only: of any other body the provider sees nothing. */
function readForm({ body }: Call): URLSearchParams {
  return body.type === 'application/x-www-form-urlencoded' ? body.form() : new URLSearchParams();
}

const ADDRESS = /^(?:[a-z]+:)?\+[1-9]\d{4,14}$|^(?:client|sip|sim):.+$/;
/** The vendor's number that is never valid. */
const NOT_VALID = '+15005550001';
const LONGEST_BODY = 1600;

function refuse(code: number, message: string): never {
  throw new Fault(400, String(code), message);
}

/** What a form must have, one member of each list, and the number of the error without it. */
const NEEDED = {
  Messages: [
    [21_604, ['To']],
    [21_603, ['From', 'MessagingServiceSid']],
    [21_602, ['Body', 'MediaUrl', 'ContentSid']],
  ],
  Calls: [
    [21_201, ['To']],
    [21_213, ['From']],
    [21_205, ['Url', 'Twiml', 'ApplicationSid']],
  ],
} as const;

/** @throws Fault 400 */
function readNew(
  name: keyof typeof NEEDED,
  call: Call,
): Readonly<Record<'to' | 'from' | 'body', string>> & { readonly form: URLSearchParams } {
  const form = readForm(call);
  for (const [code, fields] of NEEDED[name]) {
    if (!fields.some((field) => form.get(field))) refuse(code, `${fields.join(' or ')} is required.`);
  }
  const [to = '', from = '', body = ''] = ['To', 'From', 'Body'].map((field) => form.get(field) ?? '');
  if (!ADDRESS.test(to) || to === NOT_VALID) refuse(21_211, `Invalid 'To' Phone Number: ${to}`);
  if (body.length > LONGEST_BODY) refuse(21_617, 'The concatenated message body exceeds the 1600 character limit.');
  return { form, to, from, body };
}

/** The answer says `queued`; on its next look the message has been delivered. @throws Fault 400 */
export function createMessage({ name, table }: Collection, clock: MovableClock, call: Call): Answer {
  const { form, to, from, body } = readNew('Messages', call);
  const isScheduled = form.get('ScheduleType') === 'fixed';
  const delivered = { status: 'delivered', date_sent: wholeSeconds(clock.now()), price: '-0.00750' };
  const row = table.insert({
    to,
    from: from || null,
    body,
    messaging_service_sid: form.get('MessagingServiceSid') || null,
    num_media: String(form.getAll('MediaUrl').length),
    num_segments: segmentsOf(body),
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
  const { to, from } = readNew('Calls', call);
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
