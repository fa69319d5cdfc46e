import { createServer, request } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import jsforce from 'jsforce';
import type { Connector } from '#connector';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from '../../connectors/salesforce/simulator.ts';
import { filtersOn, printFilter } from '../../suite/filters.ts';
import { listen } from '../../suite/listen.ts';
import { findListings, getOk, listAll, type Row, startTarget, type Target } from '../../suite/target.ts';
import type { ApiAnswer } from '../support/app.ts';
import { changeObjects } from '../support/changed-objects.ts';
import { until } from '../support/until.ts';

const FROM_ROWS = 30;

/** Jobs for few rows and in small pages. */
const withSmallJobs = (connector: Connector) =>
  changeObjects(connector, ({ bulk, ...object }) => ({
    ...object,
    ...(bulk?.query && { bulk: { query: { ...bulk.query, fromRows: FROM_ROWS, pageSize: 17 } } }),
  }));

/** Shows what is below a URL at the root of a host: jsforce asks for jobs there. */
async function atRoot<Result>(url: string, work: (rootUrl: string) => Promise<Result>): Promise<Result> {
  const server = createServer((asked, answer) => {
    const passed = request(url + asked.url, { method: asked.method, headers: asked.headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on('error', (error) => answer.destroy(error));
    asked.pipe(passed);
  });
  try {
    return await work(`http://127.0.0.1:${await listen(server)}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Every page is a turn of its own, which begins where the one before was stored. */
const BROKEN_OFF = { sliceMs: 0, storeMs: 0, chunkBytes: 1_000, lookMs: 50 };

describe('a bulk file whose rows a job of Salesforce finds', () => {
  let target: Target;
  before(async function start() {
    this.timeout(60_000);
    target = await startTarget({
      connector: withSmallJobs(salesforce),
      configuration: CONNECTED,
      createSimulator,
      overrides: { bulkOptions: BROKEN_OFF },
    });
    await target.provider?.command('/simulate/changes', { table: 'Contact', create: 60 });
  });
  after(() => target.stop());
  afterEach(() => target.provider?.command('/simulate/jobs', {}));

  const statusOf = async (id: number): Promise<ApiAnswer['body']> => (await getOk(target, `/bulk/${id}/status`)).body;
  const create = async (body: object): Promise<number> =>
    (await getOk(target, '/bulk/query', { method: 'POST', body })).body.id;
  async function ended(id: number): Promise<ApiAnswer['body']> {
    await until(async () => (await statusOf(id)).bulkFinishTime !== undefined);
    return statusOf(id);
  }
  async function rowsOf(id: number, objectName: string): Promise<readonly Row[]> {
    return (await getOk(target, `/bulk/${id}/${objectName}`, { headers: { accept: 'application/json' } })).body;
  }
  /** Creates a job that has begun at the provider. */
  async function begin(body: object) {
    const id = await create(body);
    await until(async () => (await statusOf(id)).progress?.providerJobId !== undefined);
    const { progress } = await statusOf(id);
    return { id, progress, providerJobId: progress.providerJobId };
  }
  const atProvider = (id: string) => target.call(`/passthrough/jobs/query/${id}`);
  const byId = (rows: readonly Row[]) => rows.toSorted((a, b) => String(a.Id).localeCompare(String(b.Id)));

  it('has the rows of an interactive query, for random filters, through breaks at every page', async () => {
    const ways = new Set<string>();
    for (const objectName of ['Contact', 'Reading__c']) {
      const listing = (await findListings(target)).find(({ path }) => path === `/${objectName}`);
      if (listing === undefined) throw new Error(`There is no list of ${objectName}.`);
      const filters = fc.sample(filtersOn(listing), { numRuns: 12, seed: 17 });
      for (const [index, where] of [undefined, ...filters.map(printFilter)].entries()) {
        const query = where === undefined ? {} : { where };
        const rows = await listAll(target, listing.path, { ...query, pageSize: 5000 });
        const id = await create({ objectName, ...query, format: index % 2 === 0 ? 'csv' : 'jsonl' });
        const status = await ended(id);
        expect(status, JSON.stringify(status)).to.include({ status: 'COMPLETED' });
        ways.add(status.progress.way);
        expect(byId(await rowsOf(id, objectName)), `${objectName} where ${where}`).to.deep.equal(byId(rows));
      }
    }
    expect([...ways].toSorted()).to.deep.equal(['native', 'paging']);
  }).timeout(180_000);

  describe('and that has the fields of a mapping', () => {
    const PASSING_NOTHING = [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }];
    const of = (path: string, type: string, vendorPath?: string, ...configuration: readonly object[]) => ({
      ...{ path, type, vendorPath },
      ...(configuration.length > 0 && { configuration }),
    });
    const entry = (type: string, properties: object) => ({ type, properties });
    const FIELDS = [
      of('key', 'string', 'Id'),
      of('name.first', 'string', 'FirstName', entry('defaultValue', { value: 'Nobody' })),
      of('name.last', 'string', 'LastName'),
      of('name.whole', 'string', undefined, entry('join', { paths: ['FirstName', 'LastName'] })),
      of('born', 'date', 'Birthdate'),
      of('quiet', 'string', 'DoNotCall'),
      of('reachable', 'boolean', 'DoNotCall', entry('valueMap', { values: { true: false, false: true } })),
      of('changed', 'date', 'SystemModstamp'),
      of('source', 'string', undefined, entry('constant', { value: 'crm' })),
      of('missing', 'number'),
    ];
    const SCRIPT = { body: 'transformedObject.city = originalObject.Name; done(transformedObject);' };

    const define = (fields: readonly { readonly path: string; readonly type: string }[]) =>
      getOk(target, '/instances/objects/people/definitions', {
        method: 'POST',
        body: { fields: fields.map(({ path, type }) => ({ path, type })) },
      });
    const map = (method: 'POST' | 'PUT', fields: readonly object[], more: object = {}) =>
      getOk(target, '/instances/transformations/people', {
        method,
        body: { vendorName: 'Contact', fields, configuration: PASSING_NOTHING, ...more },
      });
    const byKey = (rows: readonly Row[]) => rows.toSorted((a, b) => String(a.key).localeCompare(String(b.key)));
    const asText = async (id: number) =>
      (await getOk(target, `/bulk/${id}/people`, { headers: { accept: 'text/csv' }, asBytes: true })).body.toString();
    /** The header of a file, and its lines in the order of their text. */
    const linesOf = (csv: string) => {
      const [header, ...lines] = csv.trimEnd().split('\r\n');
      return [header, ...lines.toSorted()];
    };

    before(async () => {
      await define(FIELDS);
      await map('POST', FIELDS.slice(0, -1));
    });

    it('is the file that pages give, for random filters', async () => {
      const { fields } = (await getOk(target, '/objects/people/metadata')).body;
      const object = Object.fromEntries(fields.map(({ name, type }: Row) => [name, { type }]));
      const rows = await listAll(target, '/people', { pageSize: 5000 });
      const filters = fc
        .sample(filtersOn({ object: { fields: object }, rows }), { numRuns: 16, seed: 5 })
        .map(printFilter);
      const ways: string[] = [];
      for (const where of [undefined, "name.first = 'Nobody'", "quiet = 'true' AND reachable = FALSE", ...filters]) {
        const query = { objectName: 'people', format: 'csv', ...(where !== undefined && { where }) };
        // An order keeps a job from the provider.
        const [natively, paged] = [await create(query), await create({ ...query, orderBy: 'name.last' })];
        ways.push((await ended(natively)).progress.way);
        expect((await ended(paged)).progress.way).to.equal('paging');
        expect(linesOf(await asText(natively)), where).to.deep.equal(linesOf(await asText(paged)));
      }
      expect(ways.slice(0, 3)).to.deep.equal(['native', 'native', 'native']);
    }).timeout(180_000);

    it('has the rows of an interactive query, with the fields that were asked for', async () => {
      const query = { where: 'born IS NOT NULL', fields: 'key,name.whole,source,missing' };
      const id = await create({ objectName: 'people', ...query, format: 'jsonl' });
      expect((await ended(id)).progress.way).to.equal('native');
      const rows = await rowsOf(id, 'people');
      expect(byKey(rows)).to.deep.equal(byKey(await listAll(target, '/people', { ...query, pageSize: 5000 })));
      expect(Object.keys(rows[0] ?? {})).to.deep.equal(['key', 'name', 'source', 'missing']);
    });

    it('is told of in explain, with the statement in the words of the provider', async () => {
      const explain = async (body: object) =>
        (await getOk(target, '/query/explain', { method: 'POST', body: { objectName: 'people', ...body } })).body.bulk;
      const { way, request: start } = await explain({ where: 'reachable = TRUE', fields: 'key,name.last' });
      expect(way).to.equal('native');
      expect(JSON.parse(start.body).query).to.equal('SELECT Id, LastName FROM Contact WHERE DoNotCall = false');
      expect((await explain({ orderBy: 'name.last' })).reason).to.equal(
        'a job of the provider returns rows in no order',
      );
    });

    it('comes by pages where the mapping needs what a job does not return', async () => {
      await getOk(target, '/instances/objects/companies/definitions', {
        method: 'POST',
        body: { fields: [of('key', 'string'), of('city', 'string')] },
      });
      const fields = [of('key', 'string', 'Id'), of('city', 'string', 'BillingAddress.city')];
      const companies = { vendorName: 'Account', fields, configuration: PASSING_NOTHING };
      const mapCompanies = (method: 'POST' | 'PUT', body: object) =>
        getOk(target, '/instances/transformations/companies', { method, body });
      const explain = async (more: object = {}) =>
        (await getOk(target, '/query/explain', { method: 'POST', body: { objectName: 'companies', ...more } })).body
          .bulk;
      await mapCompanies('POST', companies);
      expect(await explain()).to.deep.equal({
        way: 'paging',
        reason: "a job of the provider does not return 'city': request the fields without",
      });
      expect(await explain({ fields: 'key' })).to.include({ way: 'native' });
      await mapCompanies('PUT', { ...companies, script: SCRIPT });
      expect(await explain({ fields: 'key' })).to.deep.equal({
        way: 'paging',
        reason: 'the script of the mapping may read fields that a job of the provider does not return',
      });
    });

    it('runs the script of the mapping over the rows of a job', async () => {
      await getOk(target, '/instances/objects/readings/definitions', {
        method: 'POST',
        body: { fields: [of('key', 'string'), of('twice', 'string')] },
      });
      const body = {
        vendorName: 'Reading__c',
        fields: [of('key', 'string', 'Id')],
        configuration: PASSING_NOTHING,
        script: {
          body: 'transformedObject.twice = originalObject.Id + originalObject.Id; done(originalObject.Id.endsWith("1") ? null : transformedObject);',
          filterEmptyResponse: true,
        },
      };
      await getOk(target, '/instances/transformations/readings', { method: 'POST', body });
      const id = await create({ objectName: 'readings', format: 'jsonl' });
      expect(await ended(id)).to.include({ status: 'COMPLETED' });
      expect((await statusOf(id)).progress.way).to.equal('native');
      const rows = await rowsOf(id, 'readings');
      expect(byKey(rows)).to.deep.equal(byKey(await listAll(target, '/readings', { pageSize: 5000 })));
      expect(rows.length).to.be.greaterThan(FROM_ROWS / 2);
      expect(rows.every(({ key, twice }) => twice === `${key}${key}`)).to.equal(true);
    });

    it('begins anew when the mapping changes meanwhile, and ends the job of the mapping before', async () => {
      await target.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
      const { id, providerJobId } = await begin({ objectName: 'people', fields: 'key,source', format: 'jsonl' });
      const constant = of('source', 'string', undefined, entry('constant', { value: 'another' }));
      await map(
        'PUT',
        FIELDS.slice(0, -1).map((field) => (field.path === 'source' ? constant : field)),
      );
      await target.provider?.command('/simulate/jobs', {});
      await target.provider?.command('/simulate/clock', { byMs: 60_000 });
      const { progress } = await ended(id);
      expect(progress.way).to.equal('native');
      expect(progress.providerJobId).to.not.equal(providerJobId);
      expect((await atProvider(providerJobId)).status).to.equal(404);
      expect(new Set((await rowsOf(id, 'people')).map(({ source }) => source))).to.deep.equal(new Set(['another']));
      await map('PUT', FIELDS.slice(0, -1));
    });
  });

  it('is told of in explain, with the statement that would be sent', async () => {
    const explain = async (body: object) =>
      (await getOk(target, '/query/explain', { method: 'POST', body: { objectName: 'Contact', ...body } })).body.bulk;
    const { way, fromRows, request: start } = await explain({ where: 'DoNotCall = TRUE', fields: 'Id' });
    expect({ way, fromRows }).to.deep.equal({ way: 'native', fromRows: FROM_ROWS });
    expect(start.method).to.equal('POST');
    expect(new URL(start.url).pathname).to.equal('/services/data/v62.0/jobs/query');
    expect(JSON.parse(start.body)).to.deep.equal({
      operation: 'query',
      query: 'SELECT Id FROM Contact WHERE DoNotCall = true',
      contentType: 'CSV',
      columnDelimiter: 'COMMA',
      lineEnding: 'LF',
    });
    expect(await explain({ objectName: 'Account' })).to.deep.equal({
      way: 'paging',
      reason: "a job of the provider does not return 'BillingAddress': request the fields without",
    });
    expect((await explain({ orderBy: 'LastName' })).reason).to.equal('a job of the provider returns rows in no order');
  });

  it('is told of in the status, and leaves nothing at the provider', async () => {
    await target.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
    const { id, progress } = await begin({ objectName: 'Contact', format: 'csv' });
    expect(progress).to.include({ way: 'native', rows: 0 });
    expect((await atProvider(progress.providerJobId)).body).to.include({
      id: progress.providerJobId,
      object: 'Contact',
    });
    await target.provider?.command('/simulate/clock', { byMs: 60_000 });
    const status = await ended(id);
    expect(status.progress).to.include({ way: 'native', providerJobId: progress.providerJobId });
    expect(status.recordsCount).to.equal(status.progress.estimatedTotal);
    await until(async () => (await atProvider(progress.providerJobId)).status === 404);
  });

  for (const [what, path, method] of [
    ['cancelled', '/cancel', 'PUT'],
    ['deleted', '', 'DELETE'],
  ] as const) {
    it(`is ended at the provider when it is ${what}`, async () => {
      await target.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 3_600_000 });
      const { id, providerJobId } = await begin({ objectName: 'Contact', format: 'csv' });
      expect((await atProvider(providerJobId)).status).to.equal(200);
      await getOk(target, `/bulk/${id}${path}`, { method });
      expect((await atProvider(providerJobId)).status).to.equal(404);
    });
  }

  it('begins anew, with its file, when Salesforce has dropped its job', async () => {
    await target.provider?.command('/simulate/jobs', { queuedMs: 0, workMs: 60_000 });
    const { id, providerJobId } = await begin({ objectName: 'Contact', format: 'csv' });
    await target.provider?.command('/simulate/jobs', {});
    await target.provider?.command('/simulate/clock', { byMs: 8 * 86_400_000 });
    const status = await ended(id);
    expect(status.progress).to.include({ way: 'native' });
    expect(status.progress.providerJobId).not.to.equal(providerJobId);
    const rows = await listAll(target, '/Contact', { pageSize: 5000 });
    expect(byId(await rowsOf(id, 'Contact'))).to.deep.equal(byId(rows));
  });

  it('has the rows that jsforce gets of the same provider', async () => {
    const id = await create({ objectName: 'Contact', fields: 'Id,LastName,Birthdate,DoNotCall', format: 'csv' });
    expect((await ended(id)).progress.way).to.equal('native');
    const found = await atRoot(target.provider?.url ?? '', async (instanceUrl) => {
      const connection = new jsforce.Connection({ instanceUrl, accessToken: DEMO_ACCESS_TOKEN, version: '62.0' });
      connection.bulk2.pollInterval = 5;
      const stream = await connection.bulk2.query('SELECT Id, LastName, Birthdate, DoNotCall FROM Contact');
      const records: readonly Row[] = await stream.toArray();
      return records;
    });
    // Its values are the texts of the CSV.
    const asTexts = (rows: readonly Row[]) =>
      byId(rows).map((row) => Object.entries(row).map(([name, value]) => [name, String(value ?? '')]));
    expect(asTexts(await rowsOf(id, 'Contact'))).to.deep.equal(asTexts(found));
  });

  it('fails with the words of Salesforce', async () => {
    await target.provider?.command('/simulate/jobs', {
      queuedMs: 0,
      workMs: 0,
      failure: 'InternalServerError : Sorry',
    });
    const status = await ended(await create({ objectName: 'Contact', format: 'csv' }));
    expect(status).to.include({ status: 'FAILED', code: 'PROVIDER_REJECTED' });
    expect(status.message).to.match(
      /^The job 750\w+ of Salesforce did not find the rows: it is Failed\. InternalServerError : Sorry$/,
    );
  });

  it('finds what is in the recycle bin, where that is wanted', async () => {
    await target.provider?.command('/simulate/changes', { table: 'Contact', remove: 3 });
    const query = { where: 'includeDeleted = TRUE' };
    const id = await create({ objectName: 'Contact', ...query, format: 'csv' });
    expect((await ended(id)).progress.way).to.equal('native');
    const rows = await listAll(target, '/Contact', { ...query, pageSize: 5000 });
    expect(rows.filter(({ IsDeleted }) => IsDeleted)).to.have.length.of.at.least(3);
    expect(byId(await rowsOf(id, 'Contact'))).to.deep.equal(byId(rows));
  });
});
