import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type ApiCall, useApp } from '../support/app.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, countRows, FIRST_TENANT } from './support/tenants.ts';

const NEW = { element: { key: 'bamboohr' }, name: 'Payroll', configuration: BAMBOOHR };
const JSON_BODY = { 'content-type': 'application/json' };

describe('requests and responses', () => {
  const service = useApp();
  let token: string;
  before(async () => {
    ({ token } = await service.createInstance('odata', SHOP));
  });

  const post = (body: unknown, headers: ApiCall['headers'] = {}) =>
    service.call('/instances', { method: 'POST', body, headers });

  function postBytes(body: Buffer, headers: Readonly<Record<string, string>> = JSON_BODY) {
    const path = '/elements/api-v2/instances';
    const length = { 'content-length': String(body.length) };
    return sendRaw(service.app.url, {
      method: 'POST',
      path,
      headers: { ...authorizationOf(FIRST_TENANT), ...length, ...headers },
      body,
    });
  }

  describe('the request id', () => {
    it('is on every response, another one each time, and in the body of errors', async () => {
      const answers = await Promise.all([
        service.call('/elements'),
        service.call('/instances'),
        service.call('/instances/999'),
        service.call('/Products', { token }),
        service.call('/Nothing', { token }),
        service.call('/elements', { headers: { authorization: 'nonsense' } }),
        service.call('/instances', { method: 'PATCH' }),
        post('{'),
      ]);
      const ids = answers.map(({ headers }) => headers.get('elements-request-id'));
      expect(new Set(ids).size).to.equal(answers.length);
      for (const { status, headers, body } of answers) {
        expect(headers.get('elements-request-id')).to.match(/^[0-9a-f-]{36}$/);
        if (status !== 200) expect(body.requestId).to.equal(headers.get('elements-request-id'));
      }
    });

    it('finds the request in the log', async () => {
      const { headers } = await service.call('/elements?hub=general');
      const id = headers.get('elements-request-id') ?? '';
      const line = service.logged.find((text) => text.includes(id)) ?? '{}';
      expect(JSON.parse(line)).to.include({
        msg: 'request',
        method: 'GET',
        path: '/elements/api-v2/elements',
        status: 200,
      });
    });
  });

  describe('a body', () => {
    it('must be JSON, and the message says where it breaks, not what it holds', async () => {
      const answer = await post('{"name": "confidential" "x"}');
      expectProblem(answer, 'REQUEST_INVALID', 'The body is not JSON: it breaks at position 24.');
      expect(JSON.stringify(answer.body)).not.to.include('confidential');
    });

    it('must be there', async () => {
      for (const [method, path] of [
        ['POST', '/instances'],
        ['PATCH', '/instances/1'],
        ['PUT', '/instances/1'],
        ['PATCH', '/instances/1/configuration'],
      ] as const) {
        const answer = await service.call(path, { method, headers: JSON_BODY });
        expectProblem(answer, 'REQUEST_INVALID', 'body is missing.');
        expectProblem(await service.call(path, { method, body: '' }), 'REQUEST_INVALID', 'body is missing.');
      }
      for (const [method, path] of [
        ['POST', '/Products'],
        ['PATCH', '/Products/1'],
        ['PUT', '/Products/1'],
        ['PATCH', '/instances'],
      ] as const) {
        const answer = await service.call(path, { method, headers: JSON_BODY, token });
        expectProblem(answer, 'REQUEST_INVALID', 'body is missing.');
      }
    });

    for (const body of ['[]', '"text"', '5', 'true', 'null', '[{"name":"x"}]']) {
      it(`must be an object, not ${body}`, async () => {
        expectProblem(await post(body), 'REQUEST_INVALID', 'body must be object.');
        const record = await service.call('/Products', { method: 'POST', body, token });
        expectProblem(record, 'REQUEST_INVALID', 'body must be object.');
      });
    }

    it('names all members that are missing', async () => {
      const answer = await post({});
      expectProblem(answer, 'REQUEST_INVALID', 'body.element is missing. (and 2 more, see details)');
      expect(faultsOf(answer)).to.deep.equal({
        'body.element': 'is missing',
        'body.configuration': 'is missing',
        'body.name': 'is missing',
      });
    });

    it('names all members that are not known, those inside others too', async () => {
      const answer = await post({ ...NEW, element: { key: 'bamboohr', id: 1 }, nmae: 'x', __proto: 1, constructor: 2 });
      expectProblem(answer, 'REQUEST_INVALID', 'body.nmae is not known here. (and 3 more, see details)');
      const paths = ['body.nmae', 'body.__proto', 'body.constructor', 'body.element.id'];
      expect(faultsOf(answer)).to.deep.equal(Object.fromEntries(paths.map((path) => [path, 'is not known here'])));
    });

    it('names all members of the wrong type', async () => {
      const answer = await post({ element: 'bamboohr', name: ['x'], configuration: [], tags: 'a,b' });
      expectProblem(answer, 'REQUEST_INVALID');
      expect(faultsOf(answer)).to.deep.equal({
        'body.element': 'must be object',
        'body.name': 'must be string',
        'body.configuration': 'must be object',
        'body.tags': 'must be array',
      });
    });

    it('shows no more than 100 faults of a body full of them', async () => {
      const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]));
      for (const answer of [await post(body), await service.call('/Products', { method: 'POST', body, token })]) {
        expectProblem(answer, 'REQUEST_INVALID');
        expect(answer.body.details).to.have.lengthOf.within(2, 101);
      }
    });

    it('may be 8 MB and not more, with its length announced or not', async () => {
      const text = JSON.stringify({ ...NEW, name: 'x'.repeat(9_000_000) });
      expectProblem(await post(text), 'PAYLOAD_TOO_LARGE', 'The body is larger than 8 MB.');
      const chunked = await sendRaw(service.app.url, {
        method: 'POST',
        path: '/elements/api-v2/instances',
        headers: { ...authorizationOf(FIRST_TENANT), ...JSON_BODY, 'transfer-encoding': 'chunked' },
        body: text,
      });
      expectProblem(chunked, 'PAYLOAD_TOO_LARGE', 'The body is larger than 8 MB.');
      const allowed = await post({ ...NEW, name: 'x'.repeat(7_000_000) });
      expectProblem(allowed, 'REQUEST_INVALID', 'body.name must NOT have more than 255 characters.');
    });

    it('counts as what it is unpacked', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
      const answer = await postBytes(bomb, { ...JSON_BODY, 'content-encoding': 'gzip' });
      expectProblem(answer, 'PAYLOAD_TOO_LARGE', 'The body is larger than 8 MB.');
    });

    it('may be packed', async () => {
      const text = JSON.stringify({ ...NEW, name: '' });
      for (const [encoding, body] of [
        ['gzip', gzipSync(text)],
        ['br', brotliCompressSync(text)],
      ] as const) {
        const answer = await postBytes(body, { ...JSON_BODY, 'content-encoding': encoding });
        expectProblem(answer, 'REQUEST_INVALID', /^body\.name /);
      }
    });

    it('must be packed as it says', async () => {
      for (const encoding of ['gzip', 'deflate', 'br']) {
        const answer = await postBytes(Buffer.from('{"plain":1}'), { ...JSON_BODY, 'content-encoding': encoding });
        expectProblem(answer, 'REQUEST_INVALID', 'The body cannot be unpacked as its Content-Encoding says.');
      }
      const answer = await postBytes(Buffer.from('{}'), { ...JSON_BODY, 'content-encoding': 'rot13' });
      expectProblem(answer, 'UNSUPPORTED_MEDIA_TYPE', 'The body has a Content-Encoding that is not supported.');
    });

    it('must be UTF-8: nothing is stored with replacement characters', async () => {
      const text = JSON.stringify({ ...NEW, name: '\u00e9' });
      const answer = await postBytes(Buffer.from(text, 'latin1'));
      expectProblem(answer, 'REQUEST_INVALID', 'The body is not well-formed UTF-8.');
      expectProblem(await postBytes(Buffer.from(text, 'utf16le')), 'REQUEST_INVALID');
    });

    it('may not nest without end', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const message = 'The body is nested deeper than 100 levels.';
      expectProblem(await post(deep), 'REQUEST_INVALID', message);
      expectProblem(await post(`{"configuration":${deep}}`), 'REQUEST_INVALID', message);
      const call = { method: 'POST', token, body: `{"Name":"x","Package":${deep}}` };
      expectProblem(await service.call('/Products', call), 'REQUEST_INVALID', message);
      const keyed = { ...call, headers: { 'idempotency-key': 'deep' } };
      expectProblem(await service.call('/Products', keyed), 'REQUEST_INVALID', message);
    });
  });

  describe('the type of a body', () => {
    const text = Buffer.from(JSON.stringify({ ...NEW, name: '' }));

    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/merge-patch+json',
      'application/jsonp',
      'json',
      '',
    ]) {
      it(`must be JSON, not '${type}'`, async () => {
        const answer = await postBytes(text, type === '' ? {} : { 'content-type': type });
        expectProblem(answer, 'UNSUPPORTED_MEDIA_TYPE', 'Bodies are JSON: send Content-Type: application/json.');
      });
    }

    for (const type of ['application/json; charset=utf-8', 'Application/JSON ;charset="UTF-8"', 'application/json;']) {
      it(`may be written as '${type}'`, async () => {
        expectProblem(await postBytes(text, { 'content-type': type }), 'REQUEST_INVALID', /^body\.name /);
      });
    }

    for (const charset of ['utf-16', 'iso-8859-1', 'utf-8x']) {
      it(`must be in UTF-8, not in ${charset}`, async () => {
        const answer = await postBytes(text, { 'content-type': `application/json; charset=${charset}` });
        expectProblem(answer, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
      });
    }
  });

  describe('Accept', () => {
    for (const accept of [
      'text/html',
      'application/xml, text/*',
      'application/json;q=0',
      'application/pdf',
      'nonsense',
    ]) {
      it(`cannot be served when it is '${accept}'`, async () => {
        const answer = await service.call('/elements', { headers: { accept } });
        expectProblem(answer, 'NOT_ACCEPTABLE', 'Answers are JSON: send Accept: application/json.');
      });
    }

    for (const accept of [
      'application/json',
      '*/*',
      'application/*',
      'text/html, application/json;q=0.1',
      'text/html,*/*;q=0.8',
    ]) {
      it(`is served when it is '${accept}'`, async () => {
        expect((await service.call('/elements', { headers: { accept } })).status).to.equal(200);
      });
    }
  });

  describe('the query', () => {
    const refused: Readonly<Record<string, string>> = {
      'pageSize=0': 'query.pageSize must be >= 1.',
      'pageSize=5001': 'query.pageSize must be <= 5000.',
      'pageSize=-1': 'query.pageSize must be >= 1.',
      'pageSize=abc': 'query.pageSize must be integer.',
      'pageSize=1.5': 'query.pageSize must be integer.',
      'pageSize=': "Empty value found for query parameter 'pageSize'.",
      'pageSize=1&pageSize=2': 'query.pageSize must be integer.',
      'pageSize[]=1': 'query.pageSize must be integer.',
      'pagesize=1': "Unknown query parameter 'pagesize'.",
      'foo=1': "Unknown query parameter 'foo'.",
      '__proto__=1': "Unknown query parameter '__proto__'.",
      'toString=1': "Unknown query parameter 'toString'.",
      'nextPage=': "Empty value found for query parameter 'nextPage'.",
    };
    for (const [query, message] of Object.entries(refused)) {
      it(`refuses ${query}`, async () => {
        expectProblem(await service.call(`/instances?${query}`), 'REQUEST_INVALID', message);
        expectProblem(await service.call(`/Products?${query}`, { token }), 'REQUEST_INVALID', message);
      });
    }

    const refusedOfRecords: Readonly<Record<string, string>> = {
      'page=0': 'query.page must be >= 1.',
      'page=2147483648': 'query.page must be <= 2147483647.',
      'page=one': 'query.page must be integer.',
      'page=1&nextPage=x': 'Give page or nextPage, not both.',
      'where=': "Empty value found for query parameter 'where'.",
      'where=Id=1&where=Id=2': 'query.where must be string.',
      'where[]=Id=1': 'query.where must be string.',
      'where[Id]=1': 'query.where must be string.',
      'fields=Id&fields=Name': 'query.fields must be string.',
      'orderBy=Id&orderBy=Name': 'query.orderBy must be string.',
    };
    for (const [query, message] of Object.entries(refusedOfRecords)) {
      it(`of records refuses ${query}`, async () => {
        expectProblem(await service.call(`/Products?${query}`, { token }), 'REQUEST_INVALID', message);
      });
    }

    it('takes the largest page and one far behind the end', async () => {
      const largest = await service.call('/Products?pageSize=5000', { token });
      expect(largest.body).to.have.length(240);
      const behind = await service.call('/Products?page=2147483647&pageSize=5000', { token });
      expect(behind).to.deep.include({ status: 200, body: [] });
    });

    const headers: Readonly<Record<string, string>> = {
      'Elements-Max-Provider-Calls': '0',
      'Elements-Query-Mode': 'pushdown',
      'Elements-Version': 'Helium',
    };
    for (const [name, value] of Object.entries(headers)) {
      it(`has its place in headers too: ${name}: ${value} is refused`, async () => {
        const path = name === 'Elements-Version' ? '/objects' : '/Products';
        const answer = await service.call(path, { token, headers: { [name]: value } });
        expectProblem(answer, 'REQUEST_INVALID', new RegExp(`^headers\\.${name.toLowerCase()} must be `));
      });
    }
  });

  describe('paths and methods', () => {
    it('answers 404 where there is nothing', async () => {
      for (const path of ['/instances/1/nothing', '/accounts/1', '/hubs/general', '/elements/odata/nothing']) {
        const answer = await service.call(path);
        expectProblem(answer, 'NOT_FOUND', `There is no GET /elements/api-v2${path}.`);
      }
      for (const path of ['/Products/1/Lines/2', '/objects/Products', '/hubs/general', '/hubs', '/bulk', '/ping']) {
        const answer = await service.call(path, { token });
        expectProblem(answer, 'NOT_FOUND', `There is no GET /elements/api-v2${path}.`);
      }
      for (const path of ['/', '/elements', '/elements/api-v1/hubs', '/api-v2', '/health', '/docs/assets/x']) {
        const answer = await sendRaw(service.app.url, { path });
        expectProblem(answer, 'NOT_FOUND', `There is no GET ${path}.`);
      }
    });

    it('answers 405 to a method that a path does not take, with those that it does', async () => {
      const wrong: readonly (readonly [string, string, string, string?])[] = [
        ['POST', '/elements', 'GET'],
        ['DELETE', '/instances', 'GET, POST'],
        ['POST', '/instances/1', 'DELETE, GET, PATCH, PUT'],
        ['GET', '/instances/1/enabled', 'DELETE, PUT'],
        ['PUT', '/accounts/instances', 'GET'],
        ['OPTIONS', '/elements', 'GET'],
        ['POST', '/instances', 'DELETE, GET, PATCH, PUT', token],
        ['PUT', '/objects', 'GET', token],
        ['PATCH', '/Products', 'GET, POST', token],
        ['POST', '/Products/1', 'DELETE, GET, PATCH, PUT', token],
        ['DELETE', '/Products/1/Lines', 'GET', token],
      ];
      for (const [method, path, allow, withToken] of wrong) {
        const answer = await service.call(path, { method, ...(withToken !== undefined && { token: withToken }) });
        expect(answer.headers.get('allow'), `${method} ${path}`).to.equal(allow);
        const message = `There is no ${method} /elements/api-v2${path}; it takes ${allow}.`;
        expectProblem(answer, 'OPERATION_UNSUPPORTED', message);
      }
      for (const path of ['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml', '/docs']) {
        const answer = await sendRaw(service.app.url, { method: 'POST', path });
        expectProblem(answer, 'OPERATION_UNSUPPORTED', `There is no POST ${path}; it takes GET, HEAD.`);
        expect(answer.headers.get('allow')).to.equal('GET, HEAD');
      }
    });

    it('takes ids of instances that are whole numbers from 1 and no others', async () => {
      const refused = {
        abc: 'params.id must be integer.',
        '1.5': 'params.id must be integer.',
        '0': 'params.id must be >= 1.',
        '-1': 'params.id must be >= 1.',
        '99999999999999999999': 'params.id must be <= 9007199254740991.',
        '1%20or%201=1': 'params.id must be integer.',
        "1';drop table instance": 'params.id must be integer.',
      };
      for (const [id, message] of Object.entries(refused)) {
        expectProblem(await service.call(`/instances/${id}`), 'REQUEST_INVALID', message);
      }
      const largest = await service.call('/instances/9007199254740991');
      expectProblem(largest, 'NOT_FOUND', 'There is no instance 9007199254740991.');
    });
  });

  it('stores nothing of all this', async () => {
    expect(await countRows(service, 'instance')).to.equal(1);
    expect(await countRows(service, 'idempotency_record')).to.equal(0);
  });
});
