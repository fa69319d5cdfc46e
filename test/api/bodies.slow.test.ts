import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, countRows } from './support/tenants.ts';

const NEW = { element: { key: 'bamboohr' }, name: 'Payroll', configuration: BAMBOOHR };
const JSON_BODY = { 'content-type': 'application/json' };

describe('the body of a request', () => {
  const service = useApp();
  const shop = useInstance(service, 'odata', SHOP);
  const post = (body: unknown) => service.send('POST', '/instances', body);

  function sendChunked(path: string, body: string, instanceToken?: string) {
    const headers = { ...authorizationOf(service, instanceToken), ...JSON_BODY, 'transfer-encoding': 'chunked' };
    return sendRaw(service.app.url, { method: 'POST', path: `/elements/api-v2${path}`, headers, body });
  }

  function postBytes(body: Buffer, headers: Readonly<Record<string, string>> = JSON_BODY) {
    const path = '/elements/api-v2/instances';
    const length = { 'content-length': String(body.length) };
    return sendRaw(service.app.url, {
      method: 'POST',
      path,
      headers: { ...authorizationOf(service), ...length, ...headers },
      body,
    });
  }

  describe('as it is', () => {
    it('must be JSON, and the message says where it breaks, not what it holds', async () => {
      const response = await post('{"name": "confidential" "x"}');
      expectProblem(response, 'REQUEST_INVALID', 'The body is not JSON: it breaks at position 24.');
      expect(JSON.stringify(response.body)).not.to.include('confidential');
    });

    it('must be there', async () => {
      for (const [method, path] of [
        ['POST', '/instances'],
        ['PATCH', '/instances/1'],
        ['PUT', '/instances/1'],
        ['PATCH', '/instances/1/configuration'],
      ] as const) {
        const response = await service.call(path, { method, headers: JSON_BODY });
        expectProblem(response, 'REQUEST_INVALID', 'body is missing.');
        expectProblem(await service.send(method, path, ''), 'REQUEST_INVALID', 'body is missing.');
      }
      for (const [method, path] of [
        ['POST', '/Products'],
        ['PATCH', '/Products/1'],
        ['PUT', '/Products/1'],
        ['PATCH', '/instances'],
      ] as const) {
        const answer = await shop.call(path, { method, headers: JSON_BODY });
        expectProblem(answer, 'REQUEST_INVALID', 'body is missing.');
      }
    });

    for (const body of ['[]', '"text"', '5', 'true', 'null', '[{"name":"x"}]']) {
      it(`must be an object, not ${body}`, async () => {
        expectProblem(await post(body), 'REQUEST_INVALID', 'body must be object.');
        const record = await shop.send('POST', '/Products', body);
        expectProblem(record, 'REQUEST_INVALID', 'body must be object.');
      });
    }

    it('names all members that are missing', async () => {
      expectFaults(
        await post({}),
        {
          'body.element': 'is missing',
          'body.configuration': 'is missing',
          'body.name': 'is missing',
        },
        'body.element is missing. (and 2 more, see details)',
      );
    });

    it('names all members that are not known, those inside others too', async () => {
      const response = await post({
        ...NEW,
        element: { key: 'bamboohr', id: 1 },
        nmae: 'x',
        __proto: 1,
        constructor: 2,
      });
      expectProblem(response, 'REQUEST_INVALID', "Unknown member 'nmae'. (and 3 more, see details)");
      const paths = ['body.nmae', 'body.__proto', 'body.constructor', 'body.element.id'];
      expect(faultsOf(response)).to.deep.equal(
        Object.fromEntries(paths.map((path) => [path, `Unknown member '${path.split('.').at(-1)}'.`])),
      );
    });

    it('names all members of the wrong type', async () => {
      expectFaults(await post({ element: 'bamboohr', name: ['x'], configuration: [], tags: 'a,b' }), {
        'body.element': 'must be object',
        'body.name': 'must be string',
        'body.configuration': 'must be object',
        'body.tags': 'must be array',
      });
    });

    it('shows no more than 50 faults of a body full of them, and cuts their names', async () => {
      const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]));
      for (const response of [await post(body), await shop.send('POST', '/Products', body)]) {
        expectProblem(response, 'REQUEST_INVALID');
        expect(response.body.details).to.have.length(50);
      }
      const name = 'n'.repeat(100_000);
      const cut = `${'n'.repeat(100)}…`;
      const product = await shop.send('POST', '/Products', { [name]: 1 });
      expectProblem(product, 'REQUEST_INVALID', `Unknown field '${cut}'. (and 1 more, see details)`);
      const setting = await post({ ...NEW, configuration: { ...BAMBOOHR, [name]: 1 } });
      expect(setting.body.message).to.include(`Unknown configuration key '${cut}'.`);
      for (const answer of [await post({ ...NEW, [name]: 1 }), product, setting]) {
        expectProblem(answer, 'REQUEST_INVALID');
        expect(JSON.stringify(answer.body)).to.have.lengthOf.at.most(1500);
      }
    });

    it('may be 256 kB and not more, with its length announced or not', async () => {
      const text = JSON.stringify({ ...NEW, name: 'x'.repeat(300_000) });
      expectProblem(await post(text), 'PAYLOAD_TOO_LARGE', 'The body is larger than 256 kB.');
      expectProblem(await sendChunked('/instances', text), 'PAYLOAD_TOO_LARGE', 'The body is larger than 256 kB.');
      const allowed = await post({ ...NEW, name: 'x'.repeat(250_000) });
      expectProblem(allowed, 'REQUEST_INVALID', 'body.name must NOT have more than 255 characters.');
    });

    it('may be 8 MB where it is a record or an event', async () => {
      const path = '/Products';
      const record = (length: number) => JSON.stringify({ Nope: 'x'.repeat(length) });
      expectProblem(
        await sendChunked(path, record(9_000_000), shop.token),
        'PAYLOAD_TOO_LARGE',
        'The body is larger than 8 MB.',
      );
      for (const [method, place] of [
        ['POST', path],
        ['PATCH', `${path}/1`],
        ['PUT', `${path}/1/`],
        ['POST', `/hubs/general${path}`],
        ['PATCH', `/hubs/general${path}/1`],
      ] as const) {
        const response = await shop.send(method, place, record(7_000_000));
        expect(response.body.code, `${method} ${place}`).to.equal('REQUEST_INVALID');
        expect(response.body.message).to.match(/^Unknown field 'Nope'/);
      }
      const event = { instanceId: 999_999, data: { text: 'x'.repeat(7_000_000) } };
      expectProblem(await service.send('POST', '/events/test', event), 'NOT_FOUND');
    });

    it('may have 10,000 members, those inside others counted', async () => {
      const message = 'The body has more than 10000 members, nested members included.';
      const items = (count: number) => ({ ...NEW, tags: Array.from({ length: count }, () => 1) });
      expectProblem(await post(items(10_001)), 'PAYLOAD_TOO_LARGE', message);
      expectProblem(await post(`[${'[],'.repeat(10_000)}[]]`), 'PAYLOAD_TOO_LARGE', message);
      const allowed = await post(items(9_000));
      expectProblem(allowed, 'REQUEST_INVALID');
      expect(allowed.body.details).to.have.length(50);
    });

    it('may have 100,000 members inside a record, and 10,000 of its own', async () => {
      const create = (body: object) => shop.send('POST', '/Products', body);
      const nested = (count: number) => create({ Nope: Array.from({ length: count }, () => 1) });
      expectProblem(await nested(99_999), 'REQUEST_INVALID', /^Unknown field 'Nope'/);
      const message = 'The body has more than 100000 members, nested members included.';
      expectProblem(await nested(100_000), 'PAYLOAD_TOO_LARGE', message);
      const own = await create(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1])));
      expectProblem(own, 'PAYLOAD_TOO_LARGE', 'The body has more than 10000 members.');
    });

    it('counts as what it is unpacked', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
      const response = await postBytes(bomb, { ...JSON_BODY, 'content-encoding': 'gzip' });
      expectProblem(response, 'PAYLOAD_TOO_LARGE', 'The body is larger than 256 kB.');
    });

    it('may be packed', async () => {
      const text = JSON.stringify({ ...NEW, name: '' });
      for (const [encoding, body] of [
        ['gzip', gzipSync(text)],
        ['br', brotliCompressSync(text)],
      ] as const) {
        const response = await postBytes(body, { ...JSON_BODY, 'content-encoding': encoding });
        expectProblem(response, 'REQUEST_INVALID', /^body\.name /);
      }
    });

    it('must be packed as it says', async () => {
      for (const encoding of ['gzip', 'deflate', 'br']) {
        const response = await postBytes(Buffer.from('{"plain":1}'), { ...JSON_BODY, 'content-encoding': encoding });
        expectProblem(response, 'REQUEST_INVALID', 'The body cannot be decompressed by its Content-Encoding.');
      }
      const answer = await postBytes(Buffer.from('{}'), { ...JSON_BODY, 'content-encoding': 'rot13' });
      expectProblem(answer, 'UNSUPPORTED_MEDIA_TYPE', 'The Content-Encoding of the body is not supported.');
    });

    it('must be UTF-8: nothing is stored with replacement characters', async () => {
      const text = JSON.stringify({ ...NEW, name: '\u00e9' });
      const response = await postBytes(Buffer.from(text, 'latin1'));
      expectProblem(response, 'REQUEST_INVALID', 'The body is not well-formed UTF-8.');
      expectProblem(await postBytes(Buffer.from(text, 'utf16le')), 'REQUEST_INVALID');
    });

    it('may not nest without end', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const message = 'The body is nested deeper than 100 levels.';
      expectProblem(await post(deep), 'REQUEST_INVALID', message);
      expectProblem(await post(`{"configuration":${deep}}`), 'REQUEST_INVALID', message);
      const call = { method: 'POST', token: shop.token, body: `{"Name":"x","Package":${deep}}` };
      expectProblem(await service.call('/Products', call), 'REQUEST_INVALID', message);
      const keyed = { ...call, headers: { 'idempotency-key': 'deep' } };
      expectProblem(await service.call('/Products', keyed), 'REQUEST_INVALID', message);
    });
  });

  describe('by its type', () => {
    const text = Buffer.from(JSON.stringify({ ...NEW, name: '' }));

    for (const type of [
      ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
      ...['application/merge-patch+json', 'application/jsonp', 'json', ''],
    ]) {
      it(`must be JSON, not '${type}'`, async () => {
        const response = await postBytes(text, type === '' ? {} : { 'content-type': type });
        const message = 'This path accepts JSON. Send Content-Type: application/json.';
        expectProblem(response, 'UNSUPPORTED_MEDIA_TYPE', message);
      });
    }

    for (const type of ['application/json; charset=utf-8', 'Application/JSON ;charset="UTF-8"', 'application/json;']) {
      it(`may be written as '${type}'`, async () => {
        expectProblem(await postBytes(text, { 'content-type': type }), 'REQUEST_INVALID', /^body\.name /);
      });
    }

    for (const charset of ['utf-16', 'iso-8859-1', 'utf-8x']) {
      it(`must be in UTF-8, not in ${charset}`, async () => {
        const response = await postBytes(text, { 'content-type': `application/json; charset=${charset}` });
        expectProblem(response, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
      });
    }
  });

  describe('that is refused', () => {
    it('has stored nothing', async () => {
      expect(await countRows(service, 'instance')).to.equal(1);
      expect(await countRows(service, 'idempotency_record')).to.equal(0);
    });
  });
});
