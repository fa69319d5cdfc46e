import { expect } from 'chai';
import type { ErrorCode } from '../../src/errors.ts';
import { useApp } from '../support/app.ts';
import {
  type Behaviour,
  brokenJson,
  endless,
  garbage,
  hang,
  html,
  json,
  type MisbehavingServer,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  stallInBody,
  startMisbehavingServer,
  status,
} from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useOutsideConnectors } from './support/outside-connectors.ts';
import { countRows } from './support/tenants.ts';

const PASSWORD = 'a-password-nobody-may-see';
const MEGABYTE = 1024 * 1024;

/** What a provider does, and what of it reaches the caller who reads records. */
interface Trouble {
  readonly does: Behaviour;
  readonly code: ErrorCode;
  /** `NAME` stands for the element's name. */
  readonly message: string | RegExp;
  readonly retryAfter?: string;
  readonly providerMessage?: string;
  /** Requests that the provider sees; another try is made where it may help. */
  readonly requests: number;
}

const quoted = { error: { message: `Not with '${PASSWORD}'` } };
const limited = (seconds: number) => `NAME answered 429: it takes no more calls for now. Try again in ${seconds} s.`;
const noJson = (type: string) => `NAME answered 200 without the JSON that was asked for (${type}).`;
const UNAVAILABLE = 'it cannot serve the request at the moment. Try again later.';

const TROUBLES: Readonly<Record<string, Trouble>> = {
  '403 that quotes the password': {
    does: json(quoted, 403),
    code: 'PROVIDER_REJECTED',
    message: 'NAME answered 403: it rejects the request. Correct the request.',
    providerMessage: "Not with '[redacted]'",
    requests: 1,
  },
  '404': {
    does: status(404),
    code: 'NOT_FOUND',
    message: 'NAME answered 404: there is nothing under this name or id.',
    requests: 1,
  },
  '429 with Retry-After': {
    does: status(429, { 'retry-after': '17' }),
    code: 'PROVIDER_RATE_LIMITED',
    message: limited(17),
    retryAfter: '17',
    requests: 1,
  },
  '429 without Retry-After': {
    does: status(429),
    code: 'PROVIDER_RATE_LIMITED',
    message: limited(60),
    retryAfter: '60',
    requests: 3,
  },
  '500': { does: status(500), code: 'PROVIDER_UNAVAILABLE', message: `NAME answered 500: ${UNAVAILABLE}`, requests: 1 },
  '500 with the password in a page': {
    does: status(500, { 'content-type': 'text/html' }, `<html><body>${PASSWORD}</body></html>`),
    code: 'PROVIDER_UNAVAILABLE',
    message: `NAME answered 500: ${UNAVAILABLE}`,
    requests: 1,
  },
  '503 with Retry-After': {
    does: status(503, { 'retry-after': '30' }),
    code: 'PROVIDER_UNAVAILABLE',
    message: `NAME answered 503: ${UNAVAILABLE}`,
    retryAfter: '30',
    requests: 1,
  },
  'a reset': {
    does: resetBeforeAnswer,
    code: 'PROVIDER_UNAVAILABLE',
    message: /^NAME did not answer completely: .+ Try again later\.$/,
    requests: 3,
  },
  'a reset in the middle': {
    does: resetInBody,
    code: 'PROVIDER_UNAVAILABLE',
    message: /^NAME did not answer completely: .+ Try again later\.$/,
    requests: 3,
  },
  'HTML in place of JSON': { does: html, code: 'PROVIDER_PROTOCOL', message: noJson('text/html'), requests: 1 },
  'half of a JSON text': {
    does: brokenJson,
    code: 'PROVIDER_PROTOCOL',
    message: noJson('application/json'),
    requests: 1,
  },
  'bytes that are no HTTP': {
    does: garbage,
    code: 'PROVIDER_PROTOCOL',
    message: /^The answer of NAME cannot be read: /,
    requests: 1,
  },
  '200 MB': {
    does: endless(200 * MEGABYTE),
    code: 'PROVIDER_PROTOCOL',
    message: /^The answer of NAME is too large: .+ Ask for less\.$/,
    requests: 1,
  },
  'a redirect to another host': {
    does: redirect('https://elsewhere.example/collect'),
    code: 'PROVIDER_PROTOCOL',
    message: 'The answer of NAME pointed to another host, elsewhere.example, which Causeway does not follow.',
    requests: 1,
  },
  'a redirect to another port': {
    does: redirect('http://127.0.0.1:1/collect'),
    code: 'PROVIDER_PROTOCOL',
    message: 'The answer of NAME pointed to another host, 127.0.0.1:1, which Causeway does not follow.',
    requests: 1,
  },
  'redirects without end': {
    does: redirect('?again'),
    code: 'PROVIDER_PROTOCOL',
    message: 'NAME redirected more than 3 times.',
    requests: 4,
  },
};

