import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { quoting, tracesOf } from './support/canaries.ts';
import { expectProblem } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { readEverything, withDatabase } from './support/tenants.ts';

const KB = 1024;
const requestIdOf = ({ headers }: ApiAnswer) => headers.get('elements-request-id') ?? '';

describe('trace logging of an instance', () => {
  const connectors = OUTSIDE_CONNECTORS;
  const service = useApp({ CONNECTORS_PATH: connectors }, { recorderOptions: { flushMs: 20 } });
  const apiKey = `canary-${randomBytes(8).toString('hex')}`;
  const provider = useMisbehavingServer();
  let instance: ApiAnswer['body'];

  before(async () => {
    provider.answer('/me', json({}));
  });

  beforeEach(async () => {
    instance = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': apiKey });
  });

  const put = (seconds?: number) =>
    service.call(`/instances/${instance.id}/trace-logging`, { method: 'PUT', query: { seconds } });

  async function callsOf(response: ApiAnswer, by = service): Promise<ApiAnswer['body']> {
    const path = `/activity/${requestIdOf(response)}`;
    await until(async () => (await by.call(path)).status === 200);
    return (await by.get(path)).providerCalls;
  }

  const items = (call: ApiCall = {}) => service.call('/items', { token: instance.token, ...call });

  it('keeps headers and bodies of what the provider was sent and answered', async () => {
    const until = (await put(600)).body;
    expect(until.traceLoggingEnabled).to.equal(true);
    expect(Date.parse(until.traceLoggingUntil) - Date.now()).to.be.within(500_000, 600_000);
    provider.answer('/items', json({ id: 7, name: 'Ada' }, 200, { 'x-provider': 'yes' }));
    const [call] = await callsOf(await items({ method: 'POST', body: { name: 'Ada' } }));
    expect(call).to.include({ requestBody: '{"name":"Ada"}', responseBody: '{"id":7,"name":"Ada"}' });
    expect(call.requestHeaders).to.include({ 'x-api-key': '[redacted]', 'content-type': 'application/json' });
    expect(call.responseHeaders).to.include({ 'x-provider': 'yes' });
  });

  it('is not in lists, and nothing is kept while it is off', async () => {
    provider.answer('/items', json({ records: [] }));
    expect(await callsOf(await items())).to.have.nested.property('[0].status', 200);
    expect(Object.keys((await callsOf(await items()))[0])).not.to.include('responseBody');
    await put();
    await callsOf(await items());
    const body = await service.get(`/instances/${instance.id}/activity`);
    expect(JSON.stringify(body)).not.to.include('responseHeaders');
  });

  it('ends by itself, by DELETE, and is for a day at most', async () => {
    expectProblem(await put(86_401), 'REQUEST_INVALID');
    expectProblem(await put(0), 'REQUEST_INVALID');
    await put();
    const path = `/instances/${instance.id}`;
    expect(await service.change('DELETE', `${path}/trace-logging`)).to.deep.equal({ id: instance.id });
    expect(await service.get(path)).to.include({ traceLoggingEnabled: false });
    await put(1);
    await until(async () => (await service.call(path)).body.traceLoggingEnabled === false);
    provider.answer('/items', json({ records: [] }));
    expect(Object.keys((await callsOf(await items()))[0])).not.to.include('responseBody');
    expectProblem(await service.send('PUT', '/instances/999999/trace-logging'), 'NOT_FOUND');
  });

  it('cuts a large body where all can see it, and describes one that is no text', async () => {
    await put();
    provider.answer('/items', json({ records: [], filler: 'x'.repeat(200 * KB) }));
    const [large] = await callsOf(await items());
    expect(large.responseBody.length).to.be.within(60 * KB, 65 * KB);
    expect(large.responseBody).to.match(/… \[cut: of 2\d{5} bytes\]$/);
    provider.answer('/photo', status(200, { 'content-type': 'image/png' }, Buffer.alloc(5_000, 1)));
    const [photo] = await callsOf(await service.call('/passthrough/photo', { token: instance.token }));
    expect(photo.responseBody).to.equal('[5000 bytes: image/png]');
    provider.answer('/text', status(200, { 'content-type': 'text/plain' }, 'y'.repeat(300 * KB)));
    const passed = await service.call('/passthrough/text', { token: instance.token });
    expect(passed.body).to.have.length(300 * KB);
    const [text] = await callsOf(passed);
    expect(text.responseBody).to.match(/y… \[cut: of 307200 bytes\]$/);
  });

  it('has a bound for the bodies of one request', async () => {
    await put();
    let next = 0;
    const filler = 'x'.repeat(63 * KB);
    provider.answer('/items', (...sent) =>
      json({ records: [{ id: next, name: 'a' }], next: `${next++}`, filler })(...sent),
    );
    const calls = await callsOf(await items({ query: { where: "name = 'b'" } }));
    const leftOut = calls.filter(({ responseBody }: ApiAnswer['body']) => responseBody.includes('left out'));
    expect(leftOut.length).to.equal(calls.length - 16);
  });

  it('shows no secret, by value or by name, whatever the provider repeats', async () => {
    await put();
    const named = `unknown-${randomBytes(8).toString('hex')}`;
    provider.answer('/items', ...quoting(apiKey, [403, 422]));
    for (let round = 0; round < 18; round++) await callsOf(await items());
    const secrets = {
      access_token: named,
      nested: { clientSecret: named, 'api.key': named },
      form: `password=${named}&x=1`,
      xml: `<a:password>${named}</a:password>`,
    };
    provider.answer('/items', json(secrets, 200, { location: `https://x.example/?refresh_token=${named}&y=1` }));
    await callsOf(await items({ method: 'POST', body: { name: `api_key=${named}` } }));
    const everything = await readEverything(service);
    expect(everything).to.include('activity_wire').and.include('https://x.example/?refresh_token=[redacted]&y=1');
    for (const secret of [apiKey, named])
      for (const trace of tracesOf(secret)) expect(everything).not.to.include(trace);
  });

  it('leaves out what is at the end of a body that is cut, which may be half of a secret', async () => {
    await put();
    // The last characters of what is kept are the first of the key.
    const before = `{"records":[],"filler":"${'x'.repeat(64 * KB)}`.slice(0, 64 * KB - 12);
    const body = `${before}${apiKey}"}`;
    provider.answer('/items', status(200, { 'content-type': 'application/json' }, body));
    const [call] = await callsOf(await items());
    expect(call.responseBody).to.include('… [cut').and.not.include(apiKey.slice(0, 8));
  });

  it('is known to every process at once', async () => {
    const second: StartedApp = await startTestApp(
      { DATABASE_URL: service.databaseUrl, CONNECTORS_PATH: connectors },
      { recorderOptions: { flushMs: 20 } },
    );
    try {
      const { token } = instance;
      provider.answer('/items', json({ records: [] }));
      await second.call('/items', { token });
      await put();
      await until(async () => 'responseBody' in (await callsOf(await second.call('/items', { token }), second))[0]);
      await service.send('DELETE', `/instances/${instance.id}/trace-logging`);
      await until(async () => !('responseBody' in (await callsOf(await second.call('/items', { token })))[0]));
    } finally {
      await second.stop();
    }
  });

  it('has a row of the audit log for each change', async () => {
    const response = await put();
    const rows = await withDatabase(service, (knex) => knex('audit_log').where({ request_id: requestIdOf(response) }));
    expect(rows).to.have.length(1);
    expect(rows[0]).to.deep.include({ action: 'update', target: 'instance', instance_id: instance.id });
  });
});
