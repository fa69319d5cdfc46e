import { expect } from 'chai';
import type { Config, UpdateInput } from '#connector';
import { type Connection, failureOf, fieldOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import connectwise from './index.ts';
import { OBJECTS } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** Returns the requests that a query sends to ConnectWise, in their order. */
function asked(name: string, where: string, orderBy?: string) {
  const object = objectOf(OBJECTS, name);
  const { plan } = prepareQuery({ where, orderBy }, object);
  return plan.queries.map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const filter = native === undefined ? {} : { filter: native };
    return object.list.request({ ...filter, parameters: {}, fields: [], orderBy: plan.providerOrder, limit: 5 }, {});
  });
}

const conditions = (name: string, where: string) => asked(name, where).map(({ query }) => query?.conditions);

describe('ConnectWise PSA', () => {
  it('is asked by conditions with names by slashes, instants in brackets, and no text that becomes syntax', () => {
    expect(conditions('incidents', 'company.id IN (2, 3) AND (closedFlag = FALSE OR priority.id > 1)')).to.deep.equal([
      '(company/id in (2, 3) and (closedFlag = false or priority/id > 1))',
    ]);
    expect(conditions('incidents', "_info.lastUpdated >= '2026-01-31T10:00:00.5+02:00'")).to.deep.equal([
      'lastUpdated >= [2026-01-31T08:00:01Z]',
    ]);
    expect(conditions('incidents', "lastUpdated >= '2026-01-31T10:00:00.5+02:00'")).to.deep.equal([
      'lastUpdated >= [2026-01-31T08:00:01Z]',
    ]);
    expect(conditions('incidents', "summary IN ('O''Neil', 'the \"x\"')")).to.deep.equal([
      `summary in ("O'Neil", 'the "x"')`,
    ]);
    expect(conditions('incidents', "summary LIKE 'a\"_[b]%' AND company.name LIKE '%O''Neil%'")).to.deep.equal([
      `(summary like "a%%%b]%" and company/name like "%O'Neil%")`,
    ]);
    expect(conditions('incidents', 'owner.id NOT IN (1, 2)')).to.deep.equal([
      '(owner/id != null and (owner/id != 1 and owner/id != 2))',
    ]);
    for (const odd of ['a\\b', '[x]', 'both \' and "'.replace("'", "''"), 'a\tb', '']) {
      expect(conditions('incidents', `summary = '${odd}' AND id = 7`), odd).to.deep.equal(['id = 7']);
    }
    expect(conditions('incidents', "summary != 'x'")).to.deep.equal([undefined]);
    expect(conditions('incidents', `id = 7 AND summary LIKE '${'ä'.repeat(2000)}%'`)).to.deep.equal(['id = 7']);
  });

  it('leaves deleted companies out, and gives pages by id unless another order is wanted', () => {
    const [byId] = asked('organizations', "city = 'Tampa' OR id = 1");
    expect(byId).to.deep.equal({
      path: '/company/companies',
      query: {
        conditions: 'deletedFlag = false and (city = "Tampa" or id = 1)',
        pageSize: 6,
        pageId: undefined,
      },
      headers: { 'pagination-type': 'forward-only' },
    });
    const [byChange] = asked('contacts', 'id > 1', '_info.lastUpdated desc');
    expect(byChange).to.deep.equal({
      path: '/company/contacts',
      query: { conditions: 'id > 1', orderBy: 'lastUpdated desc,id asc', page: 1, pageSize: 6 },
    });
  });

  it('leads to the hosts of its site alone', () => {
    const addressesOf = ({ site }: Config) => {
      const config = { ...DEMO_CONFIGURATION, site };
      const { hosts } = connectwise;
      return [connectwise.baseUrl(config), ...(typeof hosts === 'function' ? hosts(config) : hosts)];
    };
    expect(addressesOf({ site: 'eu' })).to.deep.equal([
      'https://api-eu.myconnectwise.net/v4_6_release/apis/3.0',
      'api-eu.myconnectwise.net',
      'eu.myconnectwise.net',
    ]);
    expect(addressesOf({ site: 'staging' }).slice(1)).to.deep.equal([
      'api-staging.connectwisedev.com',
      'staging.connectwisedev.com',
    ]);
    const api = ['api-za.myconnectwise.net', 'za.myconnectwise.net'];
    expect(addressesOf({ site: 'za.myconnectwise.net' }).slice(1)).to.deep.equal(api);
    expect(addressesOf({ site: 'API-za.myconnectwise.net' }).slice(1)).to.deep.equal(api);
    expect(addressesOf({ site: 'psa.example.com:8443' })).to.deep.equal([
      'https://psa.example.com:8443/v4_6_release/apis/3.0',
      'psa.example.com:8443',
    ]);
  });

  it('takes a short name or a host as the site, and nothing around it', () => {
    const pattern = connectwise.configuration.find(({ key }) => key === 'site')?.pattern;
    const good = ['na', 'staging', 'za.myconnectwise.net', 'psa.example.com', 'psa.example.com:8443'];
    const bad = [
      '',
      'us',
      'https://na.myconnectwise.net',
      'a.example/x',
      'user@a.example',
      '127.0.0.1',
      'localhost',
      'a..b',
    ];
    expect([...good, ...bad].filter((site) => pattern?.test(site))).to.deep.equal(good);
  });
});