/** They cost the time that a connector gives its provider, so only the impatient one meets them. */
const SILENCES: Readonly<Record<string, Trouble>> = {
  'no answer': {
    does: hang,
    code: 'PROVIDER_TIMEOUT',
    message: 'NAME did not answer within 0.3 s. Try again later, or ask for less.',
    requests: 1,
  },
  'half an answer': {
    does: stallInBody,
    code: 'PROVIDER_TIMEOUT',
    message: 'NAME did not answer within 0.3 s. Try again later, or ask for less.',
    requests: 1,
  },
};

/** The refusals that mean "wrong credentials" when an instance is made. */
const REFUSALS: Readonly<Record<string, Behaviour>> = {
  '401': status(401),
  '401 that quotes the password': json(quoted, 401),
  '403': json(quoted, 403),
  '404': status(404),
};

interface Setup {
  readonly name: string;
  /** What the first call, which tries the credentials, asks for. */
  readonly probe: string;
  readonly list: string;
  readonly configuration: (url: string) => Readonly<Record<string, unknown>>;
  readonly checked: string;
  readonly prepare: (provider: MisbehavingServer) => void;
  readonly troubles: Readonly<Record<string, Trouble>>;
}

const METADATA = `<?xml version="1.0"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Test" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>
      <Property Name="id" Type="Edm.Int32" Nullable="false"/><Property Name="name" Type="Edm.String"/></EntityType>
    <EntityContainer Name="Container"><EntitySet Name="items" EntityType="Test.Item"/></EntityContainer>
  </Schema></edmx:DataServices></edmx:Edmx>`;

const SETUPS: Readonly<Record<string, Setup>> = {
  odata: {
    name: 'OData',
    probe: '/api/',
    list: '/api/items',
    configuration: (url) => ({ 'base.url': `${url}/api`, username: 'somebody', password: PASSWORD }),
    checked: 'base.url, username, password',
    prepare: (provider) => {
      provider.answer('/api/', json({ value: [] }));
      provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
      provider.answer('/api/items', json({ value: [{ id: 1, name: 'one' }] }));
    },
    troubles: TROUBLES,
  },
  impatient: {
    name: 'Impatient',
    probe: '/me',
    list: '/items',
    configuration: (url) => ({ 'base.url': url, 'api.key': PASSWORD }),
    checked: 'base.url, api.key',
    prepare: (provider) => {
      provider.answer('/me', json({}));
      provider.answer('/items', json({ records: [{ id: 1, name: 'one' }] }));
    },
    troubles: SILENCES,
  },
};

