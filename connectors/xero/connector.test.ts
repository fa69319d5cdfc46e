import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { ProviderResponse, WebhookCall } from '#connector';
import { objectOf } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import xero from './index.ts';
import { objects } from './objects.ts';
import { TENANTS } from './simulator.ts';
import { appWebhooks } from './webhooks.ts';

const CONTACT = '1f3c2b1a-0000-4000-8000-000000000001';

/** Returns the requests of a list, without its order and its pages. */
function asked(name: string, where: string): readonly unknown[] {
  const object = objectOf(objects, name);
  const { plan } = prepareQuery({ where, orderBy: undefined }, object);
  return plan.queries.map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const input = { filter: native, parameters: {}, fields: [], orderBy: [], limit: 5 };
    const { query = {}, headers } = object.list.request(input, {});
    const { order: _, page: __, pageSize: ___, includeArchived: ____, ...rest } = query;
    return { ...rest, ...headers };
  });
}

describe('filters of Xero', () => {
  it('use the optimised parameters, once each', () => {
    const other = CONTACT.replace('1f', '2f');
    const where = `ContactID IN ('${CONTACT}', '${other}') AND Status = 'PAID' AND UpdatedDateUTC >= '2026-01-31T10:00:00.5Z'`;
    expect(asked('invoices', where)).to.deep.equal([
      { ContactIDs: `${CONTACT},${other}`, Statuses: 'PAID', 'if-modified-since': '2026-01-31T09:59:59' },
    ]);
    expect(asked('invoices', `Status = 'PAID' AND Status = 'DRAFT'`)).to.deep.equal([
      { Statuses: 'PAID', where: 'Status=="DRAFT"' },
    ]);
  });

  it('are conditions in all other places', () => {
    const where = `(ContactID = '${CONTACT}' OR UpdatedDateUTC >= '2026-01-31T10:00:00Z') AND Date < '2026-02-01' AND Total > 1.50`;
    expect(asked('invoices', where)).to.deep.equal([
      {
        where: `(Contact.ContactID==Guid("${CONTACT}") OR UpdatedDateUTC>=DateTime(2026,1,31,10,0,0)) AND Date<DateTime(2026,2,1) AND Total>1.5`,
      },
    ]);
    expect(asked('contacts', "EmailAddress LIKE '%@example.com'")).to.deep.equal([
      { where: '(EmailAddress!=null AND EmailAddress.EndsWith("@example.com"))' },
    ]);
    expect(asked('payments', 'Reference IS NULL')).to.deep.equal([{ where: 'Status!="DELETED" AND Reference==null' }]);
  });

  it('have no text with a quote or a backslash', () => {
    for (const text of ['5" nail', 'a\\b', 'x") OR (Name!="']) {
      expect(asked('contacts', `Name = '${text}'`)).to.deep.equal([{}]);
    }
    expect(asked('contacts', `Name LIKE 'pipe 5" %'`)).to.deep.equal([
      { where: '(Name!=null AND Name.Contains("pipe 5"))' },
    ]);
  });
});

describe('Xero', () => {
  it('names the organisations of a log-in, of which one must be chosen', async () => {
    const [first, second] = TENANTS;
    const body = TENANTS;
    const find = (config: object) =>
      xero.examine?.({
        config: { ...config },
        signal: new AbortController().signal,
        send: async () => ({ status: 200, headers: {}, body }),
      });
    const words = `The log-in gives access to: ${first?.tenantName}, ${second?.tenantName}. Set \`xero.tenant\` to the name or the id of one of them.`;
    expect(await find({})).to.deep.equal({ 'xero.tenant.id': undefined, 'xero.tenant.warning': words });
    expect(await find({ 'xero.tenant': second?.tenantName })).to.include({ 'xero.tenant.id': second?.tenantId });
  });

  it('repeats what Xero says about a record', () => {
    const elements = [{ ValidationErrors: [{ Message: 'Email address must be valid.' }] }];
    const response: ProviderResponse = {
      status: 400,
      headers: {},
      body: {
        ErrorNumber: 10,
        Type: 'ValidationException',
        Message: 'A validation exception occurred',
        Elements: elements,
      },
    };
    expect(xero.classify?.(response)).to.include({ message: 'Email address must be valid.' });
    expect(xero.rateLimit?.({ 'x-minlimit-remaining': '7' })).to.deep.equal({ remaining: 7, resetSeconds: 60 });
  });
});

describe('webhooks of Xero', () => {
  const event = {
    resourceUrl: `https://api.xero.com/api.xro/2.0/Contacts/${CONTACT}`,
    ...{ resourceId: CONTACT, eventDateUtc: '2026-01-31T01:15:39.902', eventType: 'UPDATE', eventCategory: 'CONTACT' },
    ...{ tenantId: TENANTS[0]?.tenantId, tenantType: 'ORGANISATION' },
  };
  const callOf = (events: readonly unknown[], key = 'key'): WebhookCall => {
    const body = JSON.stringify({ events, lastEventSequence: 1, firstEventSequence: 1, entropy: 'S0m3r4Nd0mt3xt' });
    const signature = createHmac('sha256', key).update(body).digest('base64');
    return { method: 'POST', url: '', headers: { 'x-xero-signature': signature }, body: Buffer.from(body) };
  };

  it('are verified, also without events, and answered without a body', () => {
    const { verify, response } = appWebhooks;
    const verdictOf = (call: WebhookCall) =>
      verify !== 'unsigned' && verify(call, { secret: 'key', now: 0, config: {} });
    expect([callOf([]), callOf([], 'another')].map(verdictOf)).to.deep.equal(['genuine', 'forged']);
    expect(response).to.deep.equal({ status: 200, headers: {}, body: '' });
  });

  it('leave out other organisations and categories', () => {
    const others = [
      { ...event, tenantId: TENANTS[1]?.tenantId },
      { ...event, eventCategory: 'SUBSCRIPTION' },
    ];
    const read = appWebhooks.events(callOf([event, ...others]), { 'xero.tenant.id': event.tenantId });
    expect(
      read.map(({ objectName, objectId, action, at }) => [objectName, objectId, action, at?.toISOString()]),
    ).to.deep.equal([['contacts', CONTACT, 'updated', '2026-01-31T01:15:39.902Z']]);
  });
});
