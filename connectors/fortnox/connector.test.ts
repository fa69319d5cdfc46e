import { expect } from 'chai';
import { type Connection, failureOf, normalise, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import fortnox from './index.ts';
import { toSwedishMinute } from './lists.ts';
import { articles, customers, invoices, orders, suppliers } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

const OBJECTS = { customers, suppliers, articles, orders, invoices };

/** Returns the requests to Fortnox in their order. */
function asked(name: string, where: string, orderBy?: string): readonly unknown[] {
  const object = objectOf(OBJECTS, name);
  const { plan } = prepareQuery({ where, orderBy }, object);
  return plan.queries.map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const { parameters } = plan;
    const input = { filter: native, parameters, fields: [], orderBy: plan.sortPushed ? plan.orderBy : [], limit: 5 };
    const { page: _, limit: __, ...query } = object.list.request(input, {}).query ?? {};
    return query;
  });
}

describe('Fortnox, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(fortnox, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('searches by one field at a time, and by a part of a text', () => {
    expect(asked('customers', "City = 'ÄLMHULT'")).to.deep.equal([{ city: 'ÄLMHULT' }]);
    expect(asked('customers', "Name LIKE 'And%'")).to.deep.equal([{ name: 'And' }]);
    expect(asked('customers', "Phone1 IN ('1', '2')")).to.deep.equal([{ phone: '1' }, { phone: '2' }]);
    expect(asked('articles', "EAN = '1' AND Description = 'x'")).to.deep.equal([{ ean: '1' }]);
    expect(asked('customers', "Name = 'a\\b'")).to.deep.equal([{}]);
    expect(asked('invoices', 'DocumentNumber = 52')).to.deep.equal([{ documentnumber: '52' }]);
  });

  it('bounds days with a day more at each end, beside a search', () => {
    const where = "InvoiceDate >= '2024-03-01' AND InvoiceDate < '2024-03-31' AND CustomerNumber = '7'";
    expect(asked('invoices', where)).to.deep.equal([
      { fromdate: '2024-02-29', todate: '2024-04-01', customernumber: '7' },
    ]);
  });

  it('leaves the search to what the caller asks for, and refuses two of those', () => {
    const [since, filter] = ["lastmodified = '2024-07-01T10:00:59Z'", "filter = 'unpaid'"];
    const both = asked('invoices', `${since} AND ${filter} AND CustomerNumber = '7' AND InvoiceDate > '2024-01-01'`);
    expect(both).to.deep.equal([{ lastmodified: '2024-07-01 12:00', filter: 'unpaid', fromdate: '2023-12-31' }]);
    const message = 'Fortnox accepts only one of filter and ourreference at a time.';
    expect(() => asked('invoices', `${filter} AND ourreference = 'x'`)).to.throw(message);
  });

  it('writes moments on Swedish clocks, and an hour early where they show the hour again', () => {
    const written = [
      '2024-01-01T10:00:59.999Z',
      '2024-10-27T00:30:00Z',
      '2024-10-27T01:30:00Z',
      '2024-03-31T01:00:00Z',
    ];
    expect(written.map((instant) => toSwedishMinute(Date.parse(instant)))).to.deep.equal([
      '2024-01-01 11:00',
      '2024-10-27 01:30',
      '2024-10-27 02:30',
      '2024-03-31 03:00',
    ]);
  });

  it('sorts by the number of a document, and by nothing that has ties', () => {
    const [query] = asked('orders', 'DocumentNumber > 0', 'DocumentNumber desc');
    expect(query).to.deep.equal({ sortby: 'documentnumber', sortorder: 'descending' });
    expect(asked('orders', 'DocumentNumber > 0', 'OrderDate desc')).to.deep.equal([{}]);
  });

  it('lists nothing that single records say otherwise', async () => {
    for (const object of Object.values(OBJECTS)) {
      for (const row of (await connection.listAll(object)).slice(0, 30)) {
        const id = String(row[object.idField ?? 'id']);
        expect(normalise(object, await connection.run(object.get, { id, fields: [] }))).to.deep.include(row);
      }
    }
  });

  it('empties what is set to null, and keeps what is not named', async () => {
    const set = (values: object) => connection.run(customers.update, { id: '1', values: { ...values }, fields: [] });
    await set({ Comments: 'Kom ihåg', City: 'Klippan' });
    const record = Object(await set({ Comments: customers.fields.Comments?.write?.(null) }));
    expect([record.Comments, record.City]).to.deep.equal([null, 'Klippan']);
  });

  it('says what Fortnox says, in both spellings, with its code', async () => {
    const missing = await failureOf(connection.run(customers.get, { id: '999999', fields: [] }));
    expect(missing).to.include({
      code: 'NOT_FOUND',
      providerMessage: 'Kan inte hitta kunden. (Fortnox error 2000433)',
    });
    const values = { CustomerNumber: '1', Name: 'Again' };
    const taken = await failureOf(connection.run(customers.create, { values, fields: [] }));
    expect(taken).to.include({
      code: 'CONFLICT',
      providerMessage: 'Kundnummer 1 används redan. (Fortnox error 2000637)',
    });
    const refused = failureOf(simulator.connect({ 'client.secret': 'wrong-secret' }).list(customers));
    expect(await refused).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED' });
  });
});
