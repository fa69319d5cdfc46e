import { expect } from 'chai';
import { pluck, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

describe('queries', () => {
  const service = useSharedApp();
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  const products = (query: Query, headers: Readonly<Record<string, string>> = {}) =>
    shop.call('/Products', { query, headers });

  describe('that are wrong', () => {
    it('say where and what is meant, for every fault', async () => {
      const where = "Nmae = 'x' AND Idd = 2 AND (Active = 'yes' OR ReleasedOn > '2024-13-01')";
      const response = await products({ where });
      expectProblem(response, 'WHERE_INVALID', "Unknown field 'Nmae'. Did you mean 'Name'? (and 3 more, see details)");
      expect(response.body.details).to.deep.equal([
        { position: 0, length: 4, message: "Unknown field 'Nmae'. Did you mean 'Name'?", nearest: 'Name' },
        { position: 15, length: 3, message: "Unknown field 'Idd'. Did you mean 'Id'?", nearest: 'Id' },
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
        const response = await products({ where });
        expectProblem(response, 'WHERE_SYNTAX');
        expect(response.body.message.slice(0, message.length)).to.equal(message);
        expect(response.body.details[0]).to.include.keys('position', 'length', 'message');
      });
    }

    it('name fields and orders that there are not', async () => {
      const nearest = "Unknown field 'Nmae'. Did you mean 'Name'?";
      expectProblem(await products({ fields: 'Id,Nmae' }), 'WHERE_INVALID', nearest);
      expectProblem(await products({ orderBy: 'Nmae desc' }), 'WHERE_INVALID', nearest);
      for (const name of ['__proto__', 'constructor', 'toString', 'Package.__proto__', 'Name.length']) {
        for (const query of [{ fields: name }, { orderBy: name }, { where: `${name} = 'x'` }]) {
          expectProblem(await products(query), 'WHERE_INVALID', `Unknown field '${name}'.`);
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
        const response = await products({ where });
        expect(response.status, what).to.equal(400);
        expect(response.body.code).to.match(/^WHERE_/);
        messages.add(response.body.message);
      }
      expect(messages.size).to.equal(4);
    });
  });

  describe('that are right', () => {
    it('take values of every kind as values', async () => {
      const names = [
        ...["O'Neil's guide", '"Quoted"', 'back\\slash', 'line\nbreak', '100% _sure_', 'Straße', '日本語の本'],
        ...['😀 smile', 'a/b?c#d;e=f+g', ' blanks around ', ''],
      ];
      for (const name of names) {
        const { body } = await products({ where: `Name = '${name.replaceAll("'", "''")}'`, fields: 'Name' });
        expect(body).to.deep.equal([{ Name: name }]);
      }
    });

    it('take quotes and colons that the client left as they are', async () => {
      const path = "/Products?where=Name='ABC'%20OR%20ChangedAt=2025-01-01T00:00:00.1111110Z&fields=Id";
      expect(await shop.get(path)).to.deep.equal([{ Id: 1 }, { Id: 14 }]);
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
      const timeOff = await people.call('/time-off', { query });
      const amounts: number[] = pluck(timeOff.body, 'amount');
      expect(amounts).to.deep.equal([...amounts].sort((a, b) => b - a));
      expect(timeOff.headers.get('elements-query-pushdown')).to.equal('partial');
    });

    it('tell in headers what happened', async () => {
      const response = await people.call('/employees', { query: { where: "status = 'Active'", pageSize: 5 } });
      const headers = Object.fromEntries(response.headers);
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

  describe('with pushdown-only', () => {
    const headers = { 'elements-query-mode': 'pushdown-only' };

    it('are answered when the provider can alone', async () => {
      const response = await products({ where: 'Stock > 5', orderBy: 'Name desc' }, headers);
      expect(response.status).to.equal(200);
      expect(response.headers.get('elements-query-pushdown')).to.equal('full');
    });

    it('are refused with the place that it cannot', async () => {
      const response = await products({ where: "Stock > 5 AND Name LIKE '%x_y%'" }, headers);
      const message =
        'The provider cannot evaluate this query completely, as pushdown-only requires. Change the parts that the details name, or leave out pushdown-only.';
      expectProblem(response, 'WHERE_UNSUPPORTED', message);
      expect(response.body.details[0]).to.include({ position: 14, length: 17 });
      const query = { orderBy: 'amount' };
      const sorted = await people.call('/time-off', { query, headers });
      expectProblem(sorted, 'WHERE_UNSUPPORTED');
    });
  });
});
