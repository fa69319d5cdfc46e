import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';

/** `$metadata` of a service with one entity set, `items`. */
function metadata(properties: string, annotations = ''): string {
  return `<?xml version="1.0"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>
      <Property Name="id" Type="Edm.Int32" Nullable="false"/>${properties}</EntityType>
    <EntityContainer Name="C"><EntitySet Name="items" EntityType="T.Item"/></EntityContainer>${annotations}
  </Schema></edmx:DataServices></edmx:Edmx>`;
}

const NAME = '<Property Name="name" Type="Edm.String"/>';
/** Whatever a service has in it. */
const DATA = `${NAME}<Property Name="data" Type="Edm.Untyped"/>`;
/** A record is read by its address then. */
const UNFILTERED = `<Annotations Target="T.C/items"><Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>
  <PropertyValue Property="Filterable" Bool="false"/></Record></Annotation></Annotations>`;
/** Rows are sorted here then. */
const UNSORTED = UNFILTERED.replaceAll('Filter', 'Sort');
const WIDE = Array.from({ length: 4_900 }, (_, n) => `<Property Name="f${n}" Type="Edm.String"/>`).join('');

const members = (count: number) => Array.from({ length: count }, (_, n) => `"m${n}":${n}`).join();
const object = (count: number) => `{"id":1,"name":"x","data":{${members(count)}}}`;
const list = (count: number) => `{"id":1,"name":"x","data":[${'0,'.repeat(count - 1)}0]}`;
const page = (...rows: readonly string[]) => `{"value":[${rows.join()}]}`;
const raw = (body: string) => status(200, { 'content-type': 'application/json' }, body);
const xml = (body: string) => status(200, { 'content-type': 'application/xml' }, body);

const OBJECT_TOO_LARGE = 'The provider returned an object with more than 100000 members.';
const RECORD_TOO_LARGE = 'The provider returned a record with more than 100000 members.';
const ANSWER_TOO_LARGE = 'The provider returned JSON with more than 2000000 members.';

describe('the members of an answer of a provider', () => {
  const provider = useMisbehavingServer();
  before(async () => {
    provider.answer('/', json({ value: [] }));
  });

  const service = useApp(
    { SIMULATORS_PORT: 'off', PROVIDER_MEMORY_MB: '400' },
    { bulkOptions: { bewilderedMs: 0, firstBackoffMs: 10 } },
  );

  async function connect(description: string, rows: string): Promise<string> {
    provider.answer('/$metadata', xml(description));
    provider.answer('/items', raw(rows));
    const { token } = await service.createInstance('odata', { 'base.url': provider.url });
    return token;
  }

  it('are at most 100,000 of one record, in a list', async () => {
    for (const [rows, message] of [
      [page(object(1_000_000)), OBJECT_TOO_LARGE],
      [page(`{"id":1,${members(500_000)}}`), OBJECT_TOO_LARGE],
      [page(list(1_000_000)), RECORD_TOO_LARGE],
      [page(`{"id":1,"data":[${'{"a":[{}]},'.repeat(40_000)}1]}`), RECORD_TOO_LARGE],
      [page(...Array.from({ length: 20 }, () => list(110_000))), ANSWER_TOO_LARGE],
    ] as const) {
      const token = await connect(metadata(DATA), rows);
      expectProblem(await service.call('/items', { token }), 'PROVIDER_PROTOCOL', message);
      expectProblem(await service.call("/items?where=name LIKE '%25y'", { token }), 'PROVIDER_PROTOCOL', message);
    }
  });

  it('are read as they are up to there', async () => {
    const token = await connect(metadata(DATA), page(object(90_000), list(90_000), object(3)));
    const body = await service.get('/items', { token });
    const counts = body.map(({ data }: { readonly data: object }) => Object.keys(data).length);
    expect(counts).to.deep.equal([90_000, 90_000, 3]);
    expect(body[0].data.m89999).to.equal(89_999);
  });

  it('are at most as many of one record that is read, created or changed', async () => {
    const token = await connect(metadata(DATA, UNFILTERED), page());
    for (const [record, message] of [
      [object(1_000_000), OBJECT_TOO_LARGE],
      [list(1_000_000), RECORD_TOO_LARGE],
    ] as const) {
      provider.answer('/items(1)', raw(record));
      provider.answer('/items', raw(record));
      expectProblem(await service.call('/items/1', { token }), 'PROVIDER_PROTOCOL', message);
      const body = { name: 'x' };
      expectProblem(await service.send('POST', '/items', body, { token }), 'PROVIDER_PROTOCOL', message);
      expectProblem(await service.send('PATCH', '/items/1', body, { token }), 'PROVIDER_PROTOCOL', message);
    }
  });

  it('end a bulk download that has more, and say why', async () => {
    for (const [rows, message] of [
      [page(object(1_000_000)), OBJECT_TOO_LARGE],
      [page(list(1_000_000)), RECORD_TOO_LARGE],
    ] as const) {
      const token = await connect(metadata(DATA), rows);
      const begun = await service.call('/bulk/query?q=select * from items', { method: 'POST', token });
      expect(begun.status, JSON.stringify(begun.body)).to.equal(200);
      const statusOf = async () => await service.get(`/bulk/${begun.body.id}/status`, { token });
      await until(async () => !['CREATED', 'PENDING', 'RUNNING'].includes((await statusOf()).status));
      expect(JSON.stringify(await statusOf())).to.include(message);
    }
  });

  describe('that become more than they were', () => {
    const rows = gzipSync(page(...Array.from({ length: 999 }, (_, id) => `{"id":${id}}`)));
    const packed = status(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, rows);

    it('fill 16 MB at most, and the page goes on from there', async () => {
      const token = await connect(metadata(WIDE), page());
      provider.answer('/items', packed);
      const { body, headers } = await service.call('/items?pageSize=999', { token });
      expect(headers.get('elements-partial-result')).to.equal('bytes');
      expect(headers.get('elements-next-page-token')).to.be.a('string');
      expect(body).to.have.length.within(100, 110);
    });
  });
});

describe('the memory for answers of providers', () => {
  const provider = useMisbehavingServer();

  const service = useApp({ SIMULATORS_PORT: 'off', PROVIDER_MEMORY_MB: '16' });

  it('counts what is made of them as well', async () => {
    provider.answer('/', json({ value: [] }));
    provider.answer('/$metadata', xml(metadata(WIDE)));
    provider.answer('/items', raw(page(...Array.from({ length: 999 }, (_, id) => `{"id":${id}}`))));
    const { token } = await service.createInstance('odata', { 'base.url': provider.url });
    // Half of it is for one account, and a record takes 157 kB.
    const { body, headers } = await service.call('/items?pageSize=999', { token });
    expect(headers.get('elements-partial-result')).to.equal('bytes');
    expect(body).to.have.length.within(40, 60);
    const orderBy = '/items?pageSize=999&orderBy=f1';
    provider.answer('/$metadata', xml(metadata(WIDE, UNSORTED)));
    const { token: other } = await service.createInstance('odata', {
      'base.url': provider.url,
      username: 'other',
      password: 'x',
    });
    expectProblem(await service.call(orderBy, { token: other }), 'OVERLOADED', /no memory left/);
  });
});
