import {
  createEnteredWebhooks,
  escapeMarkup,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
  type WebhookDelivery,
} from '#connector/simulator';
import { makeId, ORGANIZATION_ID } from './ids.ts';

/** Maximum number of notifications in a SOAP message. Source: the WSDL, `maxOccurs` of `Notification`. */
const MOST_NOTIFICATIONS = 100;
const ACTION_ID = makeId('04k', 1);
/** The fields that the outbound messages of this organization contain. */
const FIELDS = ['CreatedDate', 'Id', 'LastModifiedDate', 'Name', 'SystemModstamp'];

/**
 * Creates the outbound messages for every new and changed record, which go to the entered addresses. Simultaneous changes are sent
 * together.
 */
export function createOutboundMessages(send: SimulatorOptions['send']) {
  const entered = createEnteredWebhooks(send);
  const waiting = new Map<string, Notification[]>();
  let number = 0;

  function flush(): void {
    for (const [objectName, notifications] of waiting) {
      while (notifications.length > 0) {
        const message = writeMessage(objectName, notifications.splice(0, MOST_NOTIFICATIONS));
        entered.report(() => message);
      }
    }
    waiting.clear();
  }

  return {
    commands: entered.commands,
    /** A deletion sends no message. */
    notify: (objectName: string, { after }: TableChange): void => {
      if (after === undefined) return;
      if (waiting.size === 0) queueMicrotask(flush);
      const notifications = waiting.get(objectName) ?? [];
      waiting.set(objectName, notifications);
      notifications.push({ id: makeId('04l', ++number), row: after });
    },
  };
}

export interface Notification {
  readonly id: string;
  readonly row: TableRow;
}

/**
 * Returns an outbound message. Source: SOAP API Developer Guide, "Understanding the Outbound Messaging WSDL"; the format follows messages
 * that users recorded.
 */
export function writeMessage(objectName: string, notifications: readonly Notification[]): WebhookDelivery {
  const api = 'https://acme.my.salesforce.com/services/Soap';
  const organization = ORGANIZATION_ID.slice(0, 15);
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>${ORGANIZATION_ID}</OrganizationId>
   <ActionId>${ACTION_ID}</ActionId>
   <SessionId xsi:nil="true"/>
   <EnterpriseUrl>${api}/c/62.0/${organization}</EnterpriseUrl>
   <PartnerUrl>${api}/u/62.0/${organization}</PartnerUrl>
${notifications.map((notification) => writeNotification(objectName, notification)).join('')}  </notifications>
 </soapenv:Body>
</soapenv:Envelope>`;
  return { headers: { 'content-type': 'text/xml; charset=utf-8', soapaction: '""' }, body };
}

function writeNotification(objectName: string, { id, row }: Notification): string {
  const fields = FIELDS.filter((name) => Object.hasOwn(row, name)).map((name) => writeField(name, row[name] ?? null));
  return `   <Notification>
    <Id>${id}</Id>
    <sObject xsi:type="sf:${objectName}" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
${fields.join('')}    </sObject>
   </Notification>
`;
}

/** Prints a field. Its times have another format of ISO 8601 than in JSON. */
function writeField(name: string, value: unknown): string {
  if (value === null) return `     <sf:${name} xsi:nil="true"/>\n`;
  const text = String(value).replace(/^(\d{4}-.*)\+0000$/, '$1Z');
  return `     <sf:${name}>${escapeMarkup(text)}</sf:${name}>\n`;
}
