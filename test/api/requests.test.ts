import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { sendRaw } from './support/raw-request.ts';
import { SHOP } from './support/simulated.ts';

describe('requests and responses', () => {
  const service = useSharedApp();
  const shop = useInstance(service, 'odata', SHOP);

  describe('the request id', () => {
    it('is on every response, another one each time, and in the body of errors', async () => {
      const answers = await Promise.all([
        service.call('/elements'),
        service.call('/instances'),
        service.call('/instances/999'),
        shop.call('/Products'),
        shop.call('/Nothing'),
        service.call('/elements', { headers: { authorization: 'nonsense' } }),
        service.send('PATCH', '/instances'),
        service.send('POST', '/instances', '{'),
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

  describe('Accept', () => {
    for (const accept of [
      ...['text/html', 'application/xml, text/*', 'application/json;q=0', 'application/pdf', 'nonsense'],
    ]) {
      it(`cannot be served when it is '${accept}'`, async () => {
        const response = await service.call('/elements', { headers: { accept } });
        expectProblem(response, 'NOT_ACCEPTABLE', 'This path returns JSON. Send Accept: application/json.');
      });
    }

    for (const accept of [
      ...['application/json', '*/*', 'application/*', 'text/html, application/json;q=0.1', 'text/html,*/*;q=0.8'],
      ...['application/json; charset=utf-8', 'application/json;odata.metadata=minimal;q=0.3'],
      'text/html;level=1, Application/JSON ; version=2',
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
      'pageSize=1&pageSize=2': 'query.pageSize must be integer.',
      'pageSize[]=1': 'query.pageSize must be integer.',
      'pagesize=1': "Unknown query parameter 'pagesize'. Did you mean 'pageSize'?",
      'limit=10': "Unknown query parameter 'limit'. Did you mean 'pageSize'?",
      'cursor=x': "Unknown query parameter 'cursor'. Did you mean 'nextPage'?",
      'foo=1': "Unknown query parameter 'foo'.",
      '__proto__=1': "Unknown query parameter '__proto__'.",
      'toString=1': "Unknown query parameter 'toString'.",
    };
    for (const [query, message] of Object.entries(refused)) {
      it(`refuses ${query}`, async () => {
        expectProblem(await service.call(`/instances?${query}`), 'REQUEST_INVALID', message);
        expectProblem(await shop.call(`/Products?${query}`), 'REQUEST_INVALID', message);
      });
    }

    const refusedOfRecords: Readonly<Record<string, string>> = {
      'page=-1': 'query.page must be >= 0.',
      'page=2147483648': 'query.page must be <= 2147483647.',
      'page=one': 'query.page must be integer.',
      'where=Id=1&where=Id=2': 'query.where must be string.',
      'where[]=Id=1': 'query.where must be string.',
      'where[Id]=1': "Unknown query parameter 'where[Id]'.",
      '__proto__[where]=Id=1': "Unknown query parameter '__proto__[where]'.",
      'fields%5B0%5D=Id': "Unknown query parameter 'fields[0]'.",
      'fields=Id&fields=Name': 'query.fields must be string.',
      'orderBy=Id&orderBy=Name': 'query.orderBy must be string.',
    };
    for (const [query, message] of Object.entries(refusedOfRecords)) {
      it(`of records refuses ${query}`, async () => {
        expectProblem(await shop.call(`/Products?${query}`), 'REQUEST_INVALID', message);
      });
    }

    it('takes parameters without a value as absent', async () => {
      const plain = await shop.call('/Products');
      for (const query of [
        'where=&orderBy=&fields=&nextPage=&page=&pageSize=',
        'where',
        'where=&where=',
        'page=1&nextPage=',
      ]) {
        expect(await shop.get(`/Products?${query}`), query).to.deep.equal(plain.body);
      }
      const filtered = await shop.call('/Products?where=&where=Id=7');
      expect(filtered.body).to.have.length(1);
      // The time of its last call is stored behind the answers.
      const idsIn = ({ body }: ApiAnswer) => pluck(body, 'id');
      const all = await service.call('/instances');
      const listed = await service.call('/instances?tags[]=&searchText=&where=&nextPage=');
      expect(idsIn(listed)).to.deep.equal(idsIn(all)).and.to.have.length(1);
    });

    it('takes the page beside a token as absent', async () => {
      const query = 'pageSize=10&orderBy=Id';
      const next = (await shop.call(`/Products?${query}`)).headers.get('elements-next-page-token');
      const second = await shop.call(`/Products?${query}&page=2`);
      const both = await shop.call(`/Products?${query}&page=9&nextPage=${next}`);
      expect(both.body).to.deep.equal(second.body);
    });

    it('takes the largest page and one far behind the end', async () => {
      const largest = await shop.call('/Products?pageSize=5000');
      expect(largest.body).to.have.length(240);
      const behind = await shop.call('/Products?page=2147483647&pageSize=5000');
      expect(behind).to.deep.include({ status: 200, body: [] });
    });

    const headers: Readonly<Record<string, string>> = {
      'Elements-Max-Provider-Calls': '0',
      'Elements-Query-Mode': 'pushdown',
      'Elements-Version': 'Argon',
    };
    for (const [name, value] of Object.entries(headers)) {
      it(`has its place in headers too: ${name}: ${value} is refused`, async () => {
        const path = name === 'Elements-Version' ? '/objects' : '/Products';
        const response = await shop.call(path, { headers: { [name]: value } });
        expectProblem(response, 'REQUEST_INVALID', new RegExp(`^headers\\.${name.toLowerCase()} must be `));
      });
    }
  });

  describe('paths and methods', () => {
    it('answers 404 where there is nothing', async () => {
      for (const path of ['/instances/1/nothing', '/accounts/1/nothing', '/elements/odata/nothing']) {
        const response = await service.call(path);
        expectProblem(response, 'NOT_FOUND', `There is no GET /elements/api-v2${path}.`);
      }
      for (const path of ['/Products/1/Lines/2', '/objects/Products', '/bulk']) {
        const answer = await shop.call(path);
        expectProblem(answer, 'NOT_FOUND', `There is no GET /elements/api-v2${path}.`);
      }
      for (const path of ['/nothing', '/elements', '/elements/api-v1/hubs', '/api-v2', '/health', '/docs/assets/x']) {
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
        ['PUT', '/objects', 'GET', shop.token],
        ['PATCH', '/Products', 'GET, POST', shop.token],
        ['POST', '/Products/1', 'DELETE, GET, PATCH, PUT', shop.token],
        ['DELETE', '/Products/1/Lines', 'GET', shop.token],
      ];
      for (const [method, path, allow, withToken] of wrong) {
        const response = await service.call(path, { method, ...(withToken !== undefined && { token: withToken }) });
        expect(response.headers.get('allow'), `${method} ${path}`).to.equal(allow.replace('GET', 'GET, HEAD'));
        const message = `There is no ${method} /elements/api-v2${path}. The path accepts ${allow}.`;
        expectProblem(response, 'OPERATION_UNSUPPORTED', message);
      }
      for (const path of ['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml', '/docs']) {
        const answer = await sendRaw(service.app.url, { method: 'POST', path });
        expectProblem(answer, 'OPERATION_UNSUPPORTED', `There is no POST ${path}. The path accepts GET, HEAD.`);
        expect(answer.headers.get('allow')).to.equal('GET, HEAD');
      }
    });

    it('takes ids of instances that are whole numbers from 1 and no others', async () => {
      const refused = {
        abc: 'path.id must be integer.',
        '1.5': 'path.id must be integer.',
        '0': 'path.id must be >= 1.',
        '-1': 'path.id must be >= 1.',
        '99999999999999999999': 'path.id must be <= 9007199254740991.',
        '1%20or%201=1': 'path.id must be integer.',
        "1';drop table instance": 'path.id must be integer.',
        '0x1': 'path.id must be integer.',
        '1e0': 'path.id must be integer.',
        '+1': 'path.id must be integer.',
        '%201': 'path.id must be integer.',
        '01': 'path.id must be integer.',
      };
      for (const [id, message] of Object.entries(refused)) {
        expectProblem(await service.call(`/instances/${id}`), 'REQUEST_INVALID', message);
      }
      const largest = await service.call('/instances/9007199254740991');
      expectProblem(largest, 'NOT_FOUND', 'There is no instance 9007199254740991.');
    });
  });
});
