import { expect } from 'chai';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SEGMENTS } from './support/hostile-segments.ts';
import { sendBytes, sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, countRows } from './support/tenants.ts';

const BASE = '/elements/api-v2';

describe('hostile and clumsy requests', () => {
  const service = useApp();
  const tokens: Record<'shop' | 'people', string> = { shop: '', people: '' };
  before(async () => {
    tokens.shop = (await service.createInstance('odata', SHOP)).token;
    tokens.people = (await service.createInstance('bamboohr', BAMBOOHR)).token;
  });
  afterEach('none of them is a fault of ours', () => {
    const faults = service.logged.filter((line) => line.includes('request failed'));
    expect(faults).to.deep.equal([]);
  });

  const raw = (path: string, token?: string, method = 'GET', body?: string): Promise<ApiAnswer> =>
    sendRaw(service.app.url, {
      method,
      path: `${BASE}${path}`,
      headers: {
        ...authorizationOf(service, token),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    });

  describe('as names of objects', () => {
    for (const segment of SEGMENTS) {
      it(`find nothing: ${segment.slice(0, 40)}`, async () => {
        for (const token of Object.values(tokens)) {
          for (const path of [
            `/${segment}`,
            `/${segment}/1`,
            `/objects/${segment}/metadata`,
            `/hubs/general/${segment}`,
          ]) {
            expectProblem(await raw(path, token), 'NOT_FOUND');
          }
          expectProblem(await raw(`/${segment}`, token, 'POST', '{}'), 'NOT_FOUND');
        }
        expectProblem(await raw(`/${segment}`), 'NOT_FOUND');
      });
    }
  });

  describe('as ids', () => {
    for (const segment of SEGMENTS) {
      it(`find nothing, and reach no other address of the provider: ${segment.slice(0, 40)}`, async () => {
        const expected = ['NOT_FOUND', 'PROVIDER_REJECTED'];
        for (const [path, token] of [
          [`/Products/${segment}`, tokens.shop],
          [`/Products/${segment}/Lines`, tokens.shop],
          [`/Customers/${segment}`, tokens.shop],
          [`/Orders/${segment}`, tokens.shop],
          [`/OrderLines/${segment}`, tokens.shop],
          [`/employees/${segment}`, tokens.people],
          [`/employees/${segment}/files`, tokens.people],
        ] as const) {
          const response = await raw(path, token);
          expect(expected, `${path} ${JSON.stringify(response.body)}`).to.include(response.body.code);
          expectProblem(response, response.body.code);
        }
        for (const method of ['PATCH', 'DELETE', 'PUT']) {
          const answer = await raw(`/Products/${segment}`, tokens.shop, method, method === 'DELETE' ? undefined : '{}');
          expect([...expected, 'REQUEST_INVALID'], method).to.include(answer.body.code);
        }
      });
    }

    it('leave the records as they are', async () => {
      const products = await service.call('/Products?fields=Id&pageSize=500', { token: tokens.shop });
      expect(products.body).to.have.length(240);
      const employees = await service.call('/employees?pageSize=1', { token: tokens.people });
      expect(employees.headers.get('elements-total-count')).to.equal('300');
    });
  });

  describe('as names of elements, accounts and hubs', () => {
    for (const segment of SEGMENTS) {
      it(`find nothing: ${segment.slice(0, 40)}`, async () => {
        expectProblem(await raw(`/elements/${segment}`), 'NOT_FOUND');
        expectProblem(await raw(`/accounts/${segment}/instances`), 'NOT_FOUND');
        expectProblem(await raw(`/hubs/${segment}/Products`, tokens.shop), 'NOT_FOUND');
        const instance = await raw(`/instances/${segment}`);
        expect(['NOT_FOUND', 'REQUEST_INVALID']).to.include(instance.body.code);
      });
    }
  });

  it('that are not well percent-encoded are refused', async () => {
    for (const path of [
      ...['/%', '/%Z', '/%ZZ', '/Products/%', '/Products/%E0%A4%A', '/Products/1/%C0%AF', '/objects/%FF/metadata'],
    ]) {
      for (const token of [tokens.shop]) {
        expectProblem(await raw(path, token), 'REQUEST_INVALID', 'The path is not valid percent-encoding.');
      }
    }
    for (const path of ['/instances/%ZZ', '/elements/%E0', '/accounts/%/instances']) {
      expectProblem(await raw(path), 'REQUEST_INVALID', 'The path is not valid percent-encoding.');
    }
    expectProblem(await sendRaw(service.app.url, { path: '/docs/assets/%ZZ' }), 'REQUEST_INVALID');
    for (const query of ['where=%ZZ', 'where=%', 'fields=%E0%A4%A', 'nextPage=%', 'pageSize=%31%', '%ZZ=1', '%=%']) {
      expect((await raw(`/Products?${query}`, tokens.shop)).status, query).to.equal(400);
    }
  });

  it('that are too long are refused by what is too long', async () => {
    const long = 'x'.repeat(10_000);
    const cases = {
      [`/${long}`]: 'path.objectName must NOT have more than 255 characters.',
      [`/Products/${long}`]: 'path.objectId must NOT have more than 1024 characters.',
      [`/Products/1/${long}`]: 'path.childObjectName must NOT have more than 255 characters.',
      [`/hubs/${long}/Products`]: 'path.hub must NOT have more than 255 characters.',
      [`/Products?nextPage=${long}`]: 'query.nextPage must NOT have more than 8192 characters.',
      [`/Products?fields=${long}`]: 'query.fields must NOT have more than 8192 characters.',
    };
    for (const [path, message] of Object.entries(cases)) {
      expectProblem(await raw(path, tokens.shop), 'REQUEST_INVALID', message);
    }
    const element = 'path.keyOrId must NOT have more than 255 characters.';
    expectProblem(await raw(`/elements/${long}`), 'REQUEST_INVALID', element);
    expect(await sendBytes(service.app.url, `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)).to.match(
      /^HTTP\/1\.1 431 /,
    );
  });

  it('with parameters in strange forms are refused', async () => {
    for (const query of [
      ...['where[$ne]=1', 'where[]=a&where[]=b', 'where=a&where[]=b', 'pageSize[gt]=1', 'pageSize=1&pageSize=1'],
      ...['__proto__[where]=x', '__proto__.pageSize=1', 'constructor[prototype][x]=1', 'fields[0]=Id'],
      ...['fields[__proto__]=Id', '[]=1', '[x]=1', '=1'],
    ]) {
      expect((await raw(`/Products?${query}`, tokens.shop)).status, query).to.equal(400);
    }
    for (const query of ['where=Id=1&', 'where=Id=1&where', '&&&=&where=Id=1', 'where=Id=1&__proto__=']) {
      expect((await raw(`/Products?${query}`, tokens.shop)).body, query).to.have.length(1);
    }
    expect(Reflect.get({}, 'where')).to.equal(undefined);
    const pollution = Object.keys(Object.prototype);
    expect(pollution).to.deep.equal([]);
  });

  it('with bodies in strange forms are refused, and change nothing', async () => {
    const rows = await countRows(service, 'instance');
    const valid = JSON.stringify(SHOP);
    const bodies = [
      '{"element":{"key":{"$ne":""}},"name":"x","configuration":{}}',
      '{"element":["odata"],"name":"x","configuration":{}}',
      '{"element":{"key":["odata"]},"name":"x","configuration":{}}',
      `{"element":{"key":"odata"},"name":{"toString":"x"},"configuration":${valid}}`,
      `{"element":{"key":"odata"},"name":"x","tags":{"length":1,"0":"x"},"configuration":${valid}}`,
      `{"element":{"key":"odata"},"name":"x","tags":[["x"]],"configuration":${valid}}`,
      '{"element":{"key":"odata"},"name":"x","configuration":"base.url=x"}',
      '{"element":{"key":"odata"},"name":"x","configuration":{"base.url":{"href":"http://x"}}}',
      '{"element":{"key":"odata"},"name":"x","configuration":{"base.url":"https://a.example","simulator":{"toString":1}}}',
      `{"__proto__":{"name":"x"},"element":{"key":"odata"},"configuration":${valid}}`,
      `{"element":{"__proto__":{"key":"odata"}},"name":"x","configuration":${valid}}`,
      '{"element":{"key":"odata"},"element":{"key":5},"name":"x","configuration":{}}',
      '{"element":{"key":"odata"},"name":1e400,"configuration":{}}',
      '\ufeff{',
      '{"name":"x"}{"name":"y"}',
      "{'name':'x'}",
      '<xml/>',
      'name=x',
      '\0',
    ];
    for (const body of bodies) {
      expectProblem(await service.send('POST', '/instances', body), 'REQUEST_INVALID');
    }
    expect(await countRows(service, 'instance')).to.equal(rows);
  });

  it('that smuggle headers get none in', async () => {
    const head = (line: string) =>
      [
        `POST ${BASE}/Products HTTP/1.1`,
        'Host: x',
        `Authorization: ${authorizationOf(service, tokens.shop).authorization}`,
        'Content-Type: application/json',
        line,
        'Content-Length: 2',
        'Connection: close',
        '',
        '{}',
      ].join('\r\n');
    for (const line of [
      ...['Idempotency-Key: a\nX-Injected: 1', 'Idempotency-Key: a\rX-Injected: 1', 'Idempotency-Key: a\0b'],
      ...['Idempotency-Key : a', 'Transfer-Encoding: chunked', 'Content-Length: 3'],
    ]) {
      const response = await sendBytes(service.app.url, head(line));
      expect(response, JSON.stringify(line)).to.match(/^HTTP\/1\.1 4\d\d /);
      expect(response).not.to.match(/^x-injected/im);
    }
    const injected = `/Products?pageSize=1&fields=Id%0d%0aX-Injected:%201&orderBy=Id%0d%0aX-Injected:%201`;
    const answer = await raw(injected, tokens.shop);
    expect(answer.headers.has('x-injected')).to.equal(false);
    const linked = await raw('/Products?pageSize=1&where=Name%20!=%20%27%0d%0aX-Injected:%201%27', tokens.shop);
    expect(linked.status).to.equal(200);
    expect(linked.headers.has('x-injected')).to.equal(false);
    expect(linked.headers.get('link')).to.match(/^<[^<>\s]+>; rel="next"$/);
  });

  it('in other forms of HTTP are answered, and the next request is well', async () => {
    const { authorization } = authorizationOf(service);
    const requests: Readonly<Record<string, RegExp>> = {
      [`GET http://elsewhere.example${BASE}/hubs HTTP/1.1\r\nHost: elsewhere.example\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`]:
        /^HTTP\/1\.1 (200|404) /,
      [`GET ${BASE}/hubs HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`]: /^HTTP\/1\.1 200 /,
      'GET //elsewhere.example/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n': /^HTTP\/1\.1 404 /,
      'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n': /^HTTP\/1\.1 404 /,
      'GET / HTTP/1.1\r\n\r\n': /^HTTP\/1\.1 400 /,
      'nonsense\r\n\r\n': /^HTTP\/1\.1 400 /,
      [`PATCH ${BASE}/hubs HTTP/1.1\r\nHost: x\r\nExpect: 999-nothing\r\nConnection: close\r\n\r\n`]:
        /^HTTP\/1\.1 4\d\d /,
      'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n': /^$|^HTTP\/1\.1 4\d\d /,
      [`GET ${BASE}/hubs HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`]:
        /^$|^HTTP\/1\.1 401 /,
    };
    for (const [bytes, expected] of Object.entries(requests)) {
      expect(await sendBytes(service.app.url, bytes), bytes).to.match(expected);
    }
    expect((await service.call('/hubs')).status).to.equal(200);
  });

  it('that end in the middle leave the service as it was', async () => {
    const head = `POST ${BASE}/instances HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorizationOf(service).authorization}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":`;
    await sendBytes(service.app.url, head);
    await sendBytes(service.app.url, head.slice(0, 50));
    expect((await service.call('/hubs')).status).to.equal(200);
  });

  it('do not make links from the Host that they name', async () => {
    const headers = {
      ...authorizationOf(service, tokens.shop),
      host: 'elsewhere.example',
      'x-forwarded-host': 'elsewhere.example',
    };
    const response = await sendRaw(service.app.url, { path: `${BASE}/Products?pageSize=1`, headers });
    expect(response.headers.get('link')).to.include(`<${service.app.baseUrl}/Products?`);
  });
});
