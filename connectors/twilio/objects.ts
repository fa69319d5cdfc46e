import {
  type Changes,
  can,
  defineObject,
  type Fields,
  type Inputs,
  json,
  path,
  type RecordsOptions,
  records,
} from '#connector';
import { asked, DECIMAL, day, INTEGER, input, instant, OBJECT, OWN, PARTY, sid, TEXT } from './fields.ts';
import { between, byInputs, listOf } from './list.ts';

const GIVEN = { createable: true } as const;
const WRITABLE = { createable: true, updateable: true } as const;

/** Returns the operations of resources that can be read and removed by SID. */
const kept = (name: string) =>
  ({
    get: (id) => ({ path: path`/${name}/${id}.json` }),
    remove: (id) => ({ method: 'DELETE', path: path`/${name}/${id}.json` }),
  }) satisfies RecordsOptions;

/** Returns the operations of resources that can also be created and updated. Twilio returns the resource each time. */
const sent = (name: string) =>
  ({
    ...kept(name),
    create: { request: (values) => ({ method: 'POST', path: `/${name}.json`, form: toForm(values) }) },
    update: {
      request: (id, values) => ({ method: 'POST', path: path`/${name}/${id}.json`, form: toForm(values) }),
      record: ({ body }) => json.object(body, 'a record'),
    },
  }) satisfies RecordsOptions;

type Values = Readonly<Record<string, unknown>>;

/** Returns the form of a write: `date_sent` is the parameter `DateSent`. A missing value is an empty text, which clears the field. */
function toForm(values: Values): Readonly<Record<string, string>> {
  const toName = (native: string) => native.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(values).map(([native, value]) => [toName(native), String(value ?? '')]));
}

/**
 * Returns how changes are found. Twilio cannot list changes, only what was sent or started since a day. So new records are reported
 * reliably, and later changes within a day, such as the status, are found by comparison.
 */
function newSince(field: string): Changes {
  return { updated: field, created: field, overlapSeconds: 24 * 60 * 60, reports: ['created'] };
}

/** Incoming and outgoing messages: SMS, MMS, WhatsApp and other channels. */
export const messages = defineObject<Inputs>({
  label: 'Messages',
  native: 'Messages',
  fields: {
    id: { ...sid('sid', 'SM|MM'), nullable: false },
    body: { ...TEXT, ...WRITABLE, label: 'Text; an update may only empty it' },
    from: { ...PARTY, ...GIVEN, label: 'Sender' },
    to: { ...PARTY, ...GIVEN, required: true, label: 'Recipient' },
    status: {
      ...TEXT,
      updateable: true,
      label: 'Status; an update may only be `canceled`',
      values: [
        'queued',
        'sending',
        'sent',
        'failed',
        'delivered',
        'undelivered',
        'receiving',
        'received',
        'accepted',
        'scheduled',
        'read',
        'partially_delivered',
        'canceled',
      ],
    },
    direction: { ...TEXT, values: ['inbound', 'outbound-api', 'outbound-call', 'outbound-reply'] },
    dateSent: day('date_sent'),
    dateCreated: instant('date_created'),
    dateUpdated: instant('date_updated'),
    messagingServiceSid: { ...sid('messaging_service_sid', 'MG'), ...GIVEN },
    numSegments: { ...INTEGER, native: 'num_segments' },
    numMedia: { ...INTEGER, native: 'num_media' },
    price: DECIMAL,
    priceUnit: { ...TEXT, native: 'price_unit' },
    errorCode: { ...INTEGER, native: 'error_code' },
    errorMessage: { ...TEXT, native: 'error_message' },
    ...OWN,
    mediaUrl: input('media_url', 'Address of a file to send'),
    contentSid: input('content_sid', 'Template of the content'),
    contentVariables: input('content_variables', 'Values for the template, as JSON'),
    statusCallback: input('status_callback', 'URL to which Twilio reports the status of the message'),
    scheduleType: { ...input('schedule_type', 'Set it to send the message later'), values: ['fixed'] },
    sendAt: { ...input('send_at', 'Time at which to send it'), type: 'datetime' },
  },
  translator: byInputs({ from: 'From', to: 'To', dateSent: between('DateSent') }),
  list: listOf('Messages'),
  changes: newSince('dateSent'),
  ...records(sent('Messages')),
});

