import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { FIRST_CREDENTIALS, pluck, useApp } from '../support/app.ts';
import {
  hang,
  html,
  json,
  type MisbehavingServer,
  redirect,
  resetBeforeAnswer,
  startMisbehavingServer,
  status,
} from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { METADATA } from './support/odata-metadata.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { authorizationOf, countRows } from './support/tenants.ts';
import { SETUPS } from './support/troubled-setups.ts';
import { PASSWORD, quoted, REFUSALS } from './support/troubles.ts';

describe('a provider that misbehaves', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS, SIMULATORS_PORT: 'off' });
  let provider: MisbehavingServer;
  beforeEach(async () => {
    provider = await startMisbehavingServer();
  });
  afterEach(async () => {
    expect(service.logged.join('\n').includes(PASSWORD)).to.equal(false);
    await provider.close();
  });

  const seen = (path: string) => provider.requests.filter(({ url }) => url.split('?', 1)[0] === path).length;
  const isValid = async (id: number) => (await service.get(`/instances/${id}`)).valid;

  for (const [key, setup] of Object.entries(SETUPS)) {
    const { name, probe, list, troubles, checked } = setup;
    const words = (text: string | RegExp) =>
      typeof text === 'string' ? text.replace('NAME', name) : new RegExp(text.source.replace('NAME', name));
    const create = () => {
      const body = { element: { key }, name: 'x', configuration: setup.configuration(provider.url) };
      return service.send('POST', '/instances', body);
    };

    describe(`when an instance of ${key} is made`, () => {
      let rows: number;
      before(async () => {
        rows = await countRows(service, 'instance');
      });
      afterEach('nothing is stored', async () => {
        expect(await countRows(service, 'instance')).to.equal(rows);
      });

      for (const [what, does] of Object.entries(REFUSALS)) {
        it(`answers PROVIDER_CREDENTIALS_INVALID for ${what}`, async () => {
          provider.answer(probe, does);
          const response = await create();
          const message = `${name} rejects these credentials. Check ${checked}. Nothing was stored.`;
          expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
          expect(JSON.stringify(response.body)).not.to.include(PASSWORD);
        });
      }

      for (const [what, trouble] of Object.entries(troubles).filter(([title]) => !/^40[34]/.test(title))) {
        it(`answers ${trouble.code} for ${what}`, async () => {
          provider.answer(probe, trouble.does);
          const response = await create();
          expectProblem(response, trouble.code, words(trouble.message));
          expect(response.headers.get('retry-after')).to.equal(trouble.retryAfter ?? null);
          expect(seen(probe)).to.equal(trouble.requests);
          expect(JSON.stringify(response.body)).not.to.include(PASSWORD);
        });
      }
    });

    describe(`when records of ${key} are read`, () => {
      for (const [what, trouble] of Object.entries(troubles)) {
        it(`answers ${trouble.code} for ${what}, and the instance stays valid`, async () => {
          setup.prepare(provider);
          const { id, token } = (await create()).body;
          provider.answer(list, trouble.does);
          const response = await service.call('/items', { token });
          expectProblem(response, trouble.code, words(trouble.message));
          expect(response.headers.get('retry-after')).to.equal(trouble.retryAfter ?? null);
          const { providerMessage } = response.body;
          if (trouble.providerMessage !== undefined) expect(providerMessage).to.equal(trouble.providerMessage);
          expect(JSON.stringify(response.body)).not.to.include(PASSWORD);
          expect(seen(list)).to.equal(trouble.requests);
          expect(await isValid(id)).to.equal(true);
        });
      }

      it('answers 424 when the credentials are refused, is not valid then, and valid again after a call that is not', async () => {
        setup.prepare(provider);
        const { id, token } = (await create()).body;
        expect(await isValid(id)).to.equal(true);
        provider.answer(list, json(quoted, 401));
        for (let times = 0; times < 2; times++) {
          const refused = await service.call('/items', { token });
          const message = `${name} returned 401: it rejects the credentials of this instance. Correct them in the configuration of the instance.`;
          expectProblem(refused, 'INSTANCE_CREDENTIALS_FAILED', message);
          expect(refused.body.providerMessage).to.equal("Not with '[redacted]'");
          expect(await isValid(id)).to.equal(false);
        }
        setup.prepare(provider);
        expect(await service.get('/items', { token })).to.deep.equal([{ id: 1, name: 'one' }]);
        expect(await isValid(id)).to.equal(true);
      });

      it('is valid again after new credentials, not after a new name', async () => {
        setup.prepare(provider);
        const { id, token } = (await create()).body;
        provider.answer(list, status(401));
        await service.call('/items', { token });
        await service.send('PATCH', `/instances/${id}`, { name: 'Renamed' });
        expect(await isValid(id)).to.equal(false);
        const configuration = setup.configuration(provider.url);
        await service.send('PATCH', `/instances/${id}`, { configuration });
        expect(await isValid(id)).to.equal(true);
      });
    });
  }

  describe('while a record is made', () => {
    let token: string;
    beforeEach(async () => {
      SETUPS.impatient.prepare(provider);
      token = (await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD })).token;
    });

    const post = () => service.send('POST', '/items', { name: 'one' }, { token });

    it('is asked once, as nobody knows whether it did it', async () => {
      for (const [does, code] of [
        [hang, 'PROVIDER_TIMEOUT'],
        [resetBeforeAnswer, 'PROVIDER_UNAVAILABLE'],
        [status(503), 'PROVIDER_UNAVAILABLE'],
        [status(429), 'PROVIDER_RATE_LIMITED'],
        [status(400, {}, 'No name'), 'PROVIDER_REJECTED'],
        [redirect('/elsewhere'), 'PROVIDER_PROTOCOL'],
        [html, 'PROVIDER_PROTOCOL'],
        [json([1, 2]), 'PROVIDER_PROTOCOL'],
        [json('text'), 'PROVIDER_PROTOCOL'],
        [status(204), 'PROVIDER_PROTOCOL'],
      ] as const) {
        provider.answer('/items', does);
        const before = provider.requests.length;
        expectProblem(await post(), code);
        expect(provider.requests.length - before).to.equal(1);
      }
    });

    it('sends its words along with the code', async () => {
      provider.answer('/items', json({ errors: [{ message: `No \u0000 name, ${PASSWORD}` }] }, 422));
      const response = await post();
      expectProblem(
        response,
        'PROVIDER_REJECTED',
        'Impatient returned 422: it rejects the request. Correct the request.',
      );
      expect(response.body.providerMessage).to.equal('No name, [redacted]');
    });
  });

  it('does not make a fault of ours of a caller who hangs up while it is silent', async () => {
    SETUPS.odata.prepare(provider);
    const { token } = await service.createInstance('odata', SETUPS.odata.configuration(provider.url));
    provider.answer('/api/items', hang);
    const hungUp = (line: string) => line.includes('"cut":true');
    const before = service.logged.length;
    const socket = sendAndKeep(service.app.url, `GET /elements/api-v2/items HTTP/1.1`, token);
    await until(async () => seen('/api/items') === 1);
    socket.destroy();
    await until(async () => service.logged.slice(before).some(hungUp));
    // What follows of it is over when another call has been answered.
    await service.call('/instances');
    expect(service.logged.slice(before).filter((line) => line.includes('request failed'))).to.deep.equal([]);
  });

  it('that answers a record in another shape is a PROVIDER_PROTOCOL, never a 500', async () => {
    SETUPS.impatient.prepare(provider);
    const { token } = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD });
    for (const body of [null, [], 5, 'x', {}, { records: {} }, { records: [null] }, { records: [[1]] }]) {
      provider.answer('/items', json(body));
      expectProblem(await service.call('/items', { token }), 'PROVIDER_PROTOCOL');
    }
    for (const body of [null, [], 5, 'x']) {
      provider.answer('/items/1', json(body));
      expectProblem(await service.call('/items/1', { token }), 'PROVIDER_PROTOCOL');
    }
  });

  it('answers the second time when the first fails in passing', async () => {
    SETUPS.odata.prepare(provider);
    const { token } = await service.createInstance('odata', SETUPS.odata.configuration(provider.url));
    const rows = [{ id: 2, name: null }];
    for (const passing of [status(503), status(429), status(429, { 'retry-after': '0' }), resetBeforeAnswer]) {
      provider.answer('/api/items', passing, json({ value: rows }));
      const before = seen('/api/items');
      expect(await service.call('/items', { token })).to.deep.include({ status: 200, body: rows });
      expect(seen('/api/items') - before).to.equal(2);
    }
  });

  it('that tells its budget has it passed on', async () => {
    SETUPS.impatient.prepare(provider);
    const { token } = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD });
    const budget = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '42', 'x-ratelimit-reset': '7' };
    provider.answer('/items', json({ records: [] }, 200, budget));
    const { headers } = await service.call('/items', { token });
    const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'elements-provider-calls'];
    expect(names.map((name) => headers.get(name))).to.deep.equal(['100', '42', '7', '1']);
  });

  it('whose metadata break says so without asking again at once, and works when they are mended', async () => {
    const configuration = SETUPS.odata.configuration(provider.url);
    for (const does of [html, status(200, { 'content-type': 'application/xml' }, '<x'), json({}), status(204)]) {
      SETUPS.odata.prepare(provider);
      provider.answer('/api/$metadata', does);
      const { id, token } = await service.createInstance('odata', configuration);
      const before = seen('/api/$metadata');
      for (const path of ['/objects', '/objects/items/metadata', '/items']) {
        expectProblem(await service.call(path, { token }), 'PROVIDER_PROTOCOL');
      }
      expect(seen('/api/$metadata') - before).to.equal(1);
      SETUPS.odata.prepare(provider);
      // Whoever mends something tells so by changing the instance, which is then tried at once.
      await service.send('PATCH', `/instances/${id}`, { configuration: { 'text.binary': true } });
      expect(await service.get('/items', { token })).to.deep.equal([{ id: 1, name: 'one' }]);
    }
  });

  it('whose metadata have too much in them says what, and how much is taken', async () => {
    SETUPS.odata.prepare(provider);
    const properties = Array.from({ length: 5000 }, (_, index) => `<Property Name="p${index}" Type="Edm.String"/>`);
    const metadata = METADATA.replace('<Property Name="name" Type="Edm.String"/>', properties.join(''));
    provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, metadata));
    const { token } = await service.createInstance('odata', SETUPS.odata.configuration(provider.url));
    const message = 'The type Test.Item in the $metadata of the service has 5,001 properties; the maximum is 5,000.';
    expectProblem(await service.call('/items', { token }), 'PROVIDER_PROTOCOL', message);
    expect(await service.get('/objects', { token })).to.have.length(1);
  });

  it('is left alone when the caller hangs up', async () => {
    SETUPS.impatient.prepare(provider);
    const { token } = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD });
    let closed = false;
    const asked = new Promise<void>((resolve) => {
      provider.answer('/items', (response) => {
        response.once('close', () => {
          closed = true;
        });
        resolve();
      });
    });
    const controller = new AbortController();
    const url = `${service.app.baseUrl}/items`;
    const headers = { authorization: `User ${service.userSecret}, Element ${token}` };
    const call = fetch(url, { headers, signal: controller.signal }).catch((error: unknown) => error);
    await asked;
    controller.abort();
    expect(await call).to.have.property('name', 'AbortError');
    while (!closed) await new Promise((resolve) => setImmediate(resolve));
  });

  it('is a connector of CONNECTORS_PATH, which the service shows as its own', async () => {
    const body = await service.get('/elements/impatient');
    expect(body).to.include({ id: 990001, key: 'impatient', name: 'Impatient', hub: 'general' });
    expect(pluck(body.configuration, 'key')).to.deep.equal([
      ...['base.url', 'api.key', 'simulator', 'filter.response.nulls', 'event.notification.enabled'],
      'event.notification.callback.url',
      ...['event.notification.signature.key', 'event.notification.format', 'event.notification.ordered'],
      ...['event.notification.hydrate', 'event.vendor.type', 'event.poller.refresh_interval'],
      ...['event.poller.configuration', 'event.poller.time.zone', 'event.poller.backfill', 'event.objects'],
    ]);
  });
});

/** A request on a connection of its own, which its caller can break. */
function sendAndKeep(url: string, line: string, token: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { authorization } = authorizationOf(FIRST_CREDENTIALS, token);
  socket.write(`${line}\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  return socket;
}
