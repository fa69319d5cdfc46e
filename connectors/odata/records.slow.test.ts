import { expect } from 'chai';
import {
  connect,
  type DiscoveredConnection,
  failureOf,
  fieldOf,
  normalise,
  type Provider,
  startProvider,
} from '#connector/testing';
import { type CapServer, startCapServer } from '../../test/support/cap-server.ts';
import odata from './index.ts';
import { compositeId, keyPredicate } from './key.ts';
import { createSimulator, DEMO_CONFIGURATION, type ODataSimulatorOptions } from './simulator.ts';

/** Starts the simulator. The connector reaches it through the fictitious host demo.example.com, as the platform does. */
const startSimulator = (options: Partial<ODataSimulatorOptions> = {}) =>
  startProvider(odata, (given) => createSimulator({ ...given, ...options }), DEMO_CONFIGURATION);

const text = { name: 'code', typeName: 'Edm.String' };
const number = { name: 'line', typeName: 'Edm.Int32' };

describe('OData ids', () => {
  const CASES = [
    { keys: [text], id: "O'Neil", expected: "('O''Neil')" },
    { keys: [text], id: 'a/b?c#d%', expected: "('a%2Fb%3Fc%23d%25')" },
    { keys: [text], id: '..', expected: "('..')" },
    { keys: [number], id: '-12', expected: '(-12)' },
    {
      keys: [{ name: 'id', typeName: 'Edm.Guid' }],
      id: '3F2504E0-4f89-41d3-9a0c-000000000001',
      expected: '(3F2504E0-4f89-41d3-9a0c-000000000001)',
    },
    { keys: [{ name: 'day', typeName: 'Edm.Date' }], id: '2026-01-31', expected: '(2026-01-31)' },
    {
      keys: [{ name: 'at', typeName: 'Edm.DateTimeOffset' }],
      id: '2026-01-31T08:30:00+02:00',
      expected: '(2026-01-31T08%3A30%3A00%2B02%3A00)',
    },
    { keys: [{ name: 'hue', typeName: 'S.Hue' }], id: 'Red', expected: "(S.Hue'Red')" },
    { keys: [{ name: 'hue', typeName: 'S.Hue' }], id: 'Red,Striped', expected: "(S.Hue'Red%2CStriped')" },
    { keys: [{ name: 'hue', typeName: 'S.Hue' }], id: '6', expected: "(S.Hue'6')" },
    { keys: [{ name: 'span', typeName: 'Edm.Duration' }], id: 'PT1H30M', expected: "(duration'PT1H30M')" },
    { keys: [{ name: 'span', typeName: 'Edm.Duration' }], id: '-P1DT0.5S', expected: "(duration'-P1DT0.5S')" },
    { keys: [{ name: 'span', typeName: 'Edm.Duration' }], id: 'PT', expected: "('PT')" },
    {
      keys: [
        { name: 'hue', typeName: 'S.Größe' },
        { name: 'span', typeName: 'Edm.Duration' },
      ],
      id: "hue=S.Größe'a,b',span=duration'PT1S'",
      expected: "(hue=S.Gr%C3%B6%C3%9Fe'a%2Cb',span=duration'PT1S')",
    },
    { keys: [text, number], id: "code='a,b=''1''',line=2", expected: "(code='a%2Cb%3D''1''',line=2)" },
    { keys: [text, number], id: "line=2,code='x'", expected: "(code='x',line=2)" },
  ];
  for (const { keys, id, expected } of CASES) {
    it(`writes ${id} as ${expected}`, () => {
      expect(keyPredicate(keys, id)).to.equal(expected);
    });
  }

  for (const id of ['1)/reviews(2', '1 or true', "x'y", '']) {
    it(`cannot be led astray by '${id}' where a number is meant`, () => {
      expect(decodeURIComponent(keyPredicate([number], id))).to.equal(`('${id.replaceAll("'", "''")}')`);
    });
  }

  for (const id of ['line=2', "code='x',line=2,more=3", "code='x'y',line=2", 'anything']) {
    it(`quotes '${id}' where two keys are meant`, () => {
      expect(decodeURIComponent(keyPredicate([text, number], id))).to.equal(`('${id.replaceAll("'", "''")}')`);
    });
  }

  it('reads back the composite id that it gave', () => {
    const id = compositeId([text, number], { code: "it's a=b,c", line: 7 });
    expect(id).to.equal("code='it''s a=b,c',line=7");
    expect(decodeURIComponent(keyPredicate([text, number], id))).to.equal(`(${id})`);
  });
});