const RECORDING = {
  id: { ...sid('sid', 'RE'), nullable: false },
  callSid: sid('call_sid', 'CA'),
  conferenceSid: sid('conference_sid', 'CF'),
  dateCreated: day('date_created'),
  dateUpdated: instant('date_updated'),
  startTime: instant('start_time'),
  duration: { ...INTEGER, label: 'Seconds' },
  channels: INTEGER,
  status: { ...TEXT, values: ['in-progress', 'paused', 'stopped', 'processing', 'completed', 'absent', 'deleted'] },
  source: {
    ...TEXT,
    values: [
      'DialVerb',
      'Conference',
      'OutboundAPI',
      'Trunking',
      'RecordVerb',
      'StartCallRecordingAPI',
      'StartConferenceRecordingAPI',
    ],
  },
  price: DECIMAL,
  priceUnit: { ...TEXT, native: 'price_unit' },
  errorCode: { ...INTEGER, native: 'error_code' },
  mediaUrl: { ...TEXT, native: 'media_url', format: 'uri' },
  encryptionDetails: { ...OBJECT, native: 'encryption_details' },
  ...OWN,
} as const satisfies Fields;

export const recordings = defineObject<Inputs>({
  label: 'Recordings',
  native: 'Recordings',
  fields: {
    ...RECORDING,
    callSid: asked(RECORDING.callSid),
    conferenceSid: asked(RECORDING.conferenceSid),
  },
  parameters: {
    includeDeleted: {
      type: 'boolean',
      description: 'TRUE finds recordings that were deleted in the last 40 days as well.',
    },
  },
  translator: byInputs({ callSid: 'CallSid', conferenceSid: 'ConferenceSid', dateCreated: between('DateCreated') }),
  list: listOf('Recordings'),
  changes: newSince('dateCreated'),
  ...records(kept('Recordings')),
  media: { types: ['audio/mpeg'], request: ({ id }) => ({ path: path`/Recordings/${id}.mp3` }) },
});

/** The recordings of one call. They are read and removed through `recordings`. */
const recordingsOfCall = defineObject<Inputs>({
  label: 'Recordings of the call',
  native: 'Recordings',
  fields: RECORDING,
  translator: byInputs({ dateCreated: between('DateCreated') }),
  list: listOf('Recordings', 'Calls'),
});

const CALL_STATUSES = ['queued', 'ringing', 'in-progress', 'completed', 'busy', 'failed', 'no-answer', 'canceled'];

/** Incoming and outgoing calls. */
export const calls = defineObject<Inputs>({
  label: 'Calls',
  native: 'Calls',
  fields: {
    id: { ...sid('sid', 'CA'), nullable: false },
    from: { ...PARTY, ...GIVEN, required: true, label: 'Caller' },
    to: { ...PARTY, ...GIVEN, required: true, label: 'Called' },
    status: {
      ...TEXT,
      updateable: true,
      label: 'Status; an update may only be `canceled` or `completed`, which ends the call',
      values: CALL_STATUSES,
      domain: { closed: true },
      filter: can.only('exact', '='),
    },
    startTime: day('start_time'),
    endTime: day('end_time'),
    parentCallSid: asked(sid('parent_call_sid', 'CA')),
    direction: TEXT,
    duration: { ...INTEGER, label: 'Seconds' },
    queueTime: { ...INTEGER, native: 'queue_time', label: 'Milliseconds before the call is placed' },
    price: DECIMAL,
    priceUnit: { ...TEXT, native: 'price_unit' },
    answeredBy: { ...TEXT, native: 'answered_by' },
    callerName: { ...TEXT, native: 'caller_name' },
    forwardedFrom: { ...TEXT, native: 'forwarded_from' },
    fromFormatted: { ...TEXT, native: 'from_formatted' },
    toFormatted: { ...TEXT, native: 'to_formatted' },
    phoneNumberSid: { ...TEXT, native: 'phone_number_sid' },
    groupSid: { ...TEXT, native: 'group_sid' },
    trunkSid: { ...TEXT, native: 'trunk_sid' },
    dateCreated: instant('date_created'),
    dateUpdated: instant('date_updated'),
    ...OWN,
    url: { ...input('url', 'Address of the instructions (TwiML)'), updateable: true },
    twiml: { ...input('twiml', 'The instructions themselves'), updateable: true },
    applicationSid: input('application_sid', 'Application with the instructions'),
    statusCallback: {
      ...input('status_callback', 'URL to which Twilio reports the status of the call'),
      updateable: true,
    },
    record: { ...input('record', 'Whether to record it'), type: 'boolean' },
    timeout: { ...input('timeout', 'Seconds to let it ring'), type: 'integer' },
    sendDigits: input('send_digits', 'Keys to dial after connecting'),
  },
  translator: byInputs({
    from: 'From',
    to: 'To',
    status: 'Status',
    parentCallSid: 'ParentCallSid',
    startTime: between('StartTime'),
    endTime: between('EndTime'),
  }),
  list: listOf('Calls'),
  changes: newSince('startTime'),
  ...records(sent('Calls')),
  children: { recordings: recordingsOfCall },
});
