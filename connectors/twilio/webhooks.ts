import { json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';

interface Kind {
  readonly objectName: string;
  readonly sid: string;
  readonly status: string;
  /** Statuses that report a new resource. */
  readonly first: readonly string[];
}

/** Kinds of resources. The first kind whose id is present applies, because an event of a recording also contains its call. */
const KINDS: readonly Kind[] = [
  { objectName: 'recordings', sid: 'RecordingSid', status: 'RecordingStatus', first: ['in-progress', 'completed'] },
  { objectName: 'messages', sid: 'MessageSid', status: 'MessageStatus', first: ['received', 'queued', 'accepted'] },
  { objectName: 'calls', sid: 'CallSid', status: 'CallStatus', first: ['queued', 'initiated', 'ringing'] },
];

/**
 * Webhooks for incoming messages and calls, and for the status of outgoing ones. Twilio signs the URL and the parameters. They contain no
 * time, so the event's id prevents a repeated call from counting twice.
 */
export const accountWebhooks: Webhooks = {
  verify: webhooks.hmac({
    header: 'x-twilio-signature',
    algorithm: 'sha1',
    encoding: 'base64',
    signed: (call) => [call.url, ...signedPairs(call)],
  }),
  secretKey: 'auth.token',
  events: (call) => readEvents(call),
  reports: Object.fromEntries(KINDS.map(({ objectName }) => [objectName, ['created', 'updated'] as const])),
  // Twilio executes the response, so it must be empty.
  response: {
    status: 200,
    headers: { 'content-type': 'text/xml; charset=utf-8' },
    body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
  },
};

/** Returns the signed parameters: sorted by name, and each value of a name once. */
function signedPairs(call: WebhookCall): readonly string[] {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of webhooks.form(call)) values.set(name, (values.get(name) ?? new Set()).add(value));
  return [...values.keys()]
    .toSorted()
    .flatMap((name) => [...(values.get(name) ?? [])].toSorted().map((value) => name + value));
}

function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const form = call.method === 'GET' ? new URL(call.url).searchParams : webhooks.form(call);
  const kind = KINDS.find(({ sid }) => form.has(sid));
  if (kind === undefined) return [];
  const objectId = json.text(form.get(kind.sid), kind.sid);
  // An incoming message has only the older parameter.
  const status = form.get(kind.status) ?? form.get('SmsStatus') ?? '';
  return [
    {
      id: `${objectId}:${status}`,
      action: kind.first.includes(status) ? 'created' : 'updated',
      objectName: kind.objectName,
      objectId,
      raw: Object.fromEntries(form),
    },
  ];
}
