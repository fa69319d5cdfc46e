import { once } from 'node:events';
import { type ClientRequest, request as send } from 'node:http';
import { expect } from 'chai';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { theRow } from '../support/database.ts';
import { until } from '../support/until.ts';
import { useInstance } from './support/instances.ts';
import { SHOP } from './support/simulated.ts';
import { countRows, withDatabase } from './support/tenants.ts';

const BOUNDARY = 'cut-here';
const HEAD = [
  ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="metaData"', '', '{"format":"csv","action":"create"}'],
  ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="file"; filename="rows.csv"', '', 'Id,Name', ''],
].join('\r\n');
/** More than is gathered before it is stored. */
const ROWS = '1,A name that is rather long\r\n'.repeat(60_000);

describe('a bulk upload whose sender goes away', () => {
  const service = useApp();
  let other: StartedApp;
  const shop = useInstance(service, 'odata', SHOP);
  before(async () => {
    other = await startTestApp({ DATABASE_URL: service.databaseUrl });
  });

  /** Sends the beginning of a file, and waits until parts of it are stored. */
  async function begin({ app }: Pick<StartedApp, 'app'>): Promise<ClientRequest> {
    const request = send(`${app.baseUrl}/bulk/Products`, {
      method: 'POST',
      headers: {
        authorization: `User ${service.userSecret}, Element ${shop.token}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
    });
    // It is broken off.
    request.on('error', () => {});
    request.write(HEAD);
    request.write(ROWS);
    await until(async () => (await countRows(service, 'bulk_chunk')) > 0);
    return request;
  }

  const expectNothing = async () => {
    await until(async () => (await countRows(service, 'bulk_chunk')) === 0);
    expect(await countRows(service, 'bulk_job')).to.equal(0);
  };

  it('leaves no job and nothing of its file when it hangs up', async () => {
    const request = await begin(service);
    request.destroy();
    await expectNothing();
  });

  it('leaves neither when it falls silent and its connection is ended, here by a stop of the service', async () => {
    const request = await begin(other);
    await other.stop();
    request.destroy();
    await expectNothing();
  });
});

describe('a bulk upload that comes while others begin', () => {
  const service = useApp();

  it('does not begin when the account has the maximum of jobs by then', async () => {
    const { token, id } = await service.createInstance('odata', SHOP);
    const request = send(`${service.app.baseUrl}/bulk/Products`, {
      method: 'POST',
      headers: {
        authorization: `User ${service.userSecret}, Element ${token}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
    });
    const response = once(request, 'response');
    request.write(HEAD);
    request.write(ROWS);
    await until(async () => (await countRows(service, 'bulk_chunk')) > 0);
    await withDatabase(service, async (knex) => {
      const { account_id } = await theRow(knex('instance').where({ id }));
      await knex.raw(
        `insert into bulk_job (account_id, instance_id, direction, object_name, query, format, due)
         select ?::bigint, ?::bigint, 'DOWNLOAD', 'Products', '{}', 'csv', now() + interval '1 day' from generate_series(1, 500)`,
        [account_id, id],
      );
    });
    request.end(`\r\n--${BOUNDARY}--\r\n`);
    const [{ statusCode }] = await response;
    expect([statusCode, await countRows(service, 'bulk_job'), await countRows(service, 'bulk_chunk')]).to.deep.equal([
      429, 500, 0,
    ]);
  });
});
