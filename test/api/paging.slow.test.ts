import { expect } from 'chai';
import { type ApiAnswer, useSharedApp } from '../support/app.ts';
import { useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { pagesOf } from './support/page-server.ts';
import { sendRaw } from './support/raw-request.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf } from './support/tenants.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

describe('the pages of a query', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  const products = (query: Query) => shop.call('/Products', { query });

  describe('one after the other', () => {
    async function follow(path: string, token: string, query: Query): Promise<readonly unknown[]> {
      const rows: unknown[] = [];
      let response = await service.call(path, { token, query });
      for (;;) {
        rows.push(...response.body);
        const url = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
        if (url === undefined) return rows;
        expect(response.body).to.have.length(Number(query.pageSize));
        expect(url.startsWith(`${service.app.baseUrl}${path}?`), url).to.equal(true);
        response = await service.call(url.slice(service.app.baseUrl.length), { token });
      }
    }

    async function count(path: string, token: string, query: Query): Promise<readonly unknown[]> {
      const rows: unknown[] = [];
      for (let page = 1; ; page++) {
        const response = await service.call(path, { token, query: { ...query, page } });
        rows.push(...response.body);
        if (response.body.length < Number(query.pageSize)) return rows;
      }
    }

    const QUERIES: Readonly<Record<string, Query>> = {
      'answered by the provider alone': { where: 'Stock > 30', fields: 'Id,Stock', orderBy: 'Stock desc' },
      'checked again here': { where: "Name LIKE '%1%' AND (Stock > 20 OR Name LIKE '%3')", fields: 'Id,Name' },
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
      const whole = await people.get('/time-off', { query });
      for (const pageSize of [7, 50]) {
        for (const path of ['/time-off', '/hubs/humancapital/time-off']) {
          expect(await follow(path, people.token, { ...query, pageSize })).to.deep.equal(whole);
        }
      }
    });

    it('have a Link that can be read, however the query was written', async () => {
      const path = `/elements/api-v2/Products?where=Id>1&fields=Id&pageSize=1&orderBy=Id%20asc`;
      const headers = authorizationOf(service, shop.token);
      const response = await sendRaw(service.app.url, { path, headers });
      const url = /^<([^<>"]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
      const next = await fetch(url, { headers });
      expect(JSON.parse(await next.text())).to.deep.equal([{ Id: 3 }]);
    });

    it('go on from a page that was asked for by its number', async () => {
      const first = await shop.call('/Products', { query: { fields: 'Id', pageSize: 2, page: 3 } });
      const url = /^<([^<>"]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      const next = await fetch(url, { headers: authorizationOf(service, shop.token) });
      const rows = [...first.body, ...JSON.parse(await next.text())];
      expect(rows).to.deep.equal([{ Id: 5 }, { Id: 6 }, { Id: 7 }, { Id: 8 }]);
    });

    it('refuse a token of another query, object, instance or listing, a changed one, and nonsense', async () => {
      const query = { where: 'Stock > 5', orderBy: 'Stock', fields: 'Id', pageSize: 2 };
      const nextPage = (await products(query)).headers.get('elements-next-page-token') ?? '';
      const other = await service.createInstance('odata', SHOP);
      const at = (path: string, token: string, more: Query = {}) =>
        service.call(path, { token, query: { ...query, nextPage, ...more } });

      const lines = await shop.call('/Products/1/Lines', { query: { pageSize: 1 } });
      const nextLine = lines.headers.get('elements-next-page-token') ?? '';
      const ofLines = (path: string) => shop.call(path, { query: { nextPage: nextLine } });

      expect((await ofLines('/Products/1/Lines')).status).to.equal(200);
      expect((await at('/Products', shop.token)).status).to.equal(200);
      expect((await at('/Products', shop.token, { pageSize: 50 })).status).to.equal(200);
      const middle = Math.floor(nextPage.length / 2);
      const flipped = `${nextPage.slice(0, middle)}${nextPage[middle] === 'A' ? 'B' : 'A'}${nextPage.slice(middle + 1)}`;
      const refused: readonly ApiAnswer[] = [
        await at('/Products', shop.token, { where: 'Stock > 6' }),
        await at('/Products', shop.token, { orderBy: 'Stock desc' }),
        await at('/Products', shop.token, { fields: 'Id,Name' }),
        await shop.call('/Products', { query: { nextPage } }),
        await at('/Products', other.token),
        await ofLines('/Products/2/Lines'),
        await ofLines('/Orders/A-1/Lines'),
        await ofLines('/OrderLines'),
        await at('/Products', shop.token, { nextPage: flipped }),
        await at('/Products', shop.token, { nextPage: nextPage.toLowerCase() }),
        await at('/Products', shop.token, { nextPage: `${nextPage}${nextPage}` }),
        await at('/Products', shop.token, { nextPage: '2' }),
        await at('/Products', shop.token, { nextPage: '{"skipRows":1}' }),
      ];
      for (const response of refused) {
        const message =
          'nextPage does not belong to this query. Send the token of the previous page, with the same instance, object, where, orderBy and fields.';
        expectProblem(response, 'REQUEST_INVALID', message);
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

  describe('with a budget of provider calls', () => {
    const ROWS = Array.from({ length: 95 }, (_, index) => ({ id: index, name: index % 9 === 0 ? 'rare' : 'common' }));
    const RARE = ROWS.filter(({ name }) => name === 'rare');
    const provider = useMisbehavingServer();
    let token: string;
    before(async () => {
      provider.answer('/me', pagesOf([]));
      provider.answer('/items', pagesOf(ROWS));
      const configuration = { 'base.url': provider.url, 'api.key': 'a-key' };
      token = (await service.createInstance('impatient', configuration)).token;
    });

    const items = (query: Query, calls: number) =>
      service.call('/items', { token, query, headers: { 'elements-max-provider-calls': String(calls) } });

    it('answer what was found when it ends, say so, and go on from there', async () => {
      const query = { where: "name = 'rare'", pageSize: 50 };
      const found: unknown[] = [];
      let nextPage: string | undefined;
      let requests = 0;
      do {
        const before = provider.requests.length;
        const response = await items({ ...query, ...(nextPage !== undefined && { nextPage }) }, 2);
        const calls = provider.requests.length - before;
        expect(calls).to.be.within(1, 2);
        expect(response.headers.get('elements-provider-calls')).to.equal(String(calls));
        expect(response.headers.get('elements-query-pushdown')).to.equal('none');
        nextPage = response.headers.get('elements-next-page-token') ?? undefined;
        const partial = response.headers.get('elements-partial-result');
        expect(partial).to.equal(nextPage === undefined ? null : 'scan-budget');
        found.push(...response.body);
        requests += calls;
      } while (nextPage !== undefined);
      expect(found).to.deep.equal(RARE);
      expect(requests).to.equal(10);
    });

    it('are whole when it suffices', async () => {
      const response = await items({ where: "name = 'rare'" }, 10);
      expect(response.body).to.deep.equal(RARE);
      expect(response.headers.has('elements-partial-result')).to.equal(false);
      expect(response.headers.has('elements-next-page-token')).to.equal(false);
    });

    it('are refused when they must be sorted here and the rows do not end within it', async () => {
      const message =
        "The provider cannot sort by 'name', and Causeway would need more than 3 provider calls to sort the rows itself. Narrow the filter, or raise Elements-Max-Provider-Calls.";
      expectProblem(await items({ orderBy: 'name' }, 3), 'WHERE_UNSUPPORTED', message);
      const { body } = await items({ orderBy: 'name desc,id desc', fields: 'id', pageSize: 2 }, 10);
      expect(body).to.deep.equal([{ id: 90 }, { id: 81 }]);
    });

    it('read no more pages than a page of the answer needs', async () => {
      const before = provider.requests.length;
      const response = await items({ pageSize: 10 }, 25);
      expect(response.body).to.deep.equal(ROWS.slice(0, 10));
      expect(provider.requests.length - before).to.equal(1);
      expect(response.headers.get('elements-provider-calls')).to.equal('1');
    });
  });
});
