import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { type DocumentedCall, documentedCalls } from './support/documented-calls.ts';
import { sendRaw } from './support/raw-request.ts';
import { SHOP } from './support/simulated.ts';

const BASE = '/elements/api-v2';
const ORIGIN = 'https://app.example.com';

/** What would take the caller's own secrets away. */
const NOT_AS_CALLER: readonly string[] = [
  'rotateOwnUserSecret',
  'rotateOrganizationSecret',
  'setOwnPassword',
  'deleteUser',
];

describe('the statuses of the reference', function statuses() {
  this.timeout(120_000);
  const service = useApp({
    CORS_ORIGINS: ORIGIN,
    ROLE: 'api',
    RATE_LIMIT_USER: 'off',
    RATE_LIMIT_ACCOUNT: 'off',
  });
  let user: string;
  let element: string;
  before(async () => {
    const shop = await service.createInstance('odata', SHOP);
    user = `User ${service.userSecret}, Organization ${service.organizationSecret}`;
    element = `User ${service.userSecret}, Element ${shop.token}`;
  });

  async function statusOf(call: DocumentedCall, headers: Readonly<Record<string, string>>): Promise<number> {
    const { pathname, search } = new URL((call.belowBase ? service.app.baseUrl : service.app.url) + call.url);
    const { status } = await sendRaw(service.app.url, {
      method: call.method,
      path: pathname + search,
      headers: { ...(call.body !== undefined && { 'content-type': 'application/json' }), ...call.headers, ...headers },
      ...(call.body !== undefined && { body: call.body }),
    });
    return status;
  }

  /** Who calls, and what for: with what belongs to the operation or with something else. */
  const WAYS: Readonly<Record<string, (call: DocumentedCall) => Readonly<Record<string, string>> | undefined>> = {
    'without secrets': () => ({}),
    'without the token of an instance': ({ operationId }) =>
      NOT_AS_CALLER.includes(operationId) ? undefined : { authorization: user },
    // Without those that would take the instance away, and what is passed on, which is answered as the provider says.
    'with the token of an instance': ({ operationId }) =>
      /^(?:pass|delete|create|disable)/.test(operationId) ? undefined : { authorization: element },
    'with a key of no connect session': () => ({ authorization: `Connect ${'x'.repeat(43)}` }),
    'for an account that there is not': () => ({ authorization: user, 'elements-account-id': '999999' }),
  };
  for (const [way, headersOf] of Object.entries(WAYS)) {
    it(`are all that an operation answers ${way}`, async () => {
      const undocumented: string[] = [];
      for (const call of documentedCalls()) {
        const headers = headersOf(call);
        if (headers === undefined) continue;
        const status = await statusOf(call, headers);
        if (!call.expected.includes(String(status))) undocumented.push(`${call.operationId}: ${status}`);
      }
      expect(undocumented).to.deep.equal([]);
    });
  }

  it('have 431 for headers that are too large, of every operation', async () => {
    const calls = documentedCalls();
    expect(calls.filter(({ expected }) => !expected.includes('431'))).to.deep.equal([]);
    for (const call of calls.slice(0, 3)) expect(await statusOf(call, { 'x-long': 'x'.repeat(70_000) })).to.equal(431);
  });

  it('have none for an empty parameter of a query, which counts as absent', async () => {
    for (const query of ['where=', 'nextPage=', 'where=&nextPage=&tags[]=&searchText=']) {
      const { status } = await service.call(`/instances?${query}`);
      expect(status, query).to.equal(200);
    }
  });

  describe('of a method that no operation has', () => {
    const REFUSED: readonly (readonly [path: string, allow: string])[] = [
      [`${BASE}/instances`, 'DELETE, GET, HEAD, PATCH, POST, PUT'],
      [`${BASE}/hubs`, 'GET, HEAD'],
      [`${BASE}/Orders`, 'GET, HEAD, POST'],
      [`${BASE}/passthrough/anything`, 'DELETE, GET, HEAD, PATCH, POST, PUT'],
      [`${BASE}/connect/session`, 'DELETE, GET, HEAD'],
      ['/health/live', 'GET, HEAD'],
      ['/docs', 'GET, HEAD'],
      ['/docs/assets/docs.css', 'GET, HEAD'],
      ['/console', 'GET, HEAD'],
      ['/console/instances', 'GET, HEAD'],
      ['/console/assets/x.js', 'GET, HEAD'],
      ['/events/odata/x', 'GET, HEAD, POST'],
    ];
    for (const [path, allow] of REFUSED) {
      for (const method of ['OPTIONS', 'TRACE', 'PROPFIND']) {
        it(`are 405, whoever asks: ${method} ${path}`, async () => {
          for (const authorization of ['', user, element]) {
            const response = await sendRaw(service.app.url, {
              method,
              path,
              headers: authorization === '' ? {} : { authorization },
            });
            expect(response.status).to.equal(405);
            expect(response.headers.get('allow')?.split(', ').sort().join(', ')).to.equal(allow);
            expect(response.body).to.include({ code: 'OPERATION_UNSUPPORTED' });
          }
        });
      }
    }

    it('are 404 where nothing is', async () => {
      for (const path of ['/nothing', `${BASE}/a/b/c/d/e/f`])
        expect((await sendRaw(service.app.url, { method: 'OPTIONS', path })).status, path).to.equal(404);
    });

    it('let the preflight of a page through that may call', async () => {
      const ask = (origin: string) =>
        sendRaw(service.app.url, {
          method: 'OPTIONS',
          path: `${BASE}/instances`,
          headers: { origin, 'access-control-request-method': 'POST' },
        });
      const response = await ask(ORIGIN);
      expect(response.status).to.equal(204);
      expect(response.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
      expect((await ask('https://other.example.com')).status).to.equal(405);
    });
  });
});