describe('OData records on SAP CAP', function () {
  this.timeout(60_000);
  let server: CapServer;
  let connection: DiscoveredConnection;

  before(async () => {
    server = await startCapServer();
    connection = await connect(odata, { config: { 'base.url': server.url } }).discover();
  });

  after(() => server.stop());

  const get = (name: string, id: string) => connection.run(connection.object(name).get, { id, fields: [] });

  it('creates, reads, updates, replaces and removes a record', async () => {
    const products = connection.object('Products');
    const values = {
      ID: 1000,
      title: "it's new",
      price: 12.5,
      views: '5',
      released: '2026-01-31',
      active: true,
      tags: ['a'],
    };
    const created = await connection.run(products.create, { values, fields: [] });
    expect(normalise(products, created)).to.deep.include(values);
    const updated = await connection.run(products.update, { id: '1000', values: { title: 'changed' }, fields: [] });
    expect(normalise(products, updated)).to.deep.include({ ...values, title: 'changed' });
    const replaced = await connection.run(products.replace, { id: '1000', values: { title: 'replaced' }, fields: [] });
    expect(normalise(products, replaced)).to.deep.include({
      ID: 1000,
      title: 'replaced',
      price: null,
      active: null,
      tags: [],
    });
    expect(normalise(products, await get('Products', '1000'))).to.deep.include({ title: 'replaced' });
    await connection.run(products.remove, { id: '1000' });
    expect(await failureOf(get('Products', '1000'))).to.have.property('code', 'NOT_FOUND');
  });

  it('keeps every digit of 64-bit and decimal numbers, in both directions', async () => {
    const products = connection.object('Products');
    const values = { ID: 1001, title: 'digits', views: '9007199254740993', price: 1234567.25 };
    const created = await connection.run(products.create, { values, fields: [] });
    expect(normalise(products, created)).to.include({ views: '9007199254740993', price: 1234567.25 });
    await connection.run(products.remove, { id: '1001' });
  });

  it('reads every record by every kind of id', async () => {
    for (const { code } of server.rows.Documents) {
      expect(await get('Documents', code), code).to.have.property('code', code);
    }
    const lines = await connection.listAll(connection.object('OrderLines'));
    expect(lines).to.have.length(server.rows.OrderLines.length);
    for (const line of lines) {
      expect(await get('OrderLines', String(line.id))).to.deep.equal(line);
    }
    const [review] = server.rows.Reviews;
    expect(await get('Reviews', review?.ID ?? '')).to.have.property('text', 'Review 0');
  });

  it('reads only the fields that are needed, with the key', async () => {
    const products = connection.object('Products');
    const record = await connection.run(products.get, { id: '3', fields: [fieldOf(products, 'price')] });
    expect(record).to.have.all.keys('ID', 'price');
  });

  it('changes and removes a record that is guarded by an ETag, and shows no ETag', async () => {
    const contracts = connection.object('Contracts');
    const updated = await connection.run(contracts.update, { id: '1', values: { name: 'renewed' }, fields: [] });
    expect(updated).to.include({ name: 'renewed' });
    expect(Object.keys(Object(updated)).filter((name) => name.includes('@'))).to.deep.equal([]);
    await connection.run(contracts.remove, { id: '2' });
    expect(await failureOf(get('Contracts', '2'))).to.have.property('code', 'NOT_FOUND');
  });

  it('creates nothing when the record to change does not exist', async () => {
    const products = connection.object('Products');
    const input = { id: '4711', values: { title: 'nobody' }, fields: [] };
    expect(await failureOf(connection.run(products.update, input))).to.have.property('code', 'NOT_FOUND');
    expect(await failureOf(connection.run(products.replace, input))).to.have.property('code', 'NOT_FOUND');
    expect(await failureOf(get('Products', '4711'))).to.have.property('code', 'NOT_FOUND');
  });
});

