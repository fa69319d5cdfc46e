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
 * The answer that ends a delivery; after any other Salesforce sends the message again for 24 hours. Source: SOAP API Developer Guide,
 * "Understanding the Outbound Messaging WSDL" (`notificationsResponse`), and "Outbound Messaging".
 */
const ACKNOWLEDGED =
  '<?xml version="1.0" encoding="UTF-8"?>' +
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>' +
  '<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>' +
  '</soapenv:Body></soapenv:Envelope>';

/** Objects that are polled and reported by default. */
export const USUAL_OBJECTS = ['Account', 'Contact', 'Opportunity'] as const;

/**
 * Outbound messages: SOAP calls with up to 100 notifications about one object. Nothing in them is signed. They name the organization that
 * sent them, which its members know. Source: SOAP API Developer Guide, "Considerations for Security".
 */
export const outboundMessages: Webhooks = {
  verify: 'unsigned',
  events: readEvents,
  // Outbound messages can be set up for every object; these are the default ones.
  tells: Object.fromEntries(USUAL_OBJECTS.map((name) => [name, ['created', 'updated'] as const])),
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
    // `sf:Account`
    const objectName = json.text(sObject?.attributes.get('type')?.replace(/^.*:/, ''), 'the type of a record');
    const fields = fieldsOf(sObject);
    return {
      // Stays the same when Salesforce sends it again.
      id: json.text(xml.text(notification, 'Id'), 'the id of a notification'),
      ...changeOf(fields),
      objectName,
      objectId: json.text(fields.Id, 'the id of a record'),
      // Without the session id, which some messages have: it is a credential.
      raw: { OrganizationId: organization, ActionId: action, sObject: { type: objectName, ...fields } },
    };
  });
}

/** Ids of an organization have 15 characters, or 18 of which the last three are made of the others. */
const ID_LENGTH = 15;

/** @throws AppError for a message of another organization, where the login has told the own one */
function assertOwn(organization: string, config: Config): void {
  const [, own] = /\/id\/(00D\w{12})/.exec(String(config[IDENTITY_URL])) ?? [];
  if (own === undefined || organization.slice(0, ID_LENGTH) === own) return;
  throw rejected('The message comes from another Salesforce organization than the instance.');
}

/** The configuration key of the address that says who logged in: `https://login.salesforce.com/id/00D…/005…`. */
export const IDENTITY_URL = 'identity.url';

type Fields = Readonly<Record<string, string | null>>;

/** As texts; no value is null. */
function fieldsOf(sObject: XmlElement | undefined): Fields {
  return Object.fromEntries(
    sObject?.children.map(({ name, text, attributes }) => [name, attributes.get('nil') === 'true' ? null : text]) ?? [],
  );
}

/** Both times are set by one save, and other work of that save may take a moment. */
const CREATED_TOLERANCE_MS = 2_000;

/** A message has the values of the moment it is sent, so a record that was created and changed before that is `updated`. */
function changeOf({ CreatedDate, SystemModstamp, LastModifiedDate }: Fields): Pick<ProviderEvent, 'action' | 'at'> {
  const changedMs = Date.parse(SystemModstamp ?? LastModifiedDate ?? '');
  const createdMs = Date.parse(CreatedDate ?? '');
  if (Number.isNaN(changedMs)) return { action: 'unknown' };
  const at = new Date(changedMs);
  if (Number.isNaN(createdMs)) return { action: 'unknown', at };
  return { action: Math.abs(changedMs - createdMs) <= CREATED_TOLERANCE_MS ? 'created' : 'updated', at };
}
