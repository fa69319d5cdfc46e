import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import {
  endless,
  html,
  json,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  status,
} from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { API_KEY, BYTES, useFiling } from './support/filing.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

const BASE = '/elements/api-v2';
const MB = 1024 * 1024;

describe('a request that is passed through', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const filing = useFiling(service);

  const authorization = () => `User ${service.userSecret}, Element ${filing.instance.token}`;

  /** `path` behind `/passthrough`, as it is. */
  const pass = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string | Buffer) =>
    sendRaw(service.app.url, {
      method,
      path: `${BASE}/passthrough${path}`,
      headers: { authorization: authorization(), ...headers },
      ...(body !== undefined && { body }),
    });
  const lastRequest = () => filing.provider.requests.at(-1);

  it('has the path, the query and the authentication of the instance', async () => {
    filing.provider.answer('/v2/things/a%20b', json([{ id: 1 }]));
    const response = await pass('GET', '/v2/things/a%20b?filter[x]=1&filter[x]=2&q=%27%26');
    expect(response).to.include({ status: 200 });
    expect(response.body).to.deep.equal([{ id: 1 }]);
    expect(lastRequest()).to.include({ method: 'GET', url: '/v2/things/a%20b?filter[x]=1&filter[x]=2&q=%27%26' });
    expect(JSON.stringify(lastRequest()?.headers)).to.include(API_KEY);
    expect(response.headers.get('elements-element-instance-id')).to.equal(String(filing.instance.id));
    expect(response.headers.get('elements-provider-calls')).to.equal('1');
    expect(response.headers.get('elements-request-id')).to.be.a('string');
  });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`has the body as it is, of any type: ${method}`, async () => {
      filing.provider.answer('/upload', status(201, { 'content-type': 'text/csv', location: '/upload/7' }, 'a,b'));
      const response = await pass(
        method,
        '/upload',
        { 'content-type': 'text/csv; header=present', 'content-length': '8' },
        'x,y\r\n1,2',
      );
      expect({ status: response.status, body: response.body }).to.deep.equal({ status: 201, body: 'a,b' });
      expect(response.headers.get('location')).to.equal('/upload/7');
      expect(lastRequest()).to.include({ method, body: 'x,y\r\n1,2' });
      expect(lastRequest()?.headers).to.include({ 'content-type': 'text/csv; header=present', 'content-length': '8' });
    });
  }

  it('has a long body, with its length or without', async () => {
    filing.provider.answer('/upload', json({ ok: true }));
    const body = 'x'.repeat(3 * MB);
    const framings: readonly Readonly<Record<string, string>>[] = [
      { 'content-length': String(body.length) },
      { 'transfer-encoding': 'chunked' },
    ];
    for (const headers of framings) {
      expect((await pass('POST', '/upload', { ...headers, 'content-type': 'text/plain' }, body)).status).to.equal(200);
      expect(lastRequest()?.body.length).to.equal(body.length);
      expect(lastRequest()?.headers).to.include(headers);
    }
  });

  it('answers whatever the provider does, byte for byte', async () => {
    for (const code of [200, 204, 302, 400, 401, 404, 409, 418, 429, 500, 503]) {
      const body = code === 204 ? '' : BYTES;
      filing.provider.answer('/odd', status(code, { 'content-type': 'image/png', 'x-total': '7' }, body));
      const response = await fetch(`${service.app.baseUrl}/passthrough/odd`, {
        headers: { authorization: authorization() },
        redirect: 'manual',
      });
      expect(response.status).to.equal(code);
      expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(body))).to.equal(true);
      expect(response.headers.get('content-type')).to.equal('image/png');
      expect(response.headers.get('x-total')).to.equal('7');
    }
    expect(filing.provider.requests.filter(({ url }) => url === '/odd')).to.have.length(11);
  });

  it('is not followed anywhere', async () => {
    filing.provider.answer('/away', redirect('https://evil.example.com/'));
    const response = await pass('GET', '/away');
    expect({ status: response.status, to: response.headers.get('location') }).to.deep.equal({
      status: 302,
      to: 'https://evil.example.com/',
    });
  });

  it('has the headers of the caller, but none that authenticate or belong to the way here', async () => {
    filing.provider.answer('/headers', json({}));
    const passed = { accept: 'application/xml', 'if-none-match': '"7"', 'x-own': 'mine', 'idempotency-key': 'once' };
    const kept = {
      cookie: 'session=1',
      origin: 'https://app.example.com',
      referer: 'https://app.example.com/',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-for': '1.2.3.4',
      'proxy-authorization': 'Basic eDp5',
      'elements-version': 'Helium',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'house=secret',
      baggage: 'user=ada',
      'x-hop': '1',
      te: 'trailers',
    };
    await pass('GET', '/headers', { ...passed, ...kept, connection: 'close, x-hop' });
    const headers = lastRequest()?.headers ?? {};
    expect(headers).to.include(passed).and.not.have.any.keys(Object.keys(kept));
    expect(JSON.stringify(headers)).not.to.include(service.userSecret).and.not.to.include(filing.instance.token);
  });

  it('has the authentication of the instance even where the caller sends one of the same name', async () => {
    filing.provider.answer('/headers', json({}));
    await pass('GET', '/headers');
    const own = Object.entries(lastRequest()?.headers ?? {}).find(([, value]) => String(value).includes(API_KEY));
    const [name = '', value] = own ?? [];
    if (name !== 'authorization') await pass('GET', '/headers', { [name]: 'mine' });
    expect(lastRequest()?.headers[name]).to.equal(value);
  });

  it('gives the provider no say in this origin', async () => {
    const dropped = {
      'set-cookie': 'a=b',
      'www-authenticate': 'Basic',
      'access-control-allow-origin': '*',
      'x-accel-redirect': '/etc/passwd',
      'x-sendfile': '/etc/passwd',
      'clear-site-data': '"*"',
      'strict-transport-security': 'max-age=1',
      refresh: '0; url=https://evil.example.com',
      'service-worker-allowed': '/',
    };
    const replaced = {
      'content-security-policy': "script-src 'unsafe-inline'",
      'x-content-type-options': 'sniff',
      'cache-control': 'public',
      'elements-request-id': 'forged',
    };
    const sent = { 'content-type': 'text/html', ...dropped, ...replaced };
    filing.provider.answer('/page', status(200, sent, '<script>alert(1)</script>'));
    const { headers, body } = await pass('GET', '/page');
    expect(body).to.equal('<script>alert(1)</script>');
    expect(Object.fromEntries(headers)).to.include({
      'content-type': 'text/html',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(headers.get('elements-request-id')).not.to.equal('forged');
    for (const name of Object.keys(dropped)) expect(headers.has(name), name).to.equal(false);
  });

  it('shows no secret of the instance in headers, errors and the log', async () => {
    filing.provider.answer('/echo', status(200, { 'x-echo': API_KEY }, 'x'));
    expect((await pass('GET', `/echo?key=${API_KEY}`)).headers.get('x-echo')).not.to.include(API_KEY);
    await pass('GET', `/${API_KEY}`);
    const leaking = service.logged.filter((line) => line.includes(API_KEY));
    expect(leaking).to.deep.equal([]);
  });

  describe('below the address of the provider only:', () => {
    for (const path of [
      ...['/../admin', '/a/../../admin', '/%2e%2e/admin', '/a/.%2E/b', '/.', '/..;/admin', '/a%2fb', '/a%5Cb'],
      ...['/a\\..\\b', '/a%0d%0aX: y', '/a%00', '/a%7f', '/a%zz', '//evil.example.com/'],
      ...['/https://evil.example.com/', '/http:/evil.example.com'],
    ]) {
      it(`${path} is refused`, async () => {
        const before = filing.provider.requests.length;
        const response = await pass('GET', path.replace(' ', '%20'));
        expectProblem(response, 'REQUEST_INVALID', /^The path must stay below the address of /);
        expect(filing.provider.requests.length).to.equal(before);
      });
    }

    for (const path of [
      ...['/', '/@evil.example.com/', '/a;b=c/d', '/a:b', '/..a/b..', '/%c3%a4', '/a//b', '/x(1)/$value?$a=/../'],
    ]) {
      it(`${path} goes there as it is`, async () => {
        await pass('GET', path);
        expect(lastRequest()?.url).to.equal(path);
        expect(lastRequest()?.headers.host).to.equal(filing.provider.host);
      });
    }
  });

  it('is for instances, and for the methods that there are', async () => {
    const headers = { authorization: `User ${service.userSecret}, Organization ${service.organizationSecret}` };
    expectProblem(await sendRaw(service.app.url, { path: `${BASE}/passthrough/x`, headers }), 'UNAUTHENTICATED');
    expectProblem(await pass('OPTIONS', '/x'), 'OPERATION_UNSUPPORTED');
    expectProblem(await pass('GET', ''), 'NOT_FOUND');
    await service.send('DELETE', `/instances/${filing.instance.id}/enabled`);
    expectProblem(await pass('GET', '/x'), 'FORBIDDEN');
  });

  it('asks the provider no more for HEAD than for GET, and answers no body', async () => {
    filing.provider.answer('/large', status(200, { 'content-type': 'text/plain' }, 'x'.repeat(5000)));
    const response = await pass('HEAD', '/large');
    expect({ status: response.status, body: response.body }).to.deep.equal({ status: 200, body: '' });
    expect(response.headers.get('content-length')).to.equal('5000');
  });

  describe('is bounded:', () => {
    it('a body of more than 100 MB is refused before it has come', async () => {
      const { hostname, port } = new URL(service.app.url);
      const sent = openRequest({
        hostname,
        port,
        method: 'POST',
        path: `${BASE}/passthrough/upload`,
        headers: { authorization: authorization(), 'content-length': String(100 * MB + 1), expect: '100-continue' },
      });
      sent.flushHeaders();
      sent.once('error', () => {});
      const [response] = await once(sent, 'response');
      expect(response.statusCode).to.equal(413);
      sent.destroy();
      expect(filing.provider.requests.some(({ url }) => url === '/upload')).to.equal(false);
    });

    it('an answer of more than 100 MB is refused where its length is told', async () => {
      filing.provider.answer('/large', (response) => {
        response.writeHead(200, { 'content-length': String(100 * MB + 1) });
        response.write('x');
      });
      const answer = await pass('GET', '/large');
      expectProblem(answer, 'PROVIDER_PROTOCOL', 'The response of the provider is larger than 100 MB.');
    });

    it('an answer goes on while it comes, and no further than its caller reads', async () => {
      filing.provider.answer('/large', endless(60 * MB));
      const { hostname, port } = new URL(service.app.url);
      const sent = openRequest({
        hostname,
        port,
        path: `${BASE}/passthrough/large`,
        headers: { authorization: authorization() },
      }).end();
      const [response] = await once(sent, 'response');
      await once(response, 'readable');
      expect(filing.provider.bytesSent()).to.be.below(50 * MB);
      response.destroy();
      sent.destroy();
      while (filing.provider.openConnections() > 1) await new Promise((resolve) => setTimeout(resolve, 20));
    });
  });

  it('is an error of ours where the provider says nothing', async () => {
    filing.provider.answer('/reset', resetBeforeAnswer);
    expectProblem(await pass('GET', '/reset'), 'PROVIDER_UNAVAILABLE');
    expect(filing.provider.requests.filter(({ url }) => url === '/reset')).to.have.length(1);
    filing.provider.answer('/cut', resetInBody);
    expect(await pass('GET', '/cut').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ECONNRESET');
    expect(service.logged.filter((line) => line.includes('"level":60') || line.includes('Unhandled'))).to.deep.equal(
      [],
    );
    filing.provider.answer('/page', html);
    expect((await pass('GET', '/page')).status).to.equal(200);
  });

  it('reaches simulators as it reaches providers', async () => {
    const shop = await service.createInstance('odata', SHOP);
    const products = await service.call('/passthrough/Products?$top=2', { token: shop.token });
    expect(products.status).to.equal(200);
    expect(products.body.value).to.have.length(2);
    const people = await service.createInstance('bamboohr', BAMBOOHR);
    const fields = await service.call('/passthrough/api/v1/meta/fields', { token: people.token });
    expect(fields.status, JSON.stringify(fields.body)).to.equal(200);
    const created = await service.send('POST', '/passthrough/Products', { nonsense: 1 }, { token: shop.token });
    expect(created.status).to.equal(400);
    expect(created.body).not.to.have.property('requestId');
  });
});