describe('OData records on the simulator', () => {
  let simulator: Provider;

  afterEach(() => simulator.stop());

  for (const answersChanges of ['with record', 'without record'] as const) {
    it(`creates and changes on a service that answers ${answersChanges}`, async () => {
      simulator = await startSimulator({ answersChanges });
      const connection = await simulator.connect().discover();
      const products = connection.object('Products');
      const created = await connection.run(products.create, {
        values: { Name: "it's new", Price: '12345.50', 'Package.Unit': 'box', 'Package.Store.City': 'Ulm' },
        fields: [],
      });
      expect(normalise(products, created)).to.deep.include({ Id: 241, Name: "it's new", Price: 12345.5 });
      expect(Object(created).Package).to.deep.equal({ Unit: 'box', Store: { City: 'Ulm' } });
      const change = { id: '241', values: { Views: '9223372036854775807' }, fields: [] };
      expect(normalise(products, await connection.run(products.update, change))).to.include({
        Views: '9223372036854775807',
      });
      const orders = connection.object('Orders');
      const order = await connection.run(orders.create, { values: { Code: "new/'1'" }, fields: [] });
      expect(order).to.deep.include({ Code: "new/'1'", Paid: null });
      const replaced = await connection.run(orders.replace, { id: "new/'1'", values: { Paid: true }, fields: [] });
      expect(replaced).to.deep.include({ Code: "new/'1'", Paid: true });
      await connection.run(orders.remove, { id: "new/'1'" });
      const gone = connection.run(orders.get, { id: "new/'1'", fields: [] });
      expect(await failureOf(gone)).to.have.property('code', 'NOT_FOUND');
    });
  }

  it('turns a change of an unknown id into not found, where the service would have created a record', async () => {
    simulator = await startSimulator();
    const connection = await simulator.connect().discover();
    const lines = connection.object('OrderLines');
    const input = { id: "OrderCode='nobody',Line=1", values: { Quantity: 1 }, fields: [] };
    expect(await failureOf(connection.run(lines.update, input))).to.have.property('code', 'NOT_FOUND');
    expect(await failureOf(connection.run(lines.replace, input))).to.have.property('code', 'NOT_FOUND');
  });

  for (const action of ['update', 'replace'] as const) {
    it(`removes what a service creates under another key instead of the ${action} of nothing`, async () => {
      simulator = await startSimulator({ quirks: { upserts: 'under a key of its own' } });
      const connection = await simulator.connect().discover();
      const products = connection.object('Products');
      const change = connection.run(products[action], { id: '4711', values: { Name: 'nobody' }, fields: [] });
      const { code, details } = await failureOf(change);
      expect(code).to.equal('NOT_FOUND');
      const message =
        'The record did not exist, so the service created one at /Products(241) (status 201). Causeway deleted it again.';
      expect(details).to.deep.equal([{ message }]);
      expect(await connection.listAll(products)).to.have.length(240);
    });
  }

  it('names what a service creates that does not say so', async () => {
    simulator = await startSimulator({
      answersChanges: 'without record',
      quirks: { upserts: 'under a key of its own' },
    });
    const connection = await simulator.connect().discover();
    const change = { id: '4711', values: { Name: 'nobody' }, fields: [] };
    const { code, details } = await failureOf(connection.run(connection.object('Products').update, change));
    expect(code).to.equal('NOT_FOUND');
    const otherAddress = 'https://demo.example.com/odata/v4/shop/Products(241)';
    expect(details).to.deep.equal([
      { message: `The service returned the address of another record, ${otherAddress}. Causeway did not change it.` },
    ]);
  });

  it('leaves what a service creates under the key of a change, as it could have been there before, and tells so', async () => {
    simulator = await startSimulator({ quirks: { upserts: 'under the key asked for' } });
    const connection = await simulator.connect().discover();
    const products = connection.object('Products');
    const change = connection.run(products.update, { id: '4711', values: { Name: 'nobody' }, fields: [] });
    const { code, details } = await failureOf(change);
    expect(code).to.equal('NOT_FOUND');
    expect(details?.[0]?.message).to.match(
      /created one at \/Products\(4711\) \(status 201\)\. The new record still exists\.$/,
    );
    expect(await connection.listAll(products)).to.have.length(241);
  });

  it('changes a record that is there on a service that ignores If-Match', async () => {
    simulator = await startSimulator({ quirks: { upserts: 'under a key of its own' } });
    const connection = await simulator.connect().discover();
    const products = connection.object('Products');
    const changed = await connection.run(products.update, { id: '7', values: { Name: 'changed' }, fields: [] });
    expect(changed).to.include({ Id: 7, Name: 'changed' });
  });

  it('says what was created when it cannot be read back', async () => {
    simulator = await startSimulator({ answersChanges: 'without record', quirks: { hidesCreated: true } });
    const connection = await simulator.connect().discover();
    const create = async (name: string, values: Readonly<Record<string, unknown>>) =>
      failureOf(connection.run(connection.object(name).create, { values, fields: [] }));
    const byAddress = await create('Products', { Name: 'hidden' });
    expect(byAddress.code).to.equal('PROVIDER_PROTOCOL');
    expect(byAddress.message).to.match(
      /^The service created the record at https:\/\/demo\.example\.com\/odata\/v4\/shop\/Products\(241\)\. Do not create it again\. Reading it back failed: \w+[^:]* returned 404: it has nothing/,
    );
    const byKey = await create('Orders', { Code: 'hidden' });
    expect(byKey.message).to.match(/^The service created the record with the id 'hidden'\. Do not create it again\./);
  });

  it('reads records whose ids have slashes from a web server that takes none in paths', async () => {
    simulator = await startSimulator({ collation: 'ignoring case', quirks: { refusesSlashes: true } });
    const connection = await simulator.connect().discover();
    const orders = connection.object('Orders');
    const codes = ['a/b', 'A/B', "back\\'slash"];
    for (const Code of codes) await connection.run(orders.create, { values: { Code }, fields: [] });
    for (const id of codes) {
      expect(await connection.run(orders.get, { id, fields: [] })).to.have.property('Code', id);
    }
    expect(await failureOf(connection.run(orders.get, { id: 'a/c', fields: [] }))).to.have.property(
      'code',
      'NOT_FOUND',
    );
    const lines = connection.object('OrderLines');
    const id = "OrderCode='A/0''x',Line=1";
    const line = (await connection.listAll(lines)).find((each) => each.id === id);
    expect(line).to.not.equal(undefined);
    expect(await connection.run(lines.get, { id, fields: [] })).to.deep.equal(line);
  });

  it('shows nested decimals and instants as it shows those at the top', async () => {
    simulator = await startSimulator();
    const connection = await simulator.connect().discover();
    const [first] = await connection.listAll(connection.object('Products'), { limit: 1 });
    expect(first?.Package).to.deep.equal({ Unit: 'box', Height: 0.25, Store: { City: 'Köln', Floor: 0 } });
    expect(first?.Views).to.equal('9007199254740990');
    expect(first?.Weight).to.equal('0.12345678901234567');
  });
});

describe('OData credentials', () => {
  let simulator: Provider;

  before(async () => {
    simulator = await startSimulator();
  });

  after(() => simulator.stop());

  const probe = async (config: Record<string, string>) => {
    const settings = { 'base.url': 'https://demo.example.com/odata/v4/private', ...config };
    return simulator.connect(settings).context.send(odata.probe);
  };

  it('are refused by the probe when they are wrong or missing', async () => {
    expect(await failureOf(probe({ username: 'demo', password: 'wrong' }))).to.have.property(
      'code',
      'INSTANCE_CREDENTIALS_FAILED',
    );
    expect(await failureOf(probe({}))).to.have.property('code', 'INSTANCE_CREDENTIALS_FAILED');
  });

  it('are taken by the probe when they are right', async () => {
    expect(await probe({ username: 'demo', password: 'demo-password' })).to.have.property('status', 200);
  });

  it('pin every request to the host of the service, with its port', () => {
    const { hosts } = odata;
    expect(typeof hosts === 'function' && hosts({ 'base.url': 'https://demo.example.com:8443/x' })).to.deep.equal([
      'demo.example.com:8443',
    ]);
  });
});
