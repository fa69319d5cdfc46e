import { expect } from 'chai';
import type { Config, ListInput } from '#connector';
import { failureOf, normalise, type Provider, type Row, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import concur from './index.ts';
import { entries, reports } from './objects.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION, TRAVELER_ACCESS_TOKEN } from './simulator.ts';

const EVERYBODY = { user: 'ALL' };

function inputOf(where: string, object: typeof reports): Pick<ListInput<unknown>, 'filter' | 'parameters'> {
  const { plan } = prepareQuery({ where }, object);
  return { filter: plan.native, parameters: plan.parameters };
}

/** Returns the query of the request to Concur, without the page size. */
function asked(where: string, object = reports, config: Config = {}): unknown {
  if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
  const input = { fields: [], orderBy: [], limit: 5, ...inputOf(where, object) };
  const { limit, ...query } = JSON.parse(JSON.stringify(object.list.request(input, config).query));
  return query;
}

describe('SAP Concur', () => {
  let provider: Provider;
  before(async () => {
    provider = await startProvider(concur, createSimulator, {
      ...DEMO_CONFIGURATION,
      'oauth.user.token': DEMO_ACCESS_TOKEN,
    });
  });
  after(() => provider.stop());
  beforeEach(() => provider.reset());

  const rowsOf = (where: string, config: Config = EVERYBODY, object = reports) =>
    provider.connect(config).listAll(object, inputOf(where, object));

  it('moves strict bounds outwards: instants by what the provider rounds, days by one', () => {
    expect(asked("createDate >= '2026-01-31T10:00:00.5+02:00' AND createDate < '2026-02-01T00:00:00Z'")).to.deep.equal({
      createDateAfter: '2026-01-31T08:00:00.490',
      createDateBefore: '2026-02-01T00:00:00.010',
    });
    expect(asked("lastModifiedDate = '2026-01-31T23:59:59.9999Z'")).to.deep.equal({
      modifiedDateAfter: '2026-01-31T23:59:59.989',
      modifiedDateBefore: '2026-02-01T00:00:00.009',
    });
    expect(asked("userDefinedDate > '2024-02-28' AND userDefinedDate <= '2024-02-29'")).to.deep.equal({
      userDefinedDateAfter: '2024-02-27',
      userDefinedDateBefore: '2024-03-01',
    });
  });

  it('asks by codes, and for nothing that would be a list or another code', () => {
    expect(
      asked("approvalStatusCode IN ('A_PEND', 'A_QX7') AND country = 'US' AND paymentStatusCode = 'P_PAID'"),
    ).to.deep.equal({ approvalStatusCode: 'A_PEND,A_QX7', countryCode: 'US', paymentStatusCode: 'P_PAID' });
    for (const odd of ['A_PEND,A_APPR', '', ' A_PEND', 'é']) {
      expect(asked(`approvalStatusCode = '${odd}' AND currencyCode = 'EUR'`), odd).to.deep.equal({
        currencyCode: 'EUR',
      });
    }
    expect(asked("approverLoginID = 'a,b@example.com' AND currencyCode = 'eur'")).to.deep.equal({});
    expect(asked("reportID = '1F' AND isBillable = FALSE AND user = 'a@b.c'", entries, EVERYBODY)).to.deep.equal({
      reportID: '1F',
      isBillable: 'false',
      user: 'a@b.c',
    });
  });

  it('passes on what is true of one entry at least, with bounds as the provider takes them', async () => {
    const where = "vendorName = 'Müller & Söhne' AND hasVAT = TRUE AND entryTransactionDateAfter = '2024-01-31'";
    const query = { vendorName: 'Müller & Söhne', hasVAT: 'true', entryTransactionDateAfter: '2024-01-31' };
    expect(asked(where)).to.deep.equal(query);
    const [withVat, all, entriesWithVat] = await Promise.all([
      rowsOf('hasVAT = TRUE'),
      rowsOf("user = 'ALL'"),
      rowsOf('hasVAT = TRUE', EVERYBODY, entries),
    ]);
    const meant = new Set(entriesWithVat.map(({ reportID }) => reportID));
    expect(withVat.map(({ id }) => id)).to.have.members([...meant]);
    expect(meant.size).to.be.within(1, all.length - 1);
  });

  it('means the reports of the user, of one person, or of everybody', async () => {
    const owners = async (where: string, config: Config) => [
      ...new Set((await rowsOf(where, config)).map(({ ownerLoginID }) => String(ownerLoginID))),
    ];
    const everybody = await owners('id IS NOT NULL', EVERYBODY);
    const [own = ''] = await owners('id IS NOT NULL', {});
    const other = everybody.find((login) => login !== own) ?? '';
    expect(everybody).to.have.members([own, other]);
    expect(await owners(`user = '${other}'`, {})).to.deep.equal([other]);
    expect(await owners('id IS NOT NULL', { user: other })).to.deep.equal([other]);
  });

  it('reads and changes a report of somebody else as its owner, who is known by the entries', async () => {
    const connection = provider.connect(EVERYBODY);
    const all = await rowsOf("user = 'ALL'");
    const own = (await rowsOf('id IS NOT NULL', {})).map(({ id }) => id);
    const spent = new Set((await rowsOf("user = 'ALL'", EVERYBODY, entries)).map(({ reportID }) => reportID));
    const others = all.filter(({ id }) => !own.includes(id));
    const [known, unknown] = [true, false].map((has) => others.find(({ id }) => spent.has(id) === has));
    const get = async (id: unknown): Promise<Row> =>
      normalise(reports, await connection.run(reports.get, { id: String(id), fields: [] }));
    expect(await get(known?.id)).to.deep.equal(known);
    const values = { Name: "O'Neil & Co", Custom1: 'blue' };
    const changed = await connection.run(reports.update, { id: String(known?.id), values, fields: [] });
    expect(normalise(reports, changed)).to.deep.include({ name: values.Name, ownerLoginID: known?.ownerLoginID });
    expect((await failureOf(get(unknown?.id))).code).to.equal('NOT_FOUND');
    const person = provider.connect({ user: unknown?.ownerLoginID });
    expect(await person.run(reports.get, { id: String(unknown?.id), fields: [] })).to.include({ ID: unknown?.id });
  });

  it('takes custom fields as text, the item of a list by its code, and a comment under its own name', async () => {
    const { custom1 } = reports.fields;
    const texts = [{ Value: 'blue' }, { ListItemID: 'gW$1', Code: '01', Value: 'One', Type: 'List' }, null].map(
      custom1?.write ?? String,
    );
    expect(texts).to.deep.equal(['blue', '01', '']);
    const values = { Name: 'Trip', LastComment: 'First', Custom1: 'blue', UserDefinedDate: '2024-02-29T00:00:00' };
    const made = normalise(reports, await provider.connect().run(reports.create, { values, fields: [] }));
    expect(made).to.deep.include({ name: 'Trip', lastComment: 'First', userDefinedDate: '2024-02-29' });
    expect(made.custom1).to.include({ Type: 'Text', Value: 'blue' });
  });

  it('goes on by the offset alone, wherever the address of the next page leads', () => {
    const read = (NextPage: unknown) => {
      if (reports.list === undefined || !('read' in reports.list)) throw new Error('Two halves were expected.');
      const input = { parameters: {}, fields: [], orderBy: [], limit: 1 };
      return reports.list.read({ status: 200, headers: {}, body: { Items: [], NextPage } }, input).next;
    };
    expect(read('http://elsewhere.example.com/x?limit=1&offset=a%24%2Bb')).to.equal('a$+b');
    expect(read(null)).to.equal(undefined);
    expect(() => read('https://us2.api.concursolutions.com/next')).to.throw('the offset of the next page');
  });

  it('tells a refused token from a missing role, which are one status', async () => {
    const connect = (token: string) => provider.connect({ 'oauth.user.token': token });
    const parameters = { user: { kind: 'string', value: 'ALL' } } as const;
    const role = await failureOf(connect(TRAVELER_ACCESS_TOKEN).list(reports, { parameters }));
    expect(role).to.include({ code: 'PROVIDER_REJECTED' });
    expect(JSON.stringify(role)).to.include('Web Services Admin role');
    expect((await failureOf(connect('wrong').list(reports))).code).to.equal('INSTANCE_CREDENTIALS_FAILED');
  });

  it('logs in at one place, and refreshes where the data are', () => {
    const { auth, baseUrl } = concur;
    if (auth.type !== 'oauth2') throw new Error('OAuth was expected.');
    const config = { 'site.address': 'us-impl.api.concursolutions.com' };
    const geolocation = 'https://us2.api.concursolutions.com';
    expect([auth.authorizeUrl?.(config), auth.tokenUrl(config), baseUrl(config)]).to.deep.equal([
      'https://www-us-impl.api.concursolutions.com/oauth2/v0/authorize',
      'https://us-impl.api.concursolutions.com/oauth2/v0/token',
      'https://us-impl.api.concursolutions.com/api/v3.0',
    ]);
    expect([auth.refreshUrl?.({ ...config, geolocation }), baseUrl({ ...config, geolocation })]).to.deep.equal([
      `${geolocation}/oauth2/v0/token`,
      `${geolocation}/api/v3.0`,
    ]);
    const form = auth.values?.geolocation?.pattern;
    const bad = ['http://us2.api.concursolutions.com', `${geolocation}.example.com`, `${geolocation}:8080`];
    expect([geolocation, ...bad].map((url) => form?.test(url))).to.deep.equal([true, false, false, false]);
  });
});
