import {
  type Config,
  json,
  type ProviderEvent,
  rejected,
  type WebhookCall,
  type Webhooks,
  webhooks,
  type XmlElement,
  xml,
} from '#connector';

/**
 * The response that confirms a delivery. After any other response Salesforce repeats the message for 24 hours. Source: SOAP API Developer
 * Guide, "Understanding the Outbound Messaging WSDL" (`notificationsResponse`), and "Outbound Messaging".
 */
const ACKNOWLEDGED =
  '<?xml version="1.0" encoding="UTF-8"?>' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>' +
  '<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>' +
  '</soapenv:Body></soapenv:Envelope>';

/** Objects that are polled and reported by default. */
export const USUAL_OBJECTS = ['Account', 'Contact', 'Opportunity'] as const;

/**
 * Outbound messages: SOAP calls with up to 100 notifications about one object. They have no signature. They name the organization that sent
 * them, which its members know. Source: SOAP API Developer Guide, "Considerations for Security".
 */
export const outboundMessages: Webhooks = {
  verify: 'unsigned',
  events: readEvents,
  // Outbound messages can be set up for every object. These are the default objects.
  reports: Object.fromEntries(USUAL_OBJECTS.map((name) => [name, ['created', 'updated'] as const])),
  response: { status: 200, headers: { 'content-type': 'text/xml; charset=utf-8' }, body: ACKNOWLEDGED },
  setup: [
    'In Salesforce open Setup → Outbound Messages, choose New Outbound Message, and choose the object.',
    'Enter the `eventUrl` of the instance as the endpoint URL. Leave “Send Session ID” off.',
    'Select the fields `Id`, `CreatedDate` and `SystemModstamp`, which distinguish new records from changed ones, and save.',
    'Create a record-triggered flow for the object that runs after a record is created or updated, add the action “Outbound Message” with this message, and activate it.',
    'Repeat this for each object. Deletions send no outbound message: poll for them as well.',
  ],
};

function readEvents(call: WebhookCall, config: Config): readonly ProviderEvent[] {
  const notifications = xml.child(xml.child(webhooks.xml(call), 'Body'), 'notifications');
  const organization = json.text(xml.text(notifications, 'OrganizationId'), 'the organization');
  assertOwn(organization, config);
  const action = xml.text(notifications, 'ActionId');
  return xml.children(notifications, 'Notification').map((notification) => {
    const sObject = xml.child(notification, 'sObject');
    // A type such as `sf:Account`.
    const objectName = json.text(sObject?.attributes.get('type')?.replace(/^.*:/, ''), 'the type of a record');
    const fields = fieldsOf(sObject);
    return {
      // The id stays the same when Salesforce sends the message again.
      id: json.text(xml.text(notification, 'Id'), 'the id of a notification'),
      ...changeOf(fields),
      objectName,
      objectId: json.text(fields.Id, 'the id of a record'),
      // The session id, which some messages have, is left out, because it is a credential.
      raw: { OrganizationId: organization, ActionId: action, sObject: { type: objectName, ...fields } },
    };
  });
}

/** Length of an organization's id. Ids of 18 characters have three more, which follow from the others. */
const ID_LENGTH = 15;

/**
 * Asserts that a message comes from the organization of the instance, if it is known from the log-in.
 * @throws AppError PROVIDER_REJECTED for another organization
 */
function assertOwn(organization: string, config: Config): void {
  const [, own] = /\/id\/(00D\w{12})/.exec(String(config[IDENTITY_URL])) ?? [];
  if (own === undefined || organization.slice(0, ID_LENGTH) === own) return;
  throw rejected('The message comes from another Salesforce organization than the instance.');
}

/** The configuration key of the URL that identifies the user who logged in: `https://login.salesforce.com/id/00D…/005…`. */
export const IDENTITY_URL = 'identity.url';

type Fields = Readonly<Record<string, string | null>>;

/** Returns the fields of a record as texts. A missing value is null. */
function fieldsOf(sObject: XmlElement | undefined): Fields {
  return Object.fromEntries(
    sObject?.children.map(({ name, text, attributes }) => [name, attributes.get('nil') === 'true' ? null : text]) ?? [],
  );
}

/** Maximum difference of the two times of a creation, in milliseconds. One save sets both, but its other work may take a moment. */
const CREATED_TOLERANCE_MS = 2_000;

/**
 * Returns the action and the time of a change. A message contains the values at the time it is sent, so a record that was created and then
 * changed before that is `updated`.
 */
function changeOf({ CreatedDate, SystemModstamp, LastModifiedDate }: Fields): Pick<ProviderEvent, 'action' | 'at'> {
  const changedMs = Date.parse(SystemModstamp ?? LastModifiedDate ?? '');
  const createdMs = Date.parse(CreatedDate ?? '');
  if (Number.isNaN(changedMs)) return { action: 'unknown' };
  const at = new Date(changedMs);
  if (Number.isNaN(createdMs)) return { action: 'unknown', at };
  return { action: Math.abs(changedMs - createdMs) <= CREATED_TOLERANCE_MS ? 'created' : 'updated', at };
}
