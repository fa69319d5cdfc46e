import { json, type ProviderEvent, rejected, type WebhookCall, type Webhooks, webhooks } from '#connector';

export const SECRET = 'webhook.secret';
/** The header that the setup tells people to enter. Dataverse signs nothing: it sends headers that people chose. */
const HEADER = 'x-webhook-key';

/** Objects whose webhooks are usually wanted. Every other table has them, too. */
const USUAL = ['account', 'contact', 'lead', 'opportunity', 'incident', 'task'];

const ACTIONS: Readonly<Record<string, ProviderEvent['action']>> = {
  Create: 'created',
  Update: 'updated',
  Delete: 'deleted',
};

/** Webhooks that people register for a message of a table. Source: "Use webhooks to create external handlers for server events". */
export const pluginWebhooks: Webhooks = {
  verify: webhooks.token({ header: HEADER }),
  secretKey: SECRET,
  reports: webhooks.allChangesOf(USUAL),
  events: (call) => [readEvent(call)],
  setup: [
    'Open the Plug-in Registration Tool, connect to the environment, and choose Register → Register New Web Hook.',
    'Enter the `eventUrl` of the instance as the endpoint URL.',
    `Choose the authentication HttpHeader, and add the key \`${HEADER}\` with the value of \`${SECRET}\`.`,
    'Register an asynchronous step of the web hook for each message (Create, Update, Delete) of each table that you want.',
  ],
};

/** The body is the context of the event, `RemoteExecutionContext`. */
function readEvent(call: WebhookCall): ProviderEvent {
  const raw = webhooks.json(call);
  const message = json.text(json.at(raw, 'MessageName'), 'the message');
  const action = ACTIONS[message];
  if (action === undefined) throw rejected(`The message '${message}' is none of Create, Update and Delete.`);
  // An asynchronous step has an operation of its own for each change, and keeps it when it is tried again. A synchronous one has none.
  const id = json.findText(json.at(raw, 'OperationId'));
  return {
    ...(id !== undefined && /[1-9a-f]/i.test(id) && { id }),
    action,
    objectName: json.text(json.at(raw, 'PrimaryEntityName'), 'the name of the table'),
    objectId: json.text(json.at(raw, 'PrimaryEntityId'), 'the id of the record'),
    raw,
  };
}
