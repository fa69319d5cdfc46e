import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { startTestApp, useApp } from '../support/app.ts';
import { dropTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { SHOP } from './support/simulated.ts';

describe('the paths outside the base path', () => {
  const service = useApp();
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(service.app.url + path, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('need no authorization, and carry a request id', async () => {
    for (const path of ['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml', '/docs']) {
      for (const authorization of ['', 'User nobody, Organization nothing']) {
        const { status, headers } = await get(path, { authorization });
        expect(status, path).to.equal(200);
        expect(headers.get('elements-request-id')).to.match(/^[0-9a-f-]{36}$/);
      }
    }
  });

  it('lead from the root to the reference', async () => {
    const response = await fetch(service.app.url, { redirect: 'manual' });
    expect(response.status).to.equal(302);
    expect(response.headers.get('location')).to.equal('/docs');
  });

  it('tell that the process lives, and that the database and the queue are reached', async () => {
    expect(JSON.parse((await get('/health/live')).text)).to.deep.equal({ status: 'ok' });
    const ready = JSON.parse((await get('/health/ready')).text);
    expect(ready).to.deep.equal({ status: 'ok', checks: { database: 'ok', queue: 'ok' } });
  });

  it('serve the document as JSON, with this service as its server', async () => {
    const { headers, text } = await get('/openapi.json');
    expect(headers.get('content-type')).to.match(/^application\/json/);
    const served = JSON.parse(text);
    expect(served.paths).to.deep.equal(document.paths);
    expect(served.servers[0].variables.publicUrl.default).to.equal(service.app.url);
    expect(served.servers[0].url).to.equal('{publicUrl}/elements/api-v2');
  });

  it('serve the document as YAML', async () => {
    const { headers, text } = await get('/openapi.yaml');
    expect(headers.get('content-type')).to.match(/^application\/yaml/);
    expect(text)
      .to.match(/^openapi: 3\./m)
      .and.to.include('operationId: createInstance');
  });
});

describe('a service whose database is gone', () => {
  it('says so, answers without telling more, and stops in order', async () => {
    const service = await startTestApp();
    const { token } = await service.createInstance('odata', SHOP);
    await service.call('/Products?pageSize=1', { token });
    await dropTestDatabase(service.databaseUrl);

    const ready = () => fetch(`${service.app.url}/health/ready`);
    await until(async () => (await ready()).status === 503);
    const body = JSON.parse(await (await ready()).text());
    expect(body).to.include({ status: 'unavailable' });
    expect(body.checks).to.include({ database: 'unavailable' });
    expect((await fetch(`${service.app.url}/health/live`)).status).to.equal(200);

    // What is known already needs no database.
    expect((await service.call('/Products?pageSize=1', { token })).status).to.equal(200);
    const listing = await service.call('/instances');
    expect(listing.status).to.equal(503);
    expect(listing.headers.get('retry-after')).to.equal('5');
    expect(listing.body).to.deep.equal({
      requestId: listing.headers.get('elements-request-id'),
      code: 'OVERLOADED',
      message: 'The service cannot reach its database at the moment. Try again later.',
    });
    await service.stop();
  }).timeout(30_000);
});
