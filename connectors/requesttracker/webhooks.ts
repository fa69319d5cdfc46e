import { type ConfigField, json, type ProviderEvent, type WebhookCall, type Webhooks, webhooks } from '#connector';

const SIGNATURE = 'x-causeway-signature';
const TIMESTAMP = 'x-causeway-timestamp';

export const WEBHOOK_SECRET = {
  key: 'webhook.secret',
  type: 'string',
  secret: true,
  pattern: /^[A-Za-z0-9_-]{16,255}$/,
  description:
    'For webhooks: a secret of your choice, of 16 to 255 letters, digits, `_` and `-`, with which the scrip signs its requests.',
  setup: [
    'Choose a long random text. Enter it here, and in the code of the scrip in Request Tracker.',
    '`webhooks.setup` of `GET /elements/requesttracker` and the README of the element show the scrip.',
  ],
} as const satisfies ConfigField;

/**
 * The code of the scrip, for users to copy. Its stage is Batch, so the changes are committed and can be read. Sources, of bestpractical/rt:
 * `RT::Action::UserDefined` (which runs it), `RT::Record::Role::Scrip` (`TransactionBatch`), `etc/cpanfile` (the modules are installed).
 */
export const SCRIP = `my $url = 'EVENT_URL';
my $secret = 'WEBHOOK_SECRET';
require Digest::SHA;
require JSON;
require LWP::UserAgent;
my $ticket = $self->TicketObj;
my @changes = map { +{
    id => $_->Id, type => $_->Type, field => $_->Field, new => $_->NewValue, created => $_->Created
} } @{ $ticket->TransactionBatch || [] };
my $body = JSON->new->ascii->canonical->encode({ ticket => $ticket->Id, transactions => \\@changes });
my $time = time;
my $answer = LWP::UserAgent->new(timeout => 10)->post($url,
    'Content-Type' => 'application/json',
    'X-Causeway-Timestamp' => $time,
    'X-Causeway-Signature' => Digest::SHA::hmac_sha256_hex("$time.$body", $secret),
    Content => $body,
);
RT->Logger->error('Causeway: ' . $answer->status_line) unless $answer->is_success;
return 1;`;

/** Webhooks of a scrip. Request Tracker has no webhooks of its own, but a scrip can send them. */
export const scrips: Webhooks = {
  verify: webhooks.hmac({
    header: SIGNATURE,
    algorithm: 'sha256',
    encoding: 'hex',
    signed: ({ headers, body }) => [`${headers[TIMESTAMP]}.`, body],
    signedAt: ({ headers }) => headers[TIMESTAMP],
  }),
  secretKey: WEBHOOK_SECRET.key,
  events: readEvents,
  reports: webhooks.allChangesOf(['tickets']),
  setup: [
    'In Request Tracker open Admin → Global → Scrips → Create (or the scrips of one queue).',
    'Choose the condition “On Transaction”, the action “User Defined”, the template “Blank”, and the stage “Batch”.',
    'Enter `return 1;` as “Custom action preparation code”. Without it, the scrip does not run.',
    'Enter this code as “Custom action commit code”, with the `eventUrl` and the `webhook.secret` of the instance in its first two lines, and save.',
    SCRIP,
  ],
};

/** Reads the event of a call, which contains all transactions of one request about one ticket. */
function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = json.object(webhooks.json(call), 'what happened');
  const objectId = json.key(raw.ticket, 'the id of a ticket');
  const changes = json.objects(raw.transactions, 'the transactions');
  const last = changes.at(-1);
  if (last === undefined) return [];
  const has = (test: (change: Readonly<Record<string, unknown>>) => boolean) => changes.some(test);
  const isDeletion = has(({ type, new: value }) => type === 'Status' && value === 'deleted');
  const isCreation = has(({ type }) => type === 'Create');
  return [
    {
      // The id of a transaction never changes.
      id: `${objectId}:${json.key(last.id, 'the id of a transaction')}`,
      action: isDeletion ? 'deleted' : isCreation ? 'created' : 'updated',
      objectName: 'tickets',
      objectId,
      at: instantOf(last.created),
      raw,
    },
  ];
}

/**
 * Reads a time of the database such as `2026-01-31 08:30:00`, in UTC. If it is invalid, the result is an invalid date, which stands for
 * now.
 */
function instantOf(text: unknown): Date {
  return new Date(`${String(text).replace(' ', 'T')}Z`);
}
