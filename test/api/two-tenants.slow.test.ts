import { expect } from 'chai';
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constantFrom,
  nat,
  oneof,
  record,
  string,
  tuple,
} from 'fast-check';
import { type ApiAnswer, type ApiCall, pluck, useApp } from '../support/app.ts';
import { anyCharacter } from '../support/characters.ts';
import { json, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { PRIVATE_SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants, type Tenant } from './support/tenants.ts';

const PASSWORD = 'password-of-the-second-tenant';
const NO_ELEMENT = "There is no element 'nope'";

/** Differs from one call to the next, whoever else calls. */
const OF_THE_MOMENT = /^(date|elements-request-id|ratelimit-.*)$/;

/** Where the first tenant calls from. */
const FAR_AWAY = { 'x-forwarded-for': '10.9.9.9' };

describe('what one tenant sends', function twoTenants() {
  this.timeout(120_000);
  const service = useApp({ TRUST_PROXY: '127.0.0.1,::1' });
  let stranger: Tenant;
  const provider = useMisbehavingServer();
  let token: string;
  let instanceId: number;
  let proxies = 0;
  let rounds = 0;

  before('two tenants, of which the second has an instance', async () => {
    ({ stranger } = await createTenants(service));
    provider.answer('/open/', json({ value: [] }));
    provider.answer('/api/', json({ value: [] }), json({ error: { message: `Not with ${PASSWORD}` } }, 401));
    provider.answer('/api/$metadata', json({ error: { message: `There is no request with ${PASSWORD}` } }, 422));
    const configuration = { 'base.url': `${provider.url}/api`, username: 'second-user', password: PASSWORD };
    ({ token, id: instanceId } = await service.createInstance('odata', configuration));
  });

  const asStranger = (path: string, { headers, ...call }: ApiCall = {}) =>
    service.call(path, { ...call, headers: { ...FAR_AWAY, ...authorizationOf(stranger), ...headers } });
  const post = (path: string, body: unknown) => asStranger(path, { method: 'POST', body });
  const query = { apiKey: 'x', callbackUrl: 'https://app.example.com/' };

  /** Every place in which the service takes a secret, and keeps it or not. */
  const PLACES: Readonly<Record<string, (secret: string) => Promise<unknown>>> = {
    apiSecret: (apiSecret) => asStranger('/elements/salesforce/oauth/url', { query: { ...query, apiSecret } }),
    'a proxy': (apiSecret) => post('/elements/oauthProxies', { name: `proxy ${proxies++}`, apiKey: 'x', apiSecret }),
    'a password that is refused': (password) =>
      post('/instances', { element: { key: 'odata' }, name: 'x', configuration: { ...PRIVATE_SHOP, password } }),
    'an instance that is called': async (password) => {
      const configuration = {
        'base.url': `${provider.url}/open`,
        username: 'x',
        password,
        'event.notification.signature.key': password,
      };
      const { body } = await post('/instances', { element: { key: 'odata' }, name: 'x', configuration });
      await service.call('/items', { headers: { ...FAR_AWAY, ...authorizationOf(stranger, body.token) } });
    },
    'a code': (code) =>
      post('/instances', {
        element: { key: 'salesforce' },
        name: 'x',
        configuration: { 'oauth.api.key': 'x', 'oauth.api.secret': code, 'oauth.callback.url': query.callbackUrl },
        providerData: { code },
      }),
    'a header': (secret) =>
      service.call('/instances', {
        headers: {
          ...FAR_AWAY,
          authorization: `User ${encodeURIComponent(secret)}, ${secret.replace(/[^!-~ ]/g, '')}`,
        },
      }),
    'a configuration key': (key) =>
      post('/instances', { element: { key: 'odata' }, name: 'x', configuration: { [key]: key } }),
  };

  const SECOND_CALLS: readonly (readonly [string, ApiCall?])[] = [
    ['/elements/nope'],
    ['/nothing/at/all'],
    ['/instances?pageSize=0'],
    ['/instances', { query: { where: "nmae = 'request'" } }],
    ['/instances', { headers: { authorization: 'User wrong-secret, Organization of-nobody' } }],
    ['/instances', { method: 'POST', body: { element: { key: 'odata' }, name: 'x', configuration: { nope: 1 } } }],
    ['/instances', { method: 'POST', body: '{"configuration": ' }],
    ['/elements/bamboohr'],
    ['/elements/oauthProxies'],
  ];

  /** What the second tenant reads, and what is logged of it, without what differs from call to call. */
  async function readAsSecond(): Promise<readonly string[]> {
    // Wrong secrets of its own are counted by address.
    const from = { 'x-forwarded-for': `10.1.${rounds >> 8}.${rounds++ & 255}` };
    const onInstance: readonly (readonly [string, ApiCall])[] = [
      ['/items', { token }],
      [`/instances/${instanceId}/configuration`, {}],
      [`/instances/${instanceId}/configuration`, { method: 'PATCH', body: { password: 'another-password' } }],
    ];
    const read: string[] = [];
    for (const [path, call] of [...SECOND_CALLS, ...onInstance]) {
      const response = await service.call(path, { ...call, headers: { ...from, ...call?.headers } });
      read.push(shown(response), ...loggedOf(response));
    }
    return read;
  }

  function shown({ status, headers, body }: ApiAnswer): string {
    const stable = [...headers].filter(([name]) => !OF_THE_MOMENT.test(name));
    return JSON.stringify([status, stable, body]).replaceAll(requestIdOf(headers), '(id)');
  }

  const requestIdOf = (headers: Headers) => String(headers.get('elements-request-id'));

  function loggedOf({ headers }: ApiAnswer): readonly string[] {
    const id = requestIdOf(headers);
    const lines = service.logged.filter((line) => line.includes(id));
    return lines.map((line) =>
      line
        .replace(id, '(id)')
        .replace(/"time":"[^"]*"/, '')
        .replace(/"address":"[^"]*"/, '')
        .replace(/"ms":[\d.]+/, ''),
    );
  }

  it('changes no byte of what another one reads, and of what is logged of it', async () => {
    const baseline = await readAsSecond();
    expect(baseline.join('\n')).to.contain(NO_ELEMENT).and.contain('Not with [redacted]').and.not.contain(PASSWORD);
    expect(baseline.length).to.be.at.least(2 * (SECOND_CALLS.length + 3));
    await assert(
      asyncProperty(
        array(record({ place: constantFrom(...Object.values(PLACES)), secret: secretOutOf(baseline) }), {
          minLength: 1,
          maxLength: 5,
        }),
        async (sent) => {
          const sending = sent.map(({ place, secret }) => place(secret));
          const [during] = await Promise.all([readAsSecond(), ...sending]);
          expect(during).to.deep.equal(baseline);
          expect(await readAsSecond()).to.deep.equal(baseline);
        },
      ),
      { numRuns: 25 },
    );
  });

  /** Above all pieces of what the other one reads. */
  function secretOutOf(texts: readonly string[]): Arbitrary<string> {
    const piece = tuple(constantFrom(...texts), nat(), nat({ max: 40 })).map(([text, at, length]) => {
      const start = at % Math.max(1, text.length - 6);
      return text.slice(start, start + 6 + length);
    });
    return oneof(
      piece,
      piece,
      string({ minLength: 6, unit: anyCharacter }),
      constantFrom(PASSWORD, 'There is no', 'request"}'),
    );
  }

  it('blanks no words of anybody else, wherever it is sent as a secret', async () => {
    for (const send of Object.values(PLACES)) await send('There is no');
    const response = await service.call('/elements/nope');
    expectProblem(response, 'NOT_FOUND');
    expect(response.body.message).to.contain(NO_ELEMENT);
  });

  it('leaves every line of the log one well-formed object', async () => {
    for (const secret of ['request"}', '"level":"info"', '","msg":"request"', 'requestId']) {
      for (const send of Object.values(PLACES)) await send(secret);
    }
    for (const line of service.logged) expect(JSON.parse(line), line).to.include.keys('level', 'time', 'msg');
    const requests = service.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    expect(requests.length).to.be.greaterThan(20);
    for (const request of requests) expect(request).to.include.keys('requestId', 'method', 'path', 'status', 'ms');
  });

  it('is no question about the secrets of another one: 4,000 guesses come back as they were sent', async () => {
    const secrets = [PASSWORD, token, service.userSecret, service.organizationSecret];
    const guesses = Array.from({ length: 4000 }, (_, at) => secrets[at / 1000] ?? `guess-number-${at}`);
    // With the missing base.url they are as many faults as one answer tells.
    for (let start = 0; start < guesses.length; start += 49) {
      const some = guesses.slice(start, start + 49);
      const body = {
        name: 'x',
        element: { key: 'odata' },
        configuration: Object.fromEntries(some.map((guess) => [guess, 1])),
      };
      const response = await post('/instances', body);
      expectProblem(response, 'REQUEST_INVALID');
      expect(JSON.stringify(response.body)).to.not.contain('[redacted]');
      const named = pluck(response.body.details, 'path');
      expect(named).to.include.members(some.map((guess) => `/body/configuration/${guess}`));
    }
    for (const guess of secrets) {
      expectProblem(await asStranger(`/elements/${guess}`), 'NOT_FOUND');
      expect((await asStranger(`/elements/${guess}`)).body.message).to.contain(guess);
    }
  });

  it('is refused when it is longer than any secret', async () => {
    const longSecret = (length: number) => {
      const configuration = { ...PRIVATE_SHOP, password: '\\'.repeat(length) };
      return post('/instances', { element: { key: 'odata' }, name: 'x', configuration });
    };
    const before = process.cpuUsage();
    expectProblem(await longSecret(3_900_000), 'PAYLOAD_TOO_LARGE');
    const response = await longSecret(120_000);
    const { user, system } = process.cpuUsage(before);
    const message = "'password' is longer than 4096 characters.";
    expectProblem(response, 'REQUEST_INVALID', message);
    expect(response.body.details).to.deep.equal([{ path: '/body/configuration/password', message }]);
    // Some 200 ms of which most are the test's own; before, 6 to 14 s.
    expect((user + system) / 1000).to.be.below(3000);
  });
});