describe('a provider that misbehaves', () => {
  const service = useApp({ CONNECTORS_PATH: useOutsideConnectors() });
  let provider: MisbehavingServer;
  beforeEach(async () => {
    provider = await startMisbehavingServer();
  });
  afterEach(async () => {
    expect(service.logged.join('\n').includes(PASSWORD)).to.equal(false);
    await provider.close();
  });

  const seen = (path: string) => provider.requests.filter(({ url }) => url.split('?', 1)[0] === path).length;
  const isValid = async (id: number) => (await service.call(`/instances/${id}`)).body.valid;

  for (const [key, setup] of Object.entries(SETUPS)) {
    const { name, probe, list, troubles, checked } = setup;
    const words = (text: string | RegExp) =>
      typeof text === 'string' ? text.replace('NAME', name) : new RegExp(text.source.replace('NAME', name));
    const create = () => {
      const body = { element: { key }, name: 'x', configuration: setup.configuration(provider.url) };
      return service.call('/instances', { method: 'POST', body });
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
          const answer = await create();
          const message = `${name} refuses these credentials. Check ${checked}. Nothing was stored.`;
          expectProblem(answer, 'PROVIDER_CREDENTIALS_INVALID', message);
          expect(JSON.stringify(answer.body)).not.to.include(PASSWORD);
        });
      }

      for (const [what, trouble] of Object.entries(troubles).filter(([title]) => !/^40[34]/.test(title))) {
        it(`answers ${trouble.code} for ${what}`, async () => {
          provider.answer(probe, trouble.does);
          const answer = await create();
          expectProblem(answer, trouble.code, words(trouble.message));
          expect(answer.headers.get('retry-after')).to.equal(trouble.retryAfter ?? null);
          expect(seen(probe)).to.equal(trouble.requests);
          expect(JSON.stringify(answer.body)).not.to.include(PASSWORD);
        });
      }
    });

    describe(`when records of ${key} are read`, () => {
      for (const [what, trouble] of Object.entries(troubles)) {
        it(`answers ${trouble.code} for ${what}, and the instance stays valid`, async () => {
          setup.prepare(provider);
          const { id, token } = (await create()).body;
          provider.answer(list, trouble.does);
          const answer = await service.call('/items', { token });
          expectProblem(answer, trouble.code, words(trouble.message));
          expect(answer.headers.get('retry-after')).to.equal(trouble.retryAfter ?? null);
          const { providerMessage } = answer.body;
          if (trouble.providerMessage !== undefined) expect(providerMessage).to.equal(trouble.providerMessage);
          expect(JSON.stringify(answer.body)).not.to.include(PASSWORD);
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
          const message = `${name} answered 401: it refuses the credentials of this instance. Correct them in the configuration of the instance.`;
          expectProblem(refused, 'INSTANCE_CREDENTIALS_FAILED', message);
          expect(refused.body.providerMessage).to.equal("Not with '[redacted]'");
          expect(await isValid(id)).to.equal(false);
        }
        setup.prepare(provider);
        expect((await service.call('/items', { token })).body).to.deep.equal([{ id: 1, name: 'one' }]);
        expect(await isValid(id)).to.equal(true);
      });

      it('is valid again after new credentials, not after a new name', async () => {
        setup.prepare(provider);
        const { id, token } = (await create()).body;
        provider.answer(list, status(401));
        await service.call('/items', { token });
        await service.call(`/instances/${id}`, { method: 'PATCH', body: { name: 'Renamed' } });
        expect(await isValid(id)).to.equal(false);
        const configuration = setup.configuration(provider.url);
        await service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration } });
        expect(await isValid(id)).to.equal(true);
      });
    });
  }

  describe('while a record is made', () => {
    let token: string;
    beforeEach(async () => {
      SETUPS.impatient?.prepare(provider);
      token = (await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD })).token;
    });

    const post = () => service.call('/items', { method: 'POST', body: { name: 'one' }, token });

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
      const answer = await post();
      expectProblem(
        answer,
        'PROVIDER_REJECTED',
        'Impatient answered 422: it rejects the request. Correct the request.',
      );
      expect(answer.body.providerMessage).to.equal('No name, [redacted]');
    });
  });

  it('that answers a record in another shape is a PROVIDER_PROTOCOL, never a 500', async () => {
    SETUPS.impatient?.prepare(provider);
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
    SETUPS.odata?.prepare(provider);
    const { token } = await service.createInstance('odata', SETUPS.odata?.configuration(provider.url) ?? {});
    const rows = [{ id: 2, name: null }];
    for (const passing of [status(503), status(429), status(429, { 'retry-after': '0' }), resetBeforeAnswer]) {
      provider.answer('/api/items', passing, json({ value: rows }));
      const before = seen('/api/items');
      const answer = await service.call('/items', { token });
      expect(answer).to.deep.include({ status: 200, body: rows });
      expect(seen('/api/items') - before).to.equal(2);
    }
  });

  it('that tells its budget has it passed on', async () => {
    SETUPS.impatient?.prepare(provider);
    const { token } = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': PASSWORD });
    const budget = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '42', 'x-ratelimit-reset': '7' };
    provider.answer('/items', json({ records: [] }, 200, budget));
    const { headers } = await service.call('/items', { token });
    const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'elements-provider-calls'];
    expect(names.map((name) => headers.get(name))).to.deep.equal(['100', '42', '7', '1']);
  });

  it('whose metadata break says so, and works when they are mended', async () => {
    SETUPS.odata?.prepare(provider);
    const configuration = SETUPS.odata?.configuration(provider.url) ?? {};
    const { token } = await service.createInstance('odata', configuration);
    for (const does of [html, status(200, { 'content-type': 'application/xml' }, '<x'), json({}), status(204)]) {
      provider.answer('/api/$metadata', does);
      for (const path of ['/objects', '/objects/items/metadata', '/items']) {
        expectProblem(await service.call(path, { token }), 'PROVIDER_PROTOCOL');
      }
    }
    SETUPS.odata?.prepare(provider);
    expect((await service.call('/items', { token })).body).to.deep.equal([{ id: 1, name: 'one' }]);
  });

  it('is left alone when the caller hangs up', async () => {
    SETUPS.impatient?.prepare(provider);
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
    const { body } = await service.call('/elements/impatient');
    expect(body).to.include({ id: 990001, key: 'impatient', name: 'Impatient', hub: 'general' });
    expect(body.configuration.map(({ key }: { key: string }) => key)).to.deep.equal([
      'base.url',
      'api.key',
      'simulator',
    ]);
  });
});
