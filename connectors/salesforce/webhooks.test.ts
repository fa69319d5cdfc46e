import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { ORGANIZATION_ID } from './simulator/ids.ts';
import { writeMessage } from './simulator/outbound.ts';
import { outboundMessages } from './webhooks.ts';

const OWN = { 'identity.url': `https://login.salesforce.com/id/${ORGANIZATION_ID}/0055g0000000001AAA` };
const CREATED = '2026-01-31T08:30:00.000+0000';

function callOf(body: string): WebhookCall {
  return { method: 'POST', url: 'https://x.example/', headers: {}, body: Buffer.from(body) };
}

function notify(body: string, config: Readonly<Record<string, string>> = OWN) {
  return outboundMessages.events(callOf(body), config);
}

function messageOf(fields: object, objectName = 'Account'): string {
  return writeMessage(objectName, [{ id: '04l5g0000000001AAA', row: { Id: '0015g0000000001AAA', ...fields } }]).body;
}

/** A message in the form that users recorded in the tests of their listeners on GitHub, with a session id and custom fields. */
const RECORDED = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>00Dd0000000gzcrEAA</OrganizationId>
   <ActionId>04kd00000008StmAAE</ActionId>
   <SessionId>00Dd0000000gzcr!ARkAQAX8isu.secret</SessionId>
   <EnterpriseUrl>https://na14-api.salesforce.com/services/Soap/c/26.0/00Dd0000000gzcr</EnterpriseUrl>
   <PartnerUrl>https://na14-api.salesforce.com/services/Soap/u/26.0/00Dd0000000gzcr</PartnerUrl>
   <Notification>
    <Id>04ld000000E885fAAB</Id>
    <sObject xsi:type="sf:IO__Order__c" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>a01d0000006qftoAAA</sf:Id>
     <sf:Name>A &amp; B &lt;c&gt;</sf:Name>
     <sf:Note__c xsi:nil="true"/>
    </sObject>
   </Notification>
  </notifications>
 </soapenv:Body>
</soapenv:Envelope>`;

describe('outbound messages of Salesforce', () => {
  it('tell of records by the names and ids of the API, and keep no session id', () => {
    const own = { 'identity.url': 'https://login.salesforce.com/id/00Dd0000000gzcrEAA/005d0000000gzcrEAA' };
    const reported = notify(RECORDED, own);
    expect(reported).to.deep.equal([
      {
        id: '04ld000000E885fAAB',
        action: 'unknown',
        objectName: 'IO__Order__c',
        objectId: 'a01d0000006qftoAAA',
        raw: {
          OrganizationId: '00Dd0000000gzcrEAA',
          ActionId: '04kd00000008StmAAE',
          sObject: { type: 'IO__Order__c', Id: 'a01d0000006qftoAAA', Name: 'A & B <c>', Note__c: null },
        },
      },
    ]);
    expect(JSON.stringify(reported)).not.to.include('secret');
  });

  it('tell new records from changed ones by their times, where they are sent', () => {
    const actionOf = (fields: object) => notify(messageOf(fields)).map(({ action, at }) => [action, at?.toISOString()]);
    const later = '2026-01-31T08:30:03.000+0000';
    const at = '2026-01-31T08:30:00.000Z';
    expect(actionOf({ CreatedDate: CREATED, SystemModstamp: CREATED })).to.deep.equal([['created', at]]);
    expect(actionOf({ CreatedDate: CREATED, LastModifiedDate: CREATED })).to.deep.equal([['created', at]]);
    expect(actionOf({ CreatedDate: CREATED, SystemModstamp: later })).to.deep.equal([
      ['updated', '2026-01-31T08:30:03.000Z'],
    ]);
    expect(actionOf({ SystemModstamp: CREATED })).to.deep.equal([['unknown', at]]);
    expect(actionOf({ CreatedDate: CREATED })).to.deep.equal([['unknown', undefined]]);
    expect(actionOf({ CreatedDate: CREATED, SystemModstamp: null })).to.deep.equal([['unknown', undefined]]);
  });

  it('tell of up to a hundred records at once, each by an id of its own', () => {
    const rows = Array.from({ length: 100 }, (_, index) => ({ id: `04l${index}`, row: { Id: `001${index}` } }));
    const reported = notify(writeMessage('Contact', rows).body);
    expect(reported.map(({ id, objectName, objectId }) => [id, objectName, objectId])).to.deep.equal(
      rows.map(({ id, row }) => [id, 'Contact', row.Id]),
    );
  });

  it('of other organizations are refused, as far as the login has told the own one', () => {
    const other = messageOf({}).replace(`<OrganizationId>${ORGANIZATION_ID}`, '<OrganizationId>00D000000000062EAA');
    expect(() => notify(other)).to.throw('The message comes from another Salesforce organization than the instance.');
    expect(notify(other, {})).to.have.length(1);
    const short = messageOf({}).replace(ORGANIZATION_ID, ORGANIZATION_ID.slice(0, 15));
    expect(notify(short)).to.have.length(1);
  });

  it('are acknowledged as Salesforce wants it', () => {
    const { status, headers, body } = outboundMessages.response ?? {};
    expect([status, headers]).to.deep.equal([200, { 'content-type': 'text/xml; charset=utf-8' }]);
    expect(body).to.match(
      /<notificationsResponse xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound"><Ack>true<\/Ack>/,
    );
  });

  it('are not understood in any other form', () => {
    for (const body of ['', '{}', '<a/>', RECORDED.slice(0, 900), `<!DOCTYPE a [<!ENTITY b "c">]>${RECORDED}`]) {
      expect(() => notify(body), body.slice(0, 20)).to.throw();
    }
    const without = (part: RegExp) => RECORDED.replace(part, '');
    expect(() => notify(without(/<OrganizationId>.*?<\/OrganizationId>/))).to.throw('lacks the organization.');
    expect(() => notify(without(/<Id>.*?<\/Id>/), {})).to.throw('lacks the id of a notification.');
    expect(() => notify(without(/<sf:Id>.*?<\/sf:Id>/), {})).to.throw('lacks the id of a record.');
    expect(() => notify(without(/ xsi:type="[^"]*"/), {})).to.throw('lacks the type of a record.');
  });
});
