import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { deliver } from './simulator/events.ts';
import { cloudEvents } from './webhooks.ts';

const SECRET = 'a-secret-of-the-broker';
const CHANGED = {
  specversion: '1.0',
  type: 'sap.s4.beh.businesspartner.v1.BusinessPartner.Changed.v1',
  source: '/default/sap.s4.beh/1234',
  id: '0894ef45-7741-1eea-b7be-ce30f48e9a1d',
  time: '2026-01-31T08:30:00Z',
  datacontenttype: 'application/json',
  data: { BusinessPartner: '1000123' },
};
const MAPPED = { 'webhook.objects': 'SalesOrder=A_SalesOrder,BusinessPartner=A_BusinessPartner' };

function callOf(body: unknown, headers: WebhookCall['headers'] = {}, query = ''): WebhookCall {
  const bytes = Buffer.from(JSON.stringify(body));
  return { method: 'POST', url: `https://x.example/events/odata/k${query}`, headers, body: bytes };
}

function verdictOf(call: WebhookCall) {
  const { verify } = cloudEvents;
  return verify === 'unsigned' ? verify : verify(call, { secret: SECRET, now: 0, config: {} });
}

const notify = (event: object, config: Readonly<Record<string, string>> = {}) =>
  cloudEvents.events(callOf({ ...CHANGED, ...event }), config);

describe('CloudEvents for OData', () => {
  it('come from who shows the secret', () => {
    const by = (authorization: string | undefined) => verdictOf(callOf(CHANGED, { authorization }));
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    expect([by(basic(`any:${SECRET}`)), by(basic(`:${SECRET}`)), by(`Bearer ${SECRET}`)]).to.deep.equal([
      'genuine',
      'genuine',
      'genuine',
    ]);
    expect([by(basic(SECRET)), by(basic('any:x')), by(`Bearer ${SECRET}x`), by(SECRET), by('x')]).to.deep.equal(
      Array.from({ length: 5 }, () => 'forged'),
    );
    expect([
      verdictOf(callOf(CHANGED, {}, `?token=${SECRET}`)),
      verdictOf(callOf(CHANGED, {}, '?token=x')),
      verdictOf(callOf(CHANGED)),
      by(undefined),
    ]).to.deep.equal(['genuine', 'forged', 'unsigned', 'unsigned']);
    expect(verdictOf(callOf(CHANGED, deliver(CHANGED, SECRET, 'Bearer').headers))).to.equal('genuine');
  });

  it('tell of records by the objects of the service', () => {
    const event = {
      id: '/default/sap.s4.beh/1234 0894ef45-7741-1eea-b7be-ce30f48e9a1d',
      action: 'updated',
      objectId: '1000123',
      at: new Date('2026-01-31T08:30:00Z'),
      raw: CHANGED,
    };
    expect(notify({})).to.deep.equal([{ ...event, objectName: 'BusinessPartner' }]);
    expect(notify({}, MAPPED)).to.deep.equal([{ ...event, objectName: 'A_BusinessPartner' }]);
  });

  it('tell what happened by the word behind the object', () => {
    const actionOf = (verb: string) => notify({ type: `sap.s4.beh.salesorder.v1.SalesOrder.${verb}` })[0];
    expect(['Created.v1', 'Updated.v2', 'Deleted', 'Released.v1'].map((verb) => actionOf(verb)?.action)).to.deep.equal([
      'created',
      'updated',
      'deleted',
      'unknown',
    ]);
    expect(actionOf('Created.v1')?.objectName).to.equal('SalesOrder');
  });

  it('tell ids as far as they have one', () => {
    const idOf = (data: unknown, more: object = {}) => notify({ data, ...more })[0]?.objectId;
    expect(idOf({ Id: 7 })).to.equal('7');
    expect(idOf({ BusinessPartner: '1', Name: 'x' })).to.equal('1');
    expect(idOf({ A: '1', B: '2' })).to.equal(undefined);
    expect(idOf({ A: '1', B: '2' }, { subject: "A='1',B='2'" })).to.equal("A='1',B='2'");
    const exact = Buffer.from(JSON.stringify(CHANGED).replace('"1000123"', '12345678901234567890'));
    expect(cloudEvents.events({ ...callOf(''), body: exact }, {})[0]?.objectId).to.equal('12345678901234567890');
  });

  it('come in every mode of HTTP', () => {
    const { data, ...attributes } = CHANGED;
    const headers = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]));
    const [binary] = cloudEvents.events(callOf(data, headers), {});
    const [structured] = notify({});
    expect({ ...binary, raw: null }).to.deep.equal({ ...structured, raw: null });
    const batch = cloudEvents.events(callOf([CHANGED, { ...CHANGED, id: '2' }]), {});
    expect(batch.map(({ id }) => id?.split(' ')[1])).to.deep.equal([CHANGED.id, '2']);
  });

  it('are not understood in any other form', () => {
    for (const body of [null, 7, [7], {}]) expect(() => cloudEvents.events(callOf(body), {})).to.throw();
    expect(() => notify({ type: 'ping' })).to.throw('names no object.');
    expect(() => notify({ id: 'x'.repeat(401) })).to.throw('too long.');
    expect(() => notify({ data: { Id: {} } })).to.throw('lacks the id of the record of an event.');
  });
});
