import { expect } from 'chai';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useOutsideConnectors } from './support/outside-connectors.ts';
import { pagesOf } from './support/page-server.ts';
import { sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, FIRST_TENANT } from './support/tenants.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

describe('queries', () => {
  const service = useApp({ CONNECTORS_PATH: useOutsideConnectors() });
  let shop: { readonly id: number; readonly token: string };
  let people: { readonly id: number; readonly token: string };
  before(async () => {
    shop = await service.createInstance('odata', SHOP);
    people = await service.createInstance('bamboohr', BAMBOOHR);
  });

  const products = (query: Query, headers: Readonly<Record<string, string>> = {}) =>
    service.call('/Products', { token: shop.token, query, headers });

  describe('that are wrong', () => {
    it('say where and what is meant, for every fault', async () => {
      const where = "Nmae = 'x' AND Idd = 2 AND (Active = 'yes' OR ReleasedOn > '2024-13-01')";
      const answer = await products({ where });
      expectProblem(
        answer,
        'WHERE_INVALID',
        "There is no field 'Nmae'. Did you mean 'Name'? (and 3 more, see details)",
      );
      expect(answer.body.details).to.deep.equal([
        { position: 0, length: 4, message: "There is no field 'Nmae'. Did you mean 'Name'?", nearest: 'Name' },
        { position: 15, length: 3, message: "There is no field 'Idd'. Did you mean 'Id'?", nearest: 'Id' },
        {
          position: where.indexOf("'yes'"),
          length: 5,
          message: "'Active' is of type boolean: expected TRUE or FALSE.",
          expected: ['TRUE or FALSE'],
        },
        {
          position: where.indexOf("'2024-13-01'"),
          length: 12,
          message: "'ReleasedOn' is of type date: expected a date, such as 2026-01-31.",
          expected: ['a date, such as 2026-01-31'],
        },
      ]);
    });

    const unreadable: Readonly<Record<string, string>> = {
      'Price = ': 'The filter cannot be read at position 8: Expected a value, found the end.',
      "Name = 'x":
        "The filter cannot be read at position 7: This text has no closing quote. A quote inside a text is written twice: 'O''Neil'.",
      'Price > 5 AND': 'The filter cannot be read at position 13',
      '(Id = 1': 'The filter cannot be read at position 7',
      'Id = 1; drop table instance': 'The filter cannot be read at position 6',
      'Id = NULL': 'The filter cannot be read at position 5',
      '%': 'The filter cannot be read at position 0',
      ' ': 'The filter cannot be read at position 1',
    };
    for (const [where, message] of Object.entries(unreadable)) {
      it(`cannot be read: ${where}`, async () => {
        const answer = await products({ where });
        expectProblem(answer, 'WHERE_SYNTAX');
        expect(answer.body.message.slice(0, message.length)).to.equal(message);
        expect(answer.body.details[0]).to.include.keys('position', 'length', 'message');
      });
    }

    it('name fields and orders that there are not', async () => {
      const nearest = "There is no field 'Nmae'. Did you mean 'Name'?";
      expectProblem(await products({ fields: 'Id,Nmae' }), 'WHERE_INVALID', nearest);
      expectProblem(await products({ orderBy: 'Nmae desc' }), 'WHERE_INVALID', nearest);
      for (const name of ['__proto__', 'constructor', 'toString', 'Package.__proto__', 'Name.length']) {
        for (const query of [{ fields: name }, { orderBy: name }, { where: `${name} = 'x'` }]) {
          expectProblem(await products(query), 'WHERE_INVALID', `There is no field '${name}'.`);
        }
      }
      for (const query of [{ fields: ',' }, { fields: 'Id,,Name' }, { orderBy: 'Id up' }, { orderBy: 'Id asc desc' }]) {
        expectProblem(await products(query), 'WHERE_SYNTAX');
      }
    });

    it('meet the limits of their language, each with its message', async () => {
      const texts = {
        length: `Name = '${'x'.repeat(17_000)}'`,
        predicates: Array.from({ length: 501 }, (_, index) => `Id=${index}`).join(' OR '),
        members: `Id IN (${Array.from({ length: 1001 }, (_, index) => index).join(',')})`,
        nesting: `${'('.repeat(65)}Id = 1${')'.repeat(65)}`,
      };
      const messages = new Set<string>();
      for (const [what, where] of Object.entries(texts)) {
        const answer = await products({ where });
        expect(answer.status, what).to.equal(400);
        expect(answer.body.code).to.match(/^WHERE_/);
        messages.add(answer.body.message);
      }
      expect(messages.size).to.equal(4);
    });
  });

  describe('that are right', () => {
    it('take values of every kind as values', async () => {
      const names = [
        "O'Neil's guide",
        '"Quoted"',
        'back\\slash',
        'line\nbreak',
        '100% _sure_',
        'Straße',
        '日本語の本',
        '😀 smile',
        'a/b?c#d;e=f+g',
        ' blanks around ',
        '',
      ];
      for (const name of names) {
        const { body } = await products({ where: `Name = '${name.replaceAll("'", "''")}'`, fields: 'Name' });
        expect(body).to.deep.equal([{ Name: name }]);
      }
    });

    it('take quotes and colons that the client left as they are', async () => {
      const path = "/Products?where=Name='ABC'%20OR%20ChangedAt=2025-01-01T00:00:00.1111110Z&fields=Id";
      expect((await service.call(path, { token: shop.token })).body).to.deep.equal([{ Id: 1 }, { Id: 14 }]);
    });

    it('answer the fields that were asked for, in that order, and no others', async () => {
      const { body } = await products({ fields: 'Stock, Id ,Package.Store.City', pageSize: 2, where: "Name != 'x'" });
      expect(body).to.deep.equal([
        { Stock: -10, Id: 1, Package: { Store: { City: 'Köln' } } },
        { Stock: -3, Id: 2, Package: { Store: { City: "L'Aquila" } } },
      ]);
      expect(Object.keys(body[0])).to.deep.equal(['Stock', 'Id', 'Package']);
    });

    it('sort by several fields, by those of the provider and by others', async () => {
      const { body } = await products({ orderBy: 'Stock desc, Id', fields: 'Id,Stock', where: 'Stock IS NOT NULL' });
      const sorted = [...body].sort((a, b) => b.Stock - a.Stock || a.Id - b.Id);
      expect(body).to.deep.equal(sorted);
      const query = { orderBy: 'amount desc', fields: 'amount' };
      const timeOff = await service.call('/time-off', { token: people.token, query });
      const amounts: number[] = timeOff.body.map(({ amount }: { amount: number }) => amount);
      expect(amounts).to.deep.equal([...amounts].sort((a, b) => b - a));
      expect(timeOff.headers.get('elements-query-pushdown')).to.equal('partial');
    });

    it('tell in headers what happened', async () => {
      const answer = await service.call('/employees', {
        token: people.token,
        query: { where: "status = 'Active'", pageSize: 5 },
      });
      const headers = Object.fromEntries(answer.headers);
      expect(headers).to.deep.include({
        'elements-returned-count': '5',
        'elements-total-count': '240',
        'elements-element-instance-id': String(people.id),
        'elements-query-pushdown': 'full',
        'elements-provider-calls': '1',
      });
      expect(headers.link).to.match(/^<http[^<>"]+>; rel="next"$/);
    });

    it('that find nothing answer an empty list', async () => {
      const { status, body, headers } = await products({ where: 'Id < 0' });
      expect({ status, body }).to.deep.equal({ status: 200, body: [] });
      expect(headers.get('elements-returned-count')).to.equal('0');
      expect(headers.has('link')).to.equal(false);
    });
  });

  describe('page by page', () => {
    async function follow(path: string, token: string, query: Query): Promise<readonly unknown[]> {
      const rows: unknown[] = [];
      let answer = await service.call(path, { token, query });
      for (;;) {
        rows.push(...answer.body);
        const url = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
        if (url === undefined) return rows;
        expect(answer.body).to.have.length(Number(query.pageSize));
        expect(url.startsWith(`${service.app.baseUrl}${path}?`), url).to.equal(true);
        answer = await service.call(url.slice(service.app.baseUrl.length), { token });
      }
    }

    async function count(path: string, token: string, query: Query): Promise<readonly unknown[]> {
      const rows: unknown[] = [];
      for (let page = 1; ; page++) {
        const answer = await service.call(path, { token, query: { ...query, page } });
        rows.push(...answer.body);
        if (answer.body.length < Number(query.pageSize)) return rows;
      }
    }

    const QUERIES: Readonly<Record<string, Query>> = {
      'answered by the provider alone': { where: 'Stock > 30', fields: 'Id,Stock', orderBy: 'Stock desc' },
      'checked again here': { where: "Name LIKE 'product 1%' OR Name > 'P'", fields: 'Id,Name' },
      'with everything to be escaped in the address': {
        where: `Name != 'a&b=c "<>"#+%25' AND Stock > 40`,
        fields: 'Id',
      },
    };
    for (const [what, query] of Object.entries(QUERIES)) {
      it(`joined are one page, for a query ${what}`, async () => {
        const { body: whole } = await products({ ...query, pageSize: 5000 });
        expect(whole.length).to.be.greaterThan(7);
        for (const pageSize of [1, 7, 50]) {
          expect(await follow('/Products', shop.token, { ...query, pageSize })).to.deep.equal(whole);
          expect(await count('/Products', shop.token, { ...query, pageSize })).to.deep.equal(whole);
        }
      }).timeout(20_000);
    }

    it('joined are one page, for another provider, below a hub, and sorted here', async () => {
      const query = { where: 'amount > 1', orderBy: 'unit,id desc', fields: 'id' };
      const { body: whole } = await service.call('/time-off', { token: people.token, query });
      for (const pageSize of [7, 50]) {
        for (const path of ['/time-off', '/hubs/humancapital/time-off']) {
          expect(await follow(path, people.token, { ...query, pageSize })).to.deep.equal(whole);
        }
      }
    });

    it('have a Link that can be read, however the query was written', async () => {
      const path = `/elements/api-v2/Products?where=Id>1&fields=Id&pageSize=1&orderBy=Id%20asc`;
      const headers = authorizationOf(FIRST_TENANT, shop.token);
      const answer = await sendRaw(service.app.url, { path, headers });
      const url = /^<([^<>"]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
      const next = await fetch(url, { headers });
      expect(JSON.parse(await next.text())).to.deep.equal([{ Id: 3 }]);
    });

    it('refuse a token of another query, object, instance or listing, a changed one, and nonsense', async () => {
      const query = { where: 'Stock > 5', orderBy: 'Stock', fields: 'Id', pageSize: 2 };
      const nextPage = (await products(query)).headers.get('elements-next-page-token') ?? '';
      const other = await service.createInstance('odata', SHOP);
      const at = (path: string, token: string, more: Query = {}) =>
        service.call(path, { token, query: { ...query, nextPage, ...more } });

      expect((await at('/Products', shop.token)).status).to.equal(200);
      expect((await at('/Products', shop.token, { pageSize: 50 })).status).to.equal(200);
      const middle = Math.floor(nextPage.length / 2);
      const flipped = `${nextPage.slice(0, middle)}${nextPage[middle] === 'A' ? 'B' : 'A'}${nextPage.slice(middle + 1)}`;
      const refused: readonly ApiAnswer[] = [
        await at('/Products', shop.token, { where: 'Stock > 6' }),
        await at('/Products', shop.token, { orderBy: 'Stock desc' }),
        await at('/Products', shop.token, { fields: 'Id,Name' }),
        await service.call('/Products', { token: shop.token, query: { nextPage } }),
        await at('/Products', other.token),
        await at('/Products/1/Lines', shop.token, { where: 'Quantity > 5', orderBy: 'Quantity', fields: 'id' }),
        await at('/Products', shop.token, { nextPage: flipped }),
        await at('/Products', shop.token, { nextPage: nextPage.toLowerCase() }),
        await at('/Products', shop.token, { nextPage: `${nextPage}${nextPage}` }),
        await at('/Products', shop.token, { nextPage: '2' }),
        await at('/Products', shop.token, { nextPage: '{"skipRows":1}' }),
      ];
      for (const answer of refused) {
        expectProblem(
          answer,
          'REQUEST_INVALID',
          'nextPage does not belong to this query: send the token of the page before, with the same instance, object, where, orderBy and fields.',
        );
      }
    });

    it('take a token when the same query is written otherwise', async () => {
      const first = await products({ where: "Stock>5 AND Name != 'x'", fields: 'Id', pageSize: 2 });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const where = "( `Stock`  > 5.0 and Name <> 'x' )";
      const again = await products({ where, fields: ' Id', pageSize: 2, nextPage });
      expect(again.status, JSON.stringify(again.body)).to.equal(200);
    });
  });

  describe('with pushdown-only', () => {
    const headers = { 'elements-query-mode': 'pushdown-only' };

    it('are answered when the provider can alone', async () => {
      const answer = await products({ where: 'Stock > 5', orderBy: 'Name desc' }, headers);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('elements-query-pushdown')).to.equal('full');
    });

    it('are refused with the place that it cannot', async () => {
      const answer = await products({ where: "Stock > 5 AND Name LIKE '%x_y%'" }, headers);
      expectProblem(
        answer,
        'WHERE_UNSUPPORTED',
        'The provider cannot answer this query alone, and pushdown-only was asked for.',
      );
      expect(answer.body.details[0]).to.include({ position: 14, length: 17 });
      const query = { orderBy: 'amount' };
      const sorted = await service.call('/time-off', { token: people.token, query, headers });
      expectProblem(sorted, 'WHERE_UNSUPPORTED');
    });
  });

  describe('with a budget of provider calls', () => {
    const ROWS = Array.from({ length: 95 }, (_, index) => ({ id: index, name: index % 9 === 0 ? 'rare' : 'common' }));
    const RARE = ROWS.filter(({ name }) => name === 'rare');
    let provider: MisbehavingServer;
    let token: string;
    before(async () => {
      provider = await startMisbehavingServer();
      provider.answer('/me', pagesOf([]));
      provider.answer('/items', pagesOf(ROWS));
      const configuration = { 'base.url': provider.url, 'api.key': 'a-key' };
      token = (await service.createInstance('impatient', configuration)).token;
    });
    after(() => provider.close());

    const items = (query: Query, calls: number) =>
      service.call('/items', { token, query, headers: { 'elements-max-provider-calls': String(calls) } });

    it('answer what was found when it ends, say so, and go on from there', async () => {
      const query = { where: "name = 'rare'", pageSize: 50 };
      const found: unknown[] = [];
      let nextPage: string | undefined;
      let requests = 0;
      do {
        const before = provider.requests.length;
        const answer = await items({ ...query, ...(nextPage !== undefined && { nextPage }) }, 2);
        const calls = provider.requests.length - before;
        expect(calls).to.be.within(1, 2);
        expect(answer.headers.get('elements-provider-calls')).to.equal(String(calls));
        expect(answer.headers.get('elements-query-pushdown')).to.equal('none');
        nextPage = answer.headers.get('elements-next-page-token') ?? undefined;
        const partial = answer.headers.get('elements-partial-result');
        expect(partial).to.equal(nextPage === undefined ? null : 'scan-budget');
        found.push(...answer.body);
        requests += calls;
      } while (nextPage !== undefined);
      expect(found).to.deep.equal(RARE);
      expect(requests).to.equal(10);
    });

    it('are whole when it suffices', async () => {
      const answer = await items({ where: "name = 'rare'" }, 10);
      expect(answer.body).to.deep.equal(RARE);
      expect(answer.headers.has('elements-partial-result')).to.equal(false);
      expect(answer.headers.has('elements-next-page-token')).to.equal(false);
    });

    it('are refused when they must be sorted here and the rows do not end within it', async () => {
      const message =
        "The provider cannot sort by 'name', and there are more rows than 3 provider calls can fetch to sort them here. Narrow the filter, or raise Elements-Max-Provider-Calls.";
      expectProblem(await items({ orderBy: 'name' }, 3), 'WHERE_UNSUPPORTED', message);
      const { body } = await items({ orderBy: 'name desc,id desc', fields: 'id', pageSize: 2 }, 10);
      expect(body).to.deep.equal([{ id: 90 }, { id: 81 }]);
    });

    it('read no more pages than a page of the answer needs', async () => {
      const before = provider.requests.length;
      const answer = await items({ pageSize: 10 }, 25);
      expect(answer.body).to.deep.equal(ROWS.slice(0, 10));
      expect(provider.requests.length - before).to.equal(1);
      expect(answer.headers.get('elements-provider-calls')).to.equal('1');
    });
  });
});
