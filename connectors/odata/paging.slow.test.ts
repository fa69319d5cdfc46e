import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import type { ListInput, ListPage } from '#connector';
import {
  connect,
  type DiscoveredConnection,
  fieldOf,
  type Provider,
  type Row,
  startProvider,
} from '#connector/testing';
import { type CapServer, startCapServer } from '../../test/support/cap-server.ts';
import odata from './index.ts';
import { createSimulator, DEMO_CONFIGURATION, type ODataSimulatorOptions } from './simulator.ts';

/** Starts the simulator. The connector reaches it through the fictitious host demo.example.com, as the platform does. */
const startSimulator = (options: Partial<ODataSimulatorOptions> = {}) =>
  startProvider(odata, (given) => createSimulator({ ...given, ...options }), DEMO_CONFIGURATION);

const FIRST_PAGE: ListInput<unknown> = { parameters: {}, fields: [], orderBy: [], limit: 100 };

function idsOf(records: readonly Row[], name: string): unknown[] {
  return records.map((record) => record[name]);
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

describe('OData paging on the simulator', function () {
  this.timeout(60_000);
  let simulator: Provider;

  afterEach(() => simulator.stop());

  for (const maxPageSize of [1, 7, 1000, undefined]) {
    for (const links of ['absolute', 'relative'] as const) {
      it(`gives each of 240 rows once, the server giving ${maxPageSize ?? 'all it is asked for'} with ${links} links`, async () => {
        simulator = await startSimulator({ links, ...(maxPageSize !== undefined && { maxPageSize }) });
        const connection = await simulator.connect().discover();
        const products = connection.object('Products');
        for (const limit of [1, 3, 7, 10, 80, 240, 241, 1000]) {
          const records = await connection.listAll(products, { limit });
          expect(idsOf(records, 'Id'), `limit ${limit}`).to.deep.equal(numbers(240));
        }
      });
    }
  }

  it('starts at any row', async () => {
    simulator = await startSimulator({ maxPageSize: 7 });
    const connection = await simulator.connect().discover();
    const products = connection.object('Products');
    const cursor = products.list?.cursorAt?.(100) ?? '';
    const page: ListPage = await connection.run(products.list, { ...FIRST_PAGE, limit: 5, cursor });
    expect(page.records.map((record) => Object(record).Id)).to.deep.equal([101, 102, 103, 104, 105]);
  });

  it('keeps filter, order and fields while it follows the pages', async () => {
    simulator = await startSimulator({ maxPageSize: 3 });
    const connection = await simulator.connect().discover();
    const products = connection.object('Products');
    const query = {
      filter: 'Stock ge 40',
      orderBy: [{ field: fieldOf(products, 'Stock'), direction: 'desc' as const }],
      fields: [fieldOf(products, 'Stock')],
      limit: 7,
    };
    const records: Row[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await connection.list(products, { ...query, ...(cursor !== undefined && { cursor }) });
      records.push(...page.records.map((record): Row => Object(record)));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    const stocks = idsOf(records, 'Stock').map(Number);
    expect(stocks).to.have.length.above(20);
    expect(stocks).to.deep.equal([...stocks].sort((a, b) => b - a));
    expect(new Set(idsOf(records, 'Id'))).to.have.property('size', records.length);
    expect(Object.keys(records[0] ?? {})).to.have.members(['Id', 'Stock']);
  });

  it('lists what lies below a record, page by page', async () => {
    for (const links of ['absolute', 'relative'] as const) {
      simulator = await startSimulator({ maxPageSize: 2, links });
      const connection = await simulator.connect().discover();
      const lines = connection.object('Orders').children?.Lines;
      if (lines === undefined) throw new Error('There are no lines below orders.');
      const records = await connection.listAll(lines, { parentId: "A/0'x", limit: 10 });
      expect(idsOf(records, 'id')).to.deep.equal([1, 2, 3].map((line) => `OrderCode='A/0''x',Line=${line}`));
      await simulator.stop();
    }
    simulator = await startSimulator();
  });

  it('asks for a window and one row more, ordered by the key', async () => {
    simulator = await startSimulator();
    const connection = await simulator.connect().discover();
    const request = connection.object('Products').list;
    if (request === undefined || !('request' in request)) throw new Error('The list is no pair of functions.');
    expect(request.request(FIRST_PAGE, connection.context.config)).to.deep.equal({
      path: '/Products',
      query: { $filter: undefined, $orderby: 'Id asc', $select: undefined, $top: 101, $skip: undefined },
      headers: {},
    });
  });
});

describe('OData paging where the service decides', () => {
  const METADATA = (annotations: string) => `<edmx:Edmx Version="4.0" xmlns:edmx="e"><edmx:DataServices>
    <Schema Namespace="S"><EntityType Name="T"><Key><PropertyRef Name="a"/></Key><Property Name="a" Type="Edm.Int32"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="S.T">${annotations}</EntitySet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>`;

  let server: Server | undefined;

  afterEach(() => server?.close().closeAllConnections());

  /** Returns a connection to a server that sends the given responses in order. */
  async function scripted(annotations: string, bodies: readonly unknown[]) {
    const queue = [METADATA(annotations), ...bodies];
    server = createServer((_request, response) => {
      const body = queue.shift();
      response.setHeader('content-type', typeof body === 'string' ? 'application/xml' : 'application/json');
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
    return { connection: await connect(odata, { config: { 'base.url': `${origin}/root/` } }).discover(), origin };
  }

  it('neither skips nor tops where the set says that it cannot, and follows the links', async () => {
    const { connection, origin } = await scripted(
      '<Annotation Term="Org.OData.Capabilities.V1.SkipSupported" Bool="false"/>',
      [{ value: [{ a: 1 }, { a: 2 }], '@odata.nextLink': '/root/Ts?x=%27y%27' }, { value: [{ a: 3 }, { a: 4 }] }],
    );
    const records = await connection.listAll(connection.object('Ts'), { limit: 2 });
    expect(idsOf(records, 'a')).to.deep.equal([1, 2, 3, 4]);
    expect(connection.requests.slice(1)).to.deep.equal([
      `GET ${origin}/root/Ts?$orderby=a%20asc`,
      `GET ${origin}/root/Ts?x=%27y%27`,
    ]);
    expect(connection.object('Ts').list).to.not.have.property('cursorAt');
  });

  it('follows links that lead beyond $top, and asks for nothing behind their end', async () => {
    const { connection, origin } = await scripted('', [
      { value: [{ a: 1 }, { a: 2 }, { a: 3 }], '@odata.nextLink': 'Ts?$skiptoken=b' },
      { value: [{ a: 4 }, { a: 5 }, { a: 6 }] },
    ]);
    const records = await connection.listAll(connection.object('Ts'), { limit: 2 });
    expect(idsOf(records, 'a')).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(connection.requests.slice(1)).to.deep.equal([
      `GET ${origin}/root/Ts?$orderby=a%20asc&$top=3`,
      `GET ${origin}/root/Ts?$skiptoken=b`,
    ]);
  });

  it('takes all that a service gives which does not know $top', async () => {
    const { connection } = await scripted('', [{ value: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }] }]);
    const records = await connection.listAll(connection.object('Ts'), { limit: 2 });
    expect(idsOf(records, 'a')).to.deep.equal([1, 2, 3, 4]);
  });

  it('tells the total that a service gives unasked', async () => {
    const { connection } = await scripted('', [{ value: [], '@odata.count': 12 }]);
    const page: ListPage = await connection.run(connection.object('Ts').list, FIRST_PAGE);
    expect(page).to.deep.equal({ records: [], total: 12 });
  });
});

describe('OData paging on SAP CAP', function () {
  this.timeout(60_000);
  let server: CapServer;
  let connection: DiscoveredConnection;

  before(async () => {
    server = await startCapServer();
    connection = await connect(odata, { config: { 'base.url': server.url } }).discover();
  });

  after(() => server.stop());

  for (const limit of [1, 5, 7, 8, 10, 14, 53, 54, 1000]) {
    it(`gives each of 53 rows once in windows of ${limit}, the server giving seven at a time`, async () => {
      const pages = await connection.listAll(connection.object('Pages'), { limit });
      expect(idsOf(pages, 'ID')).to.deep.equal(numbers(53));
    });
  }

  it('sorts stably by a field that many rows share', async () => {
    const pages = connection.object('Pages');
    const orderBy = [{ field: fieldOf(pages, 'score'), direction: 'desc' as const }];
    const records = await connection.listAll(pages, { limit: 10, orderBy });
    const expected = [...server.rows.Pages].sort((a, b) => b.score - a.score || a.ID - b.ID);
    expect(idsOf(records, 'ID')).to.deep.equal(expected.map(({ ID }) => ID));
  });

  it('sorts by each sortable type, null first', async () => {
    const products = connection.object('Products');
    for (const name of [
      'price',
      'weight',
      'rating',
      'released',
      'soldAt',
      'changedAt',
      'stock',
      'views',
      'active',
    ] as const) {
      const records = await connection.listAll(products, {
        orderBy: [{ field: fieldOf(products, name), direction: 'asc' }],
      });
      const rank = (value: unknown) => (typeof value === 'string' && /^[\d.]+$/.test(value) ? Number(value) : value);
      const values = records.map((record) => rank(record[name]));
      const firstKnown = values.findIndex((value) => value !== null);
      expect(firstKnown, name).to.be.above(0);
      const known = values.slice(firstKnown);
      expect(
        known.every((value, index) => index === 0 || Object(known[index - 1]) <= Object(value)),
        name,
      ).to.equal(true);
    }
  });

  it('lists what lies below a record, through relative links', async () => {
    const reviews = connection.object('Products').children?.reviews;
    if (reviews === undefined) throw new Error('There are no reviews below products.');
    const records = await connection.listAll(reviews, { parentId: '2', limit: 5 });
    const expected = server.rows.Reviews.filter(({ product_ID }) => product_ID === 2);
    expect(idsOf(records, 'ID')).to.deep.equal(expected.map(({ ID }) => ID));
    const filtered = await connection.listAll(reviews, { parentId: '2', filter: 'stars gt 3' });
    expect(filtered).to.have.length(expected.filter(({ stars }) => stars > 3).length);
  });
});
