import {
  type ConfigField,
  codec,
  json,
  type ProviderEvent,
  type WebhookCall,
  type Webhooks,
  webhooks,
} from '#connector';
import { isName } from './tables.ts';

const SIGNATURE = 'x-causeway-signature';
const TIMESTAMP = 'x-causeway-timestamp';
/**
 * Tolerance for the age of a call. Calls wait in the queue of a busy instance. Older calls are rejected, and younger ones are remembered,
 * so that a repeated call does not count.
 */
const HOUR_SECONDS = 60 * 60;

export const WEBHOOK_SECRET = {
  key: 'webhook.secret',
  type: 'string',
  secret: true,
  pattern: /^[\x21-\x7e]{16,255}$/,
  description:
    'For webhooks: a secret of your choice, of 16 to 255 printable ASCII characters, with which the business rule signs its requests.',
  setup: [
    'Choose a long random text. Enter it here, and in ServiceNow as the system property `causeway.webhook.secret`.',
    '`webhooks.setup` of `GET /elements/{keyOrId}` and the README of the element show the business rule.',
  ],
} as const satisfies ConfigField;

/**
 * The script of the business rule, for users to copy. ServiceNow runs ECMAScript 5 in the global scope. Sources: server API reference,
 * "RESTMessageV2", "GlideCertificateEncryption" (both the key and the result are Base64), "GlideRecord" (`operation`, `getRecordClassName`,
 * `getUniqueValue`).
 */
export const BUSINESS_RULE = `(function executeRule(current, previous) {
  var body = JSON.stringify({
    table: '' + current.getRecordClassName(),
    sys_id: '' + current.getUniqueValue(),
    operation: '' + current.operation(),
    sys_mod_count: '' + current.getValue('sys_mod_count'),
    sys_updated_on: '' + current.getValue('sys_updated_on')
  });
  var time = '' + Math.floor(new Date().getTime() / 1000);
  var key = GlideStringUtil.base64Encode(gs.getProperty('causeway.webhook.secret'));
  var signature = new GlideCertificateEncryption().generateMac(key, 'HmacSHA256', time + '.' + body);
  var message = new sn_ws.RESTMessageV2();
  message.setEndpoint(gs.getProperty('causeway.webhook.url'));
  message.setHttpMethod('POST');
  message.setRequestHeader('Content-Type', 'application/json');
  message.setRequestHeader('X-Causeway-Timestamp', time);
  message.setRequestHeader('X-Causeway-Signature', signature);
  message.setRequestBody(body);
  message.executeAsync();
})(current, previous);`;

/** Tables that are polled and reported by default. */
export const USUAL_TABLES = ['incident', 'problem', 'change_request'] as const;

/** Webhooks of a business rule. ServiceNow has no webhooks of its own, but a business rule can send them. */
export const businessRules: Webhooks = {
  verify: webhooks.hmac({
    header: SIGNATURE,
    algorithm: 'sha256',
    encoding: 'base64',
    signed: ({ headers, body }) => [`${headers[TIMESTAMP]}.`, body],
    signedAt: ({ headers }) => headers[TIMESTAMP],
    tolerance: HOUR_SECONDS,
  }),
  secretKey: WEBHOOK_SECRET.key,
  // A rule can be set up for every table. These are the default tables.
  reports: webhooks.allChangesOf(USUAL_TABLES),
  events: readEvents,
  setup: [
    'In ServiceNow, as an administrator in the global scope, open the table `sys_properties` and create two properties of the type string, both private: `causeway.webhook.url` with the `eventUrl` of the instance, and `causeway.webhook.secret` with the `webhook.secret` of the instance.',
    'Open System Definition → Business Rules and create a rule for the table, such as `incident`. Select Active and Advanced; When is “after”; select Insert, Update and Delete.',
    'Enter this script under Advanced, and save.',
    BUSINESS_RULE,
    'Repeat the rule for each table whose changes you need. A rule for a table that others extend, such as `task`, covers them as well.',
  ],
};

/** Actions by the operation of `GlideRecord.operation()`. */
const ACTIONS: ReadonlyMap<string, ProviderEvent['action']> = new Map([
  ['insert', 'created'],
  ['update', 'updated'],
  ['delete', 'deleted'],
]);

function readEvents(call: WebhookCall): readonly ProviderEvent[] {
  const raw = json.object(webhooks.json(call), 'what happened');
  const table = json.text(raw.table, 'the table of a record');
  if (!isName(table)) throw new Error('The table of a record is not the name of a table.');
  const objectId = json.text(raw.sys_id, 'the id of a record');
  const operation = json.text(raw.operation, 'the operation on a record');
  const changed = json.findText(raw.sys_updated_on) ?? '';
  const action = ACTIONS.get(operation) ?? 'unknown';
  return [
    {
      // A record counts its changes, so its next change is another event.
      id: [table, objectId, operation, String(raw.sys_mod_count), changed].join(':'),
      action,
      objectName: table,
      objectId,
      at: action === 'deleted' ? sentAt(call) : instantOf(changed),
      raw,
    },
  ];
}

/** Returns the time of the call. The last change of a deleted record was before its deletion. */
function sentAt({ headers }: WebhookCall): Date {
  return new Date(Number(headers[TIMESTAMP]) * 1000);
}

/** Reads a time such as `2026-01-31 08:30:00`, in UTC. If it is invalid, the result is an invalid date, which stands for now. */
function instantOf(text: string): Date {
  return new Date(String(codec.localTime().read(text)));
}