describe('ConnectWise PSA, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(connectwise, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const update = (name: string, id: string, values: UpdateInput['values']) => {
    const object = objectOf(OBJECTS, name);
    return connection.run(object.update, { id, values, fields: [fieldOf(object, 'id')] });
  };

  it('replaces and empties references as a whole', async () => {
    const changed = await update('incidents', '5006', { owner: { id: 1 }, summary: 'Moved' });
    expect([Object(changed).owner.id, Object(changed).summary]).to.deep.equal([1, 'Moved']);
    const emptied = await update('incidents', '5006', { owner: { id: null } });
    expect(Object(emptied)).not.to.have.property('owner');
    expect(Object(emptied).summary).to.equal('Moved');
  });

  it('has no company that was deleted, though ConnectWise goes on showing it', async () => {
    const object = objectOf(OBJECTS, 'organizations');
    const { records } = await connection.list(object);
    const { id } = Object(records[0]);
    const key = { id: String(id), fields: [] };
    await connection.run(object.remove, key);
    const { body } = await connection.context.send({ path: `/company/companies/${id}` });
    expect(Object(body).deletedFlag).to.equal(true);
    for (const operation of [connection.run(object.get, key), connection.run(object.remove, key)])
      expect((await failureOf(operation)).code).to.equal('NOT_FOUND');
    expect((await connection.list(object)).records).to.have.length(records.length - 1);
    const { body: all } = await connection.context.send({ path: '/company/companies', query: { pageSize: 1000 } });
    expect(all).to.have.length.above(records.length - 1);
  });

  it('lists the times of a ticket whole, and takes nothing but a number for it', async () => {
    const times = objectOf(objectOf(OBJECTS, 'incidents').children ?? {}, 'time-entries');
    const rows = await connection.listAll(times, { parentId: '5043', limit: 2 });
    expect(rows.length).to.be.above(0);
    expect(rows.every((row) => row['ticket.id'] === 5043 || Object(row.ticket).id === 5043)).to.equal(true);
    const failure = await failureOf(connection.list(times, { parentId: '1 or id > 0' }));
    expect(failure.code).to.equal('NOT_FOUND');
  });

  it('is refused as somebody unknown where the company is not there', async () => {
    const stranger = simulator.connect({ company: 'nobody' });
    const failure = await failureOf(stranger.list(objectOf(OBJECTS, 'contacts')));
    expect(failure.code).to.equal('INSTANCE_CREDENTIALS_FAILED');
  });
});
