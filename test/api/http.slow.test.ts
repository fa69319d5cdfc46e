import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { isPackable } from '../../src/api/endpoint.ts';
import { chooseEncoding } from '../../src/http/response.ts';
import { useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { sendRaw } from './support/raw-request.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf } from './support/tenants.ts';

const BASE = '/elements/api-v2';
const PAGE = 'https://app.example.com';
/** A page token is sealed anew for every answer, and each request takes of the caller's budget. */
const EACH_TIME_ANOTHER: ReadonlySet<string> = new Set([
  'date',
  'elements-request-id',
  'elements-next-page-token',
  'link',
  'ratelimit-remaining',
  'ratelimit-reset',
]);
const TOO_LONG = 300 * 1024;

describe('HTTP', () => {
  const service = useApp({ CORS_ORIGINS: PAGE });
  const shop = useInstance(service, 'odata', SHOP);

  const send = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, withToken?: string) =>
    sendRaw(service.app.url, { method, path, headers: { ...authorizationOf(service, withToken), ...headers } });

  /** The body as it came. */
  async function get(path: string, headers: Readonly<Record<string, string>> = {}, withToken?: string) {
    const { hostname, port } = new URL(service.app.url);
    const sent = request({
      hostname,
      port,
      path,
      headers: { ...authorizationOf(service, withToken), ...headers },
      agent: false,
    }).end();
    const [response] = await once(sent, 'response');
    return { headers: response.headers, status: response.statusCode, bytes: Buffer.concat(await response.toArray()) };
  }

  describe('HEAD', () => {
    for (const path of [
      ...['/elements', '/instances', '/objects', '/objects/Products/metadata', '/Products?pageSize=2'],
      ...['/Products?pageSize=5000', '/Products/1', '/Products/999999', '/hubs/general/Products/1', '/Nothing'],
    ]) {
      it(`answers the headers of GET and nothing else: ${path}`, async () => {
        const withToken = path === '/elements' ? undefined : shop.token;
        const [head, whole] = [
          await send('HEAD', BASE + path, {}, withToken),
          await send('GET', BASE + path, {}, withToken),
        ];
        const stable = (headers: Headers) =>
          Object.fromEntries(
            [...headers].filter(([name]) => !EACH_TIME_ANOTHER.has(name) && name !== 'transfer-encoding'),
          );
        expect(stable(head.headers)).to.deep.equal(stable(whole.headers));
        for (const name of EACH_TIME_ANOTHER) expect(head.headers.has(name)).to.equal(whole.headers.has(name));
        expect({ status: head.status, body: head.body }).to.deep.equal({ status: whole.status, body: '' });
      });
    }

    it('is what the log says', async () => {
      const { headers } = await send('HEAD', `${BASE}/elements`);
      const line = service.logged.find((each) => each.includes(headers.get('elements-request-id') ?? ''));
      expect(JSON.parse(line ?? '{}')).to.include({ msg: 'request', method: 'HEAD', status: 200 });
    });

    for (const path of ['/openapi.json', '/docs', '/health/live', '/docs/assets/docs.css']) {
      it(`is taken outside the base path too: ${path}`, async () => {
        const [head, whole] = [await send('HEAD', path), await send('GET', path)];
        expect({ status: head.status, body: head.body }).to.deep.equal({ status: 200, body: '' });
        expect(head.headers.get('content-length')).to.equal(whole.headers.get('content-length'));
      });
    }
  });

  describe('packing', () => {
    const unpack: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

    for (const encoding of ['br', 'gzip']) {
      for (const path of [
        ...['/openapi.json', '/docs/assets/docs.js', `${BASE}/objects/Products/metadata`],
        ...[`${BASE}/Products?pageSize=30`, `${BASE}/Products?pageSize=5000`],
      ]) {
        it(`makes less of what is large by ${encoding}: ${path}`, async () => {
          const withToken = path.startsWith(BASE) ? shop.token : undefined;
          const plain = await get(path, {}, withToken);
          const packed = await get(path, { 'accept-encoding': encoding }, withToken);
          expect(packed.headers['content-encoding']).to.equal(encoding);
          expect(packed.headers.vary).to.include('Accept-Encoding');
          expect(plain.headers).not.to.have.property('content-encoding');
          expect(plain.headers.vary).to.include('Accept-Encoding');
          expect(packed.bytes.length).to.be.below(plain.bytes.length / 2);
          expect(unpack[encoding]?.(packed.bytes).equals(plain.bytes)).to.equal(true);
        });
      }
    }

    it('leaves what is small as it is', async () => {
      const { headers } = await get(`${BASE}/Products?pageSize=1&fields=Id`, { 'accept-encoding': 'gzip' }, shop.token);
      expect(headers).not.to.have.property('content-encoding');
    });

    it('leaves answers with secrets as they are, whatever their length', async () => {
      for (let made = 0; made < 4; made++) await service.createInstance('odata', SHOP);
      const { bytes, headers } = await get(`${BASE}/instances`, { 'accept-encoding': 'gzip, br' });
      expect(bytes.length).to.be.above(2000);
      expect(headers).not.to.have.property('content-encoding');
    });

    it('never packs the answer of an operation that has a token or a secret', () => {
      const packed = Object.values(document.paths).flatMap((item) =>
        Object.values(item).flatMap((operation) => {
          const { operationId: id, 'x-causeway-form-of': original } = Object(operation);
          if (original !== undefined) return [];
          return id !== undefined && isPackable(id) ? [id] : [];
        }),
      );
      expect(packed).to.include.members(['listRecords', 'getHubRecord', 'getObjectMetadata', 'listElements']);
      const secret = /nstance|Proxy|Subscription|OAuth|Settings/;
      expect(packed.filter((id) => secret.test(id))).to.deep.equal([]);
    });

    const CHOICES = {
      'gzip, deflate, br': 'br',
      'gzip;q=1.0, br;q=0.5': 'gzip',
      '*': 'br',
      'br;q=0, *': 'gzip',
      'identity;q=1, gzip;q=0.5': undefined,
      GZIP: 'gzip',
      'gzip;q=0': undefined,
      'deflate, zstd': undefined,
      '': undefined,
      'nonsense;;q=br': undefined,
    } as const;
    for (const [header, encoding] of Object.entries(CHOICES)) {
      it(`goes by quality: '${header}' is ${encoding}`, () => expect(chooseEncoding(header)).to.equal(encoding));
    }

    it('names each form of a document by a tag of its own, and sends neither to whoever has it', async () => {
      const tags = new Set<string>();
      for (const encoding of ['identity', 'gzip', 'br']) {
        const path = '/openapi.json';
        const { headers } = await get(path, { 'accept-encoding': encoding });
        tags.add(String(headers.etag));
        const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': String(headers.etag) });
        expect({ status: again.status, length: again.bytes.length }).to.deep.equal({ status: 304, length: 0 });
      }
      expect(tags.size).to.equal(3);
    });
  });

  it('lets nothing below the base path be stored', async () => {
    for (const path of ['/elements', '/instances', '/Products/1', '/Nothing', '/instances/0x1']) {
      expect((await send('GET', BASE + path, {}, shop.token)).headers.get('cache-control'), path).to.equal('no-store');
    }
    const refused = await sendRaw(service.app.url, { path: `${BASE}/instances` });
    expect(refused.headers.get('cache-control')).to.equal('no-store');
  });

  describe('pages of other origins', () => {
    it('may read the answers and every header of the contract, refusals included', async () => {
      for (const path of ['/elements', '/nothing/at/all']) {
        const { headers } = await send('GET', BASE + path, { origin: PAGE });
        expect(headers.get('access-control-allow-origin')).to.equal(PAGE);
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        expect(headers.get('vary')).to.include('Origin');
        const exposed = headers.get('access-control-expose-headers')?.split(', ');
        expect(exposed).to.include.members([
          ...['Elements-Request-Id', 'Elements-Next-Page-Token', 'Elements-Element-Instance-Id', 'Link'],
          ...['RateLimit-Remaining', 'Retry-After'],
        ]);
      }
    });

    it('may ask first, without secrets', async () => {
      const preflight = await sendRaw(service.app.url, {
        method: 'OPTIONS',
        path: `${BASE}/instances/1`,
        headers: {
          origin: PAGE,
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      expect(preflight.status).to.equal(204);
      expect(Object.fromEntries(preflight.headers)).to.include({
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'authorization,content-type',
      });
    });

    for (const origin of [
      'https://evil.example.com',
      'https://app.example.com.evil.com',
      'null',
      'http://app.example.com',
    ]) {
      it(`may not where they are not named: ${origin}`, async () => {
        const headers = { origin, 'access-control-request-method': 'GET' };
        const preflight = await sendRaw(service.app.url, { method: 'OPTIONS', path: `${BASE}/elements`, headers });
        expectProblem(preflight, 'OPERATION_UNSUPPORTED');
        const answers = [preflight, await send('GET', `${BASE}/elements`, { origin })];
        for (const response of answers) {
          expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
          expect(response.headers.get('vary')).to.include('Origin');
        }
      });
    }
  });

  describe('a body', () => {
    /** Sends the head of a request, and tells what comes before any of the body has been sent. */
    async function sendHead(headers: Readonly<Record<string, string | number>>) {
      const { hostname, port } = new URL(service.app.url);
      const socket = connect({ host: hostname, port: Number(port) });
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `POST ${BASE}/instances HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${lines.join('')}\r\n`,
      );
      const [first] = await once(socket, 'data');
      return { socket, first: String(first) };
    }
    const authorized = authorizationOf(service);

    it('that is too long is refused before any of it has come', async () => {
      const { socket, first } = await sendHead({ ...authorized, 'content-length': TOO_LONG });
      expect(first)
        .to.match(/^HTTP\/1\.1 413 /)
        .and.to.include('The body is larger than 256 kB.');
      socket.destroy();
    });

    it('is asked for once the caller is authorized', async () => {
      const body = JSON.stringify({ element: { key: 'odata' }, name: 'Waited', configuration: SHOP });
      const { socket, first } = await sendHead({
        ...authorized,
        expect: '100-continue',
        'content-length': body.length,
        connection: 'close',
      });
      expect(first).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(body);
      expect(await text(socket)).to.match(/^HTTP\/1\.1 200 /);
    });

    for (const [who, headers, status] of [
      ['of whoever is not', { authorization: 'User x, Organization y', 'content-length': 10 }, 401],
      ['that is too long', { ...authorized, 'content-length': TOO_LONG }, 413],
    ] as const) {
      it(`${who} is not asked for`, async () => {
        const { socket, first } = await sendHead({ ...headers, expect: '100-continue' });
        expect(first).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
        socket.destroy();
      });
    }
  });
});
