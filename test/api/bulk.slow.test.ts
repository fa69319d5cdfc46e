import { expect } from 'chai';
import type { Knex } from 'knex';
import { type ApiAnswer, type ApiCall, useSharedApp } from '../support/app.ts';
import { LOCKS } from '../support/nodes.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants, type Tenant, withDatabase } from './support/tenants.ts';

interface Shop {
  readonly id: number;
  readonly token: string;
}

describe('bulk queries', () => {
  const service = useSharedApp();
  const shop = useInstance(service, 'odata', SHOP);

  const post = (body: object | undefined, query: Readonly<Record<string, string>> = {}, headers = {}) =>
    service.call('/bulk/query', { method: 'POST', token: shop.token, query, headers, ...(body && { body }) });
  const statusOf = async (id: number) => await shop.get(`/bulk/${id}/status`);
  const file = (id: number, headers: Readonly<Record<string, string>> = {}, query = {}, name = 'Products') =>
    shop.call(`/bulk/${id}/${name}`, { headers, query, asBytes: true });

  async function ended(id: number): Promise<ApiAnswer['body']> {
    await until(async () => !['CREATED', 'RUNNING'].includes((await statusOf(id)).status));
    return statusOf(id);
  }

  /** @returns the id of a job that is complete */
  async function complete(body: object | undefined, query: Readonly<Record<string, string>> = {}): Promise<number> {
    const { status, body: created } = await post(body, query);
    expect(status, JSON.stringify(created)).to.equal(200);
    expect(created).to.deep.equal({ id: created.id, status: 'CREATED', instanceId: shop.id });
    expect(await ended(created.id)).to.include({ status: 'COMPLETED' });
    return created.id;
  }

  async function records(query: Readonly<Record<string, string | number>>): Promise<ApiAnswer['body']> {
    return await shop.get('/Products', { query: { pageSize: 5000, ...query } });
  }

  describe('with a statement', () => {
    it('read all rows of the query into a file', async () => {
      const where = "Category = 'Book' OR Price > 20.5";
      const id = await complete(undefined, {
        q: `SELECT Id, Name, Price FROM Products WHERE ${where} ORDER BY Name DESC`,
      });
      const rows = await records({ where, fields: 'Id,Name,Price', orderBy: 'Name desc' });
      expect(rows).to.have.length.above(1);
      const response = await file(id, { accept: 'application/json' });
      expect(JSON.parse(response.body.toString())).to.deep.equal(rows);
      const status = await statusOf(id);
      expect(status).to.include({ objectName: 'Products', jobDirection: 'DOWNLOAD', fileFormat: 'csv' });
      expect(status).to.include({ recordsCount: rows.length, recordsFailedCount: 0, instanceId: shop.id });
      expect(status.fileSize).to.equal((await file(id)).body.length);
      expect(status.progress).to.include({ rows: rows.length });
      expect(status.progress.providerCalls).to.be.at.least(1);
    });

    it('read so many rows as LIMIT says, and the fields of *', async () => {
      const id = await complete(undefined, { q: 'SELECT * FROM Products LIMIT 3' });
      const response = await file(id, { accept: 'application/json' });
      expect(JSON.parse(response.body.toString())).to.deep.equal(await records({ pageSize: 3 }));
    });

    for (const [q, code, wrong] of [
      ['SELECT Id, Nmae FROM Products', 'WHERE_INVALID', 'Nmae'],
      ["SELECT Id FROM Products WHERE Price = 'x'", 'WHERE_INVALID', "'x'"],
      ['SELECT Id FROM Products WHERE Price > 1 ORDER BY Nmae', 'WHERE_INVALID', 'Nmae'],
      ['SELECT Id FROM Products WHERE Price >', 'WHERE_SYNTAX', ''],
      ['SELECT Id FORM Products', 'WHERE_SYNTAX', 'FORM'],
      ['SELECT Id FROM Prodcts WHERE Id = 1', 'NOT_FOUND', 'Prodcts'],
    ] as const) {
      it(`say where it is wrong: ${q}`, async () => {
        const response = await post(undefined, { q });
        expectProblem(response, code);
        const [{ position, length }] = response.body.details;
        expect(q.slice(position, position + length)).to.equal(wrong);
      });
    }

    it('take from beside it what the statement leaves out', async () => {
      const where = 'Price > 20';
      const id = await complete({ limit: 3 }, { q: 'SELECT Id, Price FROM Products ORDER BY Price', where });
      const response = await file(id, { accept: 'application/json' });
      const rows = await records({ where, fields: 'Id,Price', orderBy: 'Price', pageSize: 3 });
      expect(JSON.parse(response.body.toString())).to.deep.equal(rows);
      const wrong = await post(undefined, { q: 'SELECT Id FROM Products', where: 'Price > 1 AND Nmae = 1' });
      expectProblem(wrong, 'WHERE_INVALID');
      expect(wrong.body.details[0]).to.include({ position: 14, length: 4 });
    });

    it('do not take what the statement says beside it as well', async () => {
      const q = 'SELECT * FROM Products WHERE Price > 1 LIMIT 3';
      const response = await post({ objectName: 'Products', limit: 2 }, { q, where: 'Price > 2', fields: 'Id' });
      expectProblem(response, 'REQUEST_INVALID');
      expect(response.body.details).to.deep.equal([
        {
          path: '/body/objectName',
          message: "'objectName' and the FROM of the statement in 'q' cannot be used together.",
        },
        { path: '/query/fields', message: "'fields' and the SELECT of the statement in 'q' cannot be used together." },
        { path: '/query/where', message: "'where' and the WHERE of the statement in 'q' cannot be used together." },
        { path: '/body/limit', message: "'limit' and the LIMIT of the statement in 'q' cannot be used together." },
      ]);
    });
  });

  describe('with query parameters', () => {
    const query = {
      objectName: 'Products',
      where: 'Price > 20',
      fields: 'Id,Price',
      orderBy: 'Price desc',
      limit: '4',
    };

    it('take them in place of a statement', async () => {
      const id = await complete(undefined, query);
      const response = await file(id, { accept: 'application/json' });
      const { where, fields, orderBy } = query;
      const rows = await records({ where, fields, orderBy, pageSize: 4 });
      expect(rows).to.have.length(4);
      expect(JSON.parse(response.body.toString())).to.deep.equal(rows);
    });

    it('take the filter beside the object of the body', async () => {
      const id = await complete({ objectName: 'Products', fields: 'Id', format: 'jsonl' }, { where: query.where });
      const lines = (await file(id)).body.toString().trimEnd().split('\n');
      expect(lines.map((line: string) => JSON.parse(line))).to.deep.equal(
        await records({ where: query.where, fields: 'Id' }),
      );
    });

    it('do not take what the body says as well', async () => {
      const response = await post({ objectName: 'Products', where: 'Price > 1' }, { where: 'Price > 2' });
      const message = "'where' is in the query string and in the body. Send it once.";
      expectProblem(response, 'REQUEST_INVALID', message);
      expect(response.body.details).to.deep.equal([{ path: '/query/where', message }]);
    });

    it('say where they are wrong', async () => {
      const wrong = await post(undefined, { ...query, where: 'Nmae = 1' });
      expectProblem(wrong, 'WHERE_INVALID');
      expect(wrong.body.details[0]).to.include({ position: 0, length: 4 });
      const unknown = await post(undefined, { ...query, objectName: 'Prodcts' });
      expectProblem(unknown, 'NOT_FOUND');
      expect(unknown.body.details[0].path).to.equal('/query/objectName');
      const undated = await post({ objectName: 'Products' }, { from: '2026-01-01T00:00:00Z' });
      expectProblem(undated, 'REQUEST_INVALID');
      expect(undated.body.details[0].path).to.equal('/query/from');
      expectProblem(await post(undefined, { where: query.where }), 'REQUEST_INVALID');
    });
  });

  describe('with a body', () => {
    it('take it in place of a statement', async () => {
      const id = await complete({
        objectName: 'Products',
        where: 'Price > 20',
        fields: 'Id',
        limit: 5,
        format: 'jsonl',
      });
      const lines = (await file(id)).body.toString().trimEnd().split('\n');
      expect(lines.map((line: string) => JSON.parse(line))).to.deep.equal(
        await records({ where: 'Price > 20', fields: 'Id', pageSize: 5 }),
      );
    });

    it('say where it is wrong', async () => {
      expectProblem(await post({}), 'REQUEST_INVALID', "'objectName' is required, unless 'q' has a statement.");
      expectProblem(await post(undefined), 'REQUEST_INVALID', "'objectName' is required, unless 'q' has a statement.");
      expectProblem(await post({ objectName: 'Products', wheer: 'x' }), 'REQUEST_INVALID');
      expectProblem(await post({ objectName: 'Products', where: 'Nmae = 1' }), 'WHERE_INVALID');
      expectProblem(await post({ objectName: 'Prodcts' }), 'NOT_FOUND');
      const unordered = await service.createInstance('bamboohr', BAMBOOHR);
      const body = { objectName: 'time-off', orderBy: 'amount' };
      const response = await service.send('POST', '/bulk/query', body, { token: unordered.token });
      expectProblem(response, 'WHERE_UNSUPPORTED');
      expect(response.body.details[0].path).to.equal('/body/orderBy');
    });

    it('bound the time of change only where there is one', async () => {
      const body = { objectName: 'Products', from: '2026-01-01T00:00:00Z' };
      const message = "'Products' has no date of change, so 'from' cannot be used with it.";
      expectProblem(await post(body), 'REQUEST_INVALID', message);
    });

    it('are answered below the hub', async () => {
      const body = { objectName: 'Products', fields: 'Id' };
      const created = await shop.send('POST', '/hubs/general/bulk/query', body);
      expect(created.status).to.equal(200);
      await ended(created.body.id);
      const response = await shop.call(`/hubs/general/bulk/${created.body.id}/Products`);
      expect(response.headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
      expectProblem(await shop.send('POST', '/hubs/crm/bulk/query', body), 'NOT_FOUND');
    });

    it('are made once with an Idempotency-Key', async () => {
      const body = { objectName: 'Products', fields: 'Id' };
      const [first, second] = [
        await post(body, {}, { 'idempotency-key': 'a' }),
        await post(body, {}, { 'idempotency-key': 'a' }),
      ];
      expect(second.body).to.deep.equal(first.body);
    });
  });

  describe('have a file', () => {
    let id: number;
    let whole: Buffer;
    before(async () => {
      id = await complete({ objectName: 'Products', fileName: 'Preise ü.csv' });
      whole = (await file(id)).body;
    });

    it('as CSV, as JSON lines and as JSON', async () => {
      const rows = await records({});
      const json = await file(id, { accept: 'application/json' });
      expect(json.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(JSON.parse(json.body.toString())).to.deep.equal(rows);
      const lines = await file(id, { accept: 'application/x-ndjson' });
      expect(lines.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8');
      expect(
        lines.body
          .toString()
          .trimEnd()
          .split('\n')
          .map((line: string) => JSON.parse(line)),
      ).to.deep.equal(rows);
      const csv = await file(id, { accept: 'application/json;q=0.1, text/*' });
      expect(csv.headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
      expect(csv.body.toString().split('\r\n')[0]).to.equal(Object.keys(rows[0]).join(','));
      expectProblem(await shop.call(`/bulk/${id}/Products`, { headers: { accept: 'image/png' } }), 'NOT_ACCEPTABLE');
    });

    it('whose name is that of the job', async () => {
      const { headers } = await file(id);
      expect(headers.get('content-disposition')).to.include("filename*=UTF-8''Preise%20%C3%BC.csv");
      const json = await file(id, { accept: 'application/json' });
      expect(json.headers.get('content-disposition')).to.include('.json');
    });

    it('with its length and parts of it', async () => {
      const { headers } = await file(id, { 'accept-encoding': 'identity' });
      expect(headers.get('content-length')).to.equal(String(whole.length));
      expect(headers.get('accept-ranges')).to.equal('bytes');
      const half = Math.floor(whole.length / 2);
      const parts = await Promise.all([
        file(id, { range: `bytes=0-${half - 1}` }),
        file(id, { range: `bytes=${half}-${half}` }),
        file(id, { range: `bytes=${half + 1}-` }),
      ]);
      expect(parts.map(({ status }) => status)).to.deep.equal([206, 206, 206]);
      expect(parts[1]?.headers.get('content-range')).to.equal(`bytes ${half}-${half}/${whole.length}`);
      expect(Buffer.concat(parts.map(({ body }) => body)).equals(whole)).to.equal(true);
      expect((await file(id, { range: 'bytes=-7' })).body.equals(whole.subarray(-7))).to.equal(true);
      expect(
        (await file(id, { range: `bytes=${half}-${whole.length + 5}` })).body.equals(whole.subarray(half)),
      ).to.equal(true);
      const behind = await shop.call(`/bulk/${id}/Products`, { headers: { range: `bytes=${whole.length}-` } });
      expectProblem(behind, 'RANGE_NOT_SATISFIABLE');
      expect(behind.headers.get('content-range')).to.equal(`bytes */${whole.length}`);
      for (const range of ['bytes=1-2,4-5', 'lines=1-2', 'bytes=5-2', 'bytes=-'])
        expect((await file(id, { range })).status, range).to.equal(200);
      expect((await file(id, { range: 'bytes=0-1', accept: 'application/json' })).status).to.equal(200);
    });

    it('with a tag for each of its forms', async () => {
      const tagOf = async (headers = {}, query = {}) => (await file(id, headers, query)).headers.get('etag') ?? '';
      const identity = { 'accept-encoding': 'identity' };
      const tags = [
        await tagOf(identity),
        await tagOf({ ...identity, accept: 'application/json' }),
        await tagOf(identity, { spreadsheet: 'true' }),
        await tagOf({ 'accept-encoding': 'gzip' }),
      ];
      expect(new Set(tags).size).to.equal(4);
      const [tag = '', , , packed = ''] = tags;
      for (const known of [tag, packed, `"other", ${tag}`, '*']) {
        const same = await file(id, { 'if-none-match': known });
        expect([same.status, same.body.length, same.headers.get('etag')]).to.deep.equal([304, 0, tag]);
      }
      expect((await file(id, { 'if-none-match': '"other"' })).status).to.equal(200);
      expect((await file(id, { range: 'bytes=0-1', 'if-range': tag })).status).to.equal(206);
      expect((await file(id, { range: 'bytes=0-1', 'if-range': packed })).status).to.equal(200);
    });

    it('packed where the caller takes that', async () => {
      for (const encoding of ['gzip', 'br']) {
        const packed = await file(id, { 'accept-encoding': encoding });
        expect(packed.headers.get('content-encoding')).to.equal(encoding);
        expect(packed.body.equals(whole)).to.equal(true);
      }
      const part = await file(id, { 'accept-encoding': 'gzip', range: 'bytes=0-9' });
      expect([part.status, part.headers.get('content-encoding')]).to.deep.equal([206, null]);
    });

    it('whose headers HEAD tells', async () => {
      const head = await shop.call(`/bulk/${id}/Products`, {
        method: 'HEAD',
        headers: { 'accept-encoding': 'identity' },
      });
      expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, String(whole.length)]);
    });

    it('under the name of its object only', async () => {
      expectProblem(await shop.call(`/bulk/${id}/Orders`), 'NOT_FOUND');
      expectProblem(await shop.call('/bulk/99999/Products'), 'NOT_FOUND');
    });
  });

  describe('are listed', () => {
    it('by a filter, the newest first, page by page', async () => {
      const ids = [
        await complete({ objectName: 'Orders', fields: 'Code' }),
        await complete({ objectName: 'Orders', fields: 'Code' }),
      ];
      const where = "objectName = 'Orders' AND status = 'COMPLETED'";
      const list = (query: object) => shop.call('/bulk/jobs', { query: { where, ...query } });
      const [first, second] = [await list({ pageSize: 1 }), await list({})];
      expect(second.body.map(({ id }: Shop) => id)).to.deep.equal(ids.toReversed());
      expect(first.body).to.deep.equal(second.body.slice(0, 1));
      const next = await list({ pageSize: 1, nextPage: first.headers.get('elements-next-page-token') ?? '' });
      expect(next.body).to.deep.equal(second.body.slice(1));
      expect(next.headers.get('elements-next-page-token')).to.equal(null);
      expectProblem(await shop.call('/bulk/jobs', { query: { where: 'stauts = 1' } }), 'WHERE_INVALID');
    });

    it('of all instances of the account', async () => {
      const { id: otherId, token } = await service.createInstance('bamboohr', BAMBOOHR);
      const made = await service.send('POST', '/bulk/query', { objectName: 'employees', fields: 'id' }, { token });
      const own = await complete({ objectName: 'Orders', fields: 'Code' });
      const list = async (query: ApiCall['query']) => {
        const response = await service.call('/bulk-jobs', { query });
        expect(response.status, JSON.stringify(response.body)).to.equal(200);
        return response;
      };
      const namesOf = ({ body }: ApiAnswer) =>
        body.map(({ id, instanceId }: { readonly id: number; readonly instanceId: number }) => [id, instanceId]);
      const first = await list({ pageSize: 1 });
      expect(namesOf(first)).to.deep.equal([[own, shop.id]]);
      const next = await list({ pageSize: 1, nextPage: first.headers.get('elements-next-page-token') ?? '' });
      expect(namesOf(next)).to.deep.equal([[made.body.id, otherId]]);
      expect(namesOf(await list({ where: `instanceId = ${otherId}` }))).to.deep.equal([[made.body.id, otherId]]);
      expect(namesOf(await list({ where: `instanceId = ${otherId} AND status = 'FAILED'` }))).to.deep.equal([]);
    });
  });

  it('can be deleted, with their file', async () => {
    const id = await complete({ objectName: 'Products', fields: 'Id' });
    expect((await shop.send('DELETE', `/bulk/${id}`)).body).to.deep.equal({ id });
    expectProblem(await shop.call(`/bulk/${id}/status`), 'NOT_FOUND');
    expectProblem(await shop.call(`/bulk/${id}/Products`), 'NOT_FOUND');
    expectProblem(await shop.send('DELETE', `/bulk/${id}`), 'NOT_FOUND');
  });

  it('that have ended cannot be cancelled', async () => {
    const id = await complete({ objectName: 'Products', fields: 'Id' });
    const response = await shop.send('PUT', `/bulk/${id}/cancel`);
    expectProblem(response, 'CONFLICT', `Job ${id} has already ended: it is COMPLETED.`);
    expect(await shop.get(`/bulk/${id}/errors`)).to.deep.equal([]);
  });

  it('that end while they are cancelled are told as what they are', async () => {
    const id = await complete({ objectName: 'Products', fields: 'Id' });
    await withDatabase(service, async (knex) => {
      const job = (via: Knex) => via('bulk_job').where({ id });
      await job(knex).update({ status: 'RUNNING', due: new Date('2100-01-01T00:00:00Z') });
      const end = await knex.transaction();
      await job(end).update({ status: 'COMPLETED', due: null });
      const response = shop.send('PUT', `/bulk/${id}/cancel`);
      // The job was RUNNING when the cancellation looked, and the end of it is not committed yet.
      const waiting = `select from ${LOCKS} where not granted and locktype = 'transactionid'`;
      await until(async () => (await knex.raw(waiting)).rowCount > 0);
      await end.commit();
      expectProblem(await response, 'CONFLICT', `Job ${id} has already ended: it is COMPLETED.`);
    });
  });

  it('are of one instance of one account', async () => {
    const id = await complete({ objectName: 'Products', fields: 'Id' });
    const { stranger, sibling, colleague } = await createTenants(service);
    const other = await service.createInstance('odata', SHOP);
    for (const tenant of [stranger, sibling])
      expect((await tenant.call(`/bulk/${id}/status`, { token: shop.token })).status).to.equal(401);
    const countOf = async (tenant: Tenant) =>
      (await service.get('/bulk-jobs', { headers: authorizationOf(tenant) })).length;
    expect(await Promise.all([stranger, sibling].map(countOf))).to.deep.equal([0, 0]);
    expect(await countOf(colleague)).to.be.above(0);
    expect((await colleague.call(`/bulk/${id}/status`, { token: shop.token })).status).to.equal(200);
    for (const [method, path] of [
      ['GET', `/bulk/${id}/status`],
      ['GET', `/bulk/${id}/errors`],
      ['GET', `/bulk/${id}/Products`],
      ['PUT', `/bulk/${id}/cancel`],
      ['DELETE', `/bulk/${id}`],
    ] as const)
      expectProblem(await service.call(path, { method, token: other.token }), 'NOT_FOUND');
    expect(await service.get('/bulk/jobs', { token: other.token })).to.deep.equal([]);
    const continued = { objectName: 'Products', continueFromJobId: id };
    expect((await service.send('POST', '/bulk/query', continued, { token: other.token })).status).to.equal(400);
  });
});
