import { expect } from 'chai';
import { toEndpointBody } from '../../src/events/endpoints/cloud-event.ts';
import { compileEventFilter, type EventRow } from '../../src/events/endpoints/event-where.ts';

const ROW: EventRow = {
  type: 'deals.updated',
  objectName: 'deals',
  objectId: '7',
  elementKey: 'pipedrive',
  hub: 'crm',
  instance: { id: 12, name: 'Europe', tags: ['eu', 'vip'] },
  object: { stage: 'Won', amount: 1500, paid: true, closed: '2026-03-01T10:00:00Z', owner: { name: 'Ada' } },
};
const judge = (where: string, more: Partial<EventRow> = {}) => compileEventFilter(where).judge({ ...ROW, ...more });

describe('a filter over events', () => {
  const matching = [
    "objectName = 'deals' AND object.stage = 'Won'",
    "type LIKE 'deals.%' AND elementKey IN ('pipedrive', 'hubspotcrm') AND hub = 'crm'",
    "instance.id = 12 AND instance.name = 'Europe' AND objectId = '7'",
    'object.amount BETWEEN 1000 AND 2000 AND object.paid = TRUE',
    "object.owner.name != 'Bob' AND object.nothing IS NULL",
    'object.closed >= 2026-03-01 AND object.closed < 2026-03-01T10:00:01Z',
    "instance.tags = 'vip' AND instance.tags != 'us' AND instance.tags IS NOT NULL",
    "instance.tags IN ('a', 'eu') AND instance.tags NOT IN ('a', 'b') AND instance.tags LIKE 'v%'",
    "NOT (object.stage = 'Lost' OR instance.tags = 'us')",
  ];
  for (const where of matching) it(`matches: ${where}`, () => expect(judge(where)).to.equal('yes'));

  const others = [
    "object.stage = 'Lost'",
    "instance.tags != 'vip'",
    "instance.tags NOT LIKE 'v%'",
    'instance.tags IS NULL',
    'object.amount > 1500',
    "unknown = 'x'",
    "object.nothing != 'x'",
  ];
  for (const where of others) it(`does not match: ${where}`, () => expect(judge(where)).to.equal('no'));

  it('needs the record only where the rest of the event does not decide', () => {
    const object = undefined;
    expect(judge("object.stage = 'Won'", { object })).to.equal('undecided');
    expect(judge('object.stage IS NULL', { object })).to.equal('undecided');
    expect(judge("objectName = 'leads' AND object.stage = 'Won'", { object })).to.equal('no');
    expect(judge("objectName = 'deals' OR object.stage = 'Won'", { object })).to.equal('yes');
    expect(judge("instance.tags = 'us' OR NOT object.stage = 'Won'", { object })).to.equal('undecided');
  });

  it('compares with the types of the object where they are known, and else with those of the literals', () => {
    const row = { ...ROW, object: { amount: '1500.0' } };
    expect(compileEventFilter("object.amount = '1500'").judge(row)).to.equal('no');
    expect(compileEventFilter("object.amount = '1500'", { amount: { type: 'number' } }).judge(row)).to.equal('yes');
    expect(compileEventFilter('object.amount = 1500').judge(row)).to.equal('yes');
  });

  it('compares as the list does, with the collation and the aliases of a field', () => {
    const row = { ...ROW, object: { Name: 'ADA', updated: '2026-03-01T10:00:00Z' } };
    const types = {
      Name: { type: 'string', collation: 'ci' },
      updated: { type: 'datetime', aliases: { since: '>=' } },
    } as const;
    expect(compileEventFilter("object.Name = 'ada'").judge(row)).to.equal('no');
    expect(compileEventFilter("object.Name = 'ada'", types).judge(row)).to.equal('yes');
    expect(compileEventFilter("object.since = '2026-02-01T00:00:00Z'", types).judge(row)).to.equal('yes');
    expect(compileEventFilter("object.since = '2026-04-01T00:00:00Z'", types).judge(row)).to.equal('no');
  });

  it('of tags alone matches an instance without tags where it is negated', () => {
    const instance = { id: 1, name: 'x', tags: [] };
    expect(judge("instance.tags != 'a'", { instance })).to.equal('yes');
    expect(judge('instance.tags IS NULL', { instance })).to.equal('yes');
    expect(judge("instance.tags = 'a'", { instance })).to.equal('no');
  });

  it('cannot be decided by a text that is too long to be searched', () => {
    const object = { text: 'x'.repeat(5 * 1024 * 1024) };
    expect(judge("object.text LIKE '%y%'", { object })).to.equal('undecided');
  });
});

describe('the body for an endpoint', () => {
  const stored = Buffer.from(
    JSON.stringify({
      id: 'evt_1',
      type: 'deals.updated',
      timestamp: '2026-03-01T10:00:00.000Z',
      data: { elementKey: 'shop', hub: 'general', accountId: 3, instance: { id: 5, name: 'a', tags: [] } },
    }),
  );

  it('is the stored one, byte by byte, in the standard format', () => {
    expect(toEndpointBody(stored, { format: 'standard', companyId: 0, unfiltered: false })).to.equal(stored);
  });

  for (const format of ['standard', 'cloudevents'] as const) {
    it(`says in its data that it is unfiltered, as ${format}`, () => {
      const body = toEndpointBody(stored, { format, companyId: 0, unfiltered: true });
      expect(JSON.parse(body.toString()).data).to.include({ unfiltered: true, elementKey: 'shop' });
    });
  }

  it('says so in the message of the original format', () => {
    const body = toEndpointBody(stored, { format: 'elements', companyId: 8, unfiltered: true });
    expect(JSON.parse(body.toString()).message).to.include({ unfiltered: true, companyId: 8 });
  });

  it('has no subject as a CloudEvent of no record', () => {
    const body = JSON.parse(
      toEndpointBody(stored, { format: 'cloudevents', companyId: 0, unfiltered: false }).toString(),
    );
    expect(body).to.not.have.property('subject');
    expect(body).to.include({ source: '/accounts/3/instances/5', time: '2026-03-01T10:00:00.000Z' });
  });
});
