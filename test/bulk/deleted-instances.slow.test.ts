import { once } from 'node:events';
import { request as openRequest, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { expect } from 'chai';
import { createBulkStore } from '../../src/bulk/bulk-store.ts';
import { expectProblem } from '../api/support/expect-problem.ts';
import { METADATA } from '../api/support/odata-metadata.ts';
import { countRows, withDatabase } from '../api/support/tenants.ts';
import { type ApiAnswer, type StartedApp, startTestApp, USER_SECRET, useApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

const META_DATA = '{"format":"csv","action":"create"}';
/** More than are written at a time. */
const FILE = `id,name\r\n${Array.from({ length: 40 }, (_, index) => `${index},Row ${index}\r\n`).join('')}`;
/** More than is gathered before it is stored. */
const MUCH = '1,A name that is rather long\r\n'.repeat(60_000);

describe('bulk jobs of an instance that is deleted', () => {
  // Its workers are told at once: they need not find out when they renew a lease.
  const service = useApp({ SIMULATORS_PORT: 'off' }, { bulkOptions: { leaseMs: 600_000 } });
  let other: StartedApp;
  const provider = useMisbehavingServer();
  let instance: ApiAnswer['body'];

  before(async () => {
    provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
    provider.answer('/api/', json({ value: [] }));
    other = await startTestApp({ SIMULATORS_PORT: 'off', DATABASE_URL: service.databaseUrl, ROLE: 'api' });
  });
  after(() => other.stop());

  beforeEach(async () => {
    instance = await service.createInstance('odata', { 'base.url': `${provider.url}/api` });
  });
  /** The files that jobs left behind go by themselves, later. */
  afterEach(async () => {
    await withDatabase(service, (knex) => createBulkStore(knex).purge(new Date(0), new Date(Date.now() + 1000)));
    for (const table of ['bulk_job', 'bulk_chunk', 'bulk_row_error'])
      expect(await countRows(service, table), table).to.equal(0);
  });

  const JOBS = {
    download: (token: string) => service.call('/bulk/query', { method: 'POST', token, body: { objectName: 'items' } }),
    upload: (token: string) => {
      const form = new FormData();
      form.append('metaData', META_DATA);
      form.append('file', new Blob([FILE]), 'rows.csv');
      return service.call('/bulk/items', { method: 'POST', token, body: form });
    },
  };

  const remove = async (by: Pick<StartedApp, 'call'>) =>
    expect((await by.call(`/instances/${instance.id}`, { method: 'DELETE' })).status).to.equal(200);
  const asked = () => provider.requests.filter(({ url }) => url.startsWith('/api/items')).length;

  /** Turns of jobs that came to their end in this process, however they did. */
  async function turns(): Promise<number> {
    const measured = await (await fetch(`${service.app.url}/metrics`)).text();
    const counts = measured.matchAll(/^causeway_bulk_turns_total\{.*\} (\d+)$/gm);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  for (const [direction, begin] of Object.entries(JOBS)) {
    for (const where of ['in the process that works on them', 'in another one']) {
      it(`go with it: a call of the provider under way is ended, and none is begun (${direction}, deleted ${where})`, async () => {
        const hanging: ServerResponse[] = [];
        provider.answer('/api/items', (response) => void hanging.push(response));
        const [turnsBefore, askedBefore] = [await turns(), asked()];
        const { body: job } = await begin(instance.token);
        await until(async () => hanging.length > 0);
        await remove(where === 'in another one' ? other : service);
        await until(async () => hanging.every(({ closed }) => closed) && (await turns()) > turnsBefore);
        expect(asked() - askedBefore).to.equal(hanging.length);
        expect(await turns()).to.equal(turnsBefore + 1);
        expect(await countRows(service, 'bulk_job')).to.equal(0);
        expectProblem(await service.call(`/bulk/${job.id}/status`, { token: instance.token }), 'UNAUTHENTICATED');
        expect(service.logged.filter((line) => /"level":"(?:warn|error)"/.test(line))).to.deep.equal([]);
      });
    }
  }

  it('are none when it goes while their file is coming', async () => {
    const sent = openRequest(`${service.app.baseUrl}/bulk/items`, {
      method: 'POST',
      headers: {
        authorization: `User ${USER_SECRET}, Element ${instance.token}`,
        'content-type': 'multipart/form-data; boundary=cut',
      },
    });
    const headOf = (name: string, more = '') =>
      `--cut\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
    sent.write(`${headOf('metaData')}${META_DATA}\r\n${headOf('file', '; filename="rows.csv"')}${FILE}${MUCH}`);
    await until(async () => (await countRows(service, 'bulk_chunk')) > 0);
    await remove(service);
    sent.end('\r\n--cut--\r\n');
    const [response] = await once(sent, 'response');
    expect(response.statusCode).to.equal(404);
    expect(await readJson(response)).to.include({ code: 'NOT_FOUND', message: `There is no instance ${instance.id}.` });
    expect(await countRows(service, 'bulk_chunk')).to.equal(0);
  });
});
