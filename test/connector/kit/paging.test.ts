import { expect } from 'chai';
import type { ListInput, ListPage, ProviderRequest, ProviderResponse } from '#connector';
import { can, json, list, nextLink, type Paging } from '#connector';
import { findWindow } from '../../../src/connector/kit/paging.ts';

const INPUT: ListInput<string> = { parameters: {}, fields: [], orderBy: [], limit: 2 };
const ROWS = ['a', 'b', 'c', 'd', 'e'];

/** A provider with five rows (or others) and the operation for it; it counts how often it was asked. */
function provider(paging: Paging, answer: (request: ProviderRequest) => object) {
  const asked: ProviderRequest[] = [];
  const operation = list<string>({
    request: ({ page }) => ({ path: '/rows', query: page }),
    rows: (body) => json.array(json.at(body, 'rows'), 'the rows'),
    paging,
  });
  const page = (input: Partial<ListInput<string>> = {}): ListPage => {
    const request = operation.request({ ...INPUT, ...input }, {});
    asked.push(request);
    const response: ProviderResponse = { status: 200, headers: {}, body: undefined, ...answer(request) };
    return operation.read(response, { ...INPUT, ...input });
  };
  const all = (limit: number) => {
    const found: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const { records, next } = page({ limit, ...(cursor !== undefined && { cursor }) });
      found.push(...records);
      if (next === undefined) return found;
      cursor = next;
    }
  };
  return { asked, all, page, operation };
}

function sliceBy(rows: readonly string[]) {
  return ({ query = {} }: ProviderRequest) => {
    const [offset, limit] = [Number(query.offset), Number(query.limit)];
    return {
      body: { rows: rows.slice(offset, offset + limit), total: rows.length, more: offset + limit < rows.length },
    };
  };
}

function pageBy(rows: readonly string[], first = 1) {
  return ({ query = {} }: ProviderRequest) => {
    const [page, size] = [Number(query.page) - first, Number(query.size)];
    return { body: { rows: rows.slice(page * size, (page + 1) * size), total: rows.length } };
  };
}

const total = ({ body }: ProviderResponse) => json.at(body, 'total');

describe('the request of a list', () => {
  it('is built once for an input that is frozen, and anew for another configuration or input', () => {
    const config = { company: 'acme' };
    let times = 0;
    const operation = list<string>({
      request: ({ limit }, { company }) => ({ path: `/${String(company)}/${limit}/${++times}` }),
      rows: () => [],
      paging: { kind: 'whole' },
    });
    const paths = [INPUT, INPUT, Object.freeze({ ...INPUT })].flatMap((input) =>
      [config, config, { company: 'other' }].map((given) => operation.request(input, given).path),
    );
    expect(paths.slice(0, 6)).to.deep.equal(
      paths.slice(0, 6).map((_, at) => `/${at % 3 === 2 ? 'other' : 'acme'}/2/${at + 1}`),
    );
    expect(paths.slice(6)).to.deep.equal(['/acme/2/7', '/acme/2/7', '/other/2/8']);
  });
});

describe('lists by position', () => {
  const cases: readonly (readonly [
    string,
    Paging,
    (rows: readonly string[]) => (request: ProviderRequest) => object,
  ])[] = [
    ['whole', { kind: 'whole' }, (rows) => () => ({ body: { rows } })],
    ['by offset and a row more', { kind: 'offset', offset: 'offset', size: 'limit', max: 4 }, sliceBy],
    ['by offset and the total', { kind: 'offset', offset: 'offset', size: 'limit', max: 3, total }, sliceBy],
    [
      'by offset and a flag',
      { kind: 'offset', offset: 'offset', size: 'limit', max: 3, more: ({ body }) => json.at(body, 'more') === true },
      sliceBy,
    ],
    ['by number and a row more', { kind: 'number', page: 'page', size: 'size', max: 7 }, pageBy],
    ['by number, where no page holds the wanted rows', { kind: 'number', page: 'page', size: 'size', max: 4 }, pageBy],
    ['by number and the total', { kind: 'number', page: 'page', size: 'size', max: 5, total }, pageBy],
    [
      'by number from 0',
      { kind: 'number', page: 'page', size: 'size', max: 7, first: 0 },
      (rows: readonly string[]) => pageBy(rows, 0),
    ],
  ];
  for (const [name, paging, response] of cases) {
    it(`show every row once, ${name}, in pages of any size, and end where the rows do`, () => {
      for (const count of [0, 1, 2, 3, 4, 5, 13]) {
        const rows = Array.from({ length: count }, (_, index) => `row ${index}`);
        for (const limit of [1, 2, 3]) {
          const { all, asked, operation } = provider(paging, response(rows));
          expect(limit).to.be.at.most(operation.maxPageSize);
          expect(all(limit)).to.deep.equal(rows);
          const pages = Math.max(1, Math.ceil(count / limit));
          // Where no page of the provider holds the wanted rows, it takes more of them.
          if (paging.kind !== 'number') expect(asked.length, `${count} by ${limit}`).to.equal(pages);
          else expect(asked.length).to.be.within(pages, pages + count);
        }
      }
    });

    it(`begin at any row, ${name}`, () => {
      const { page, operation } = provider(paging, response(ROWS));
      const { records } = page({ cursor: operation.cursorAt?.(3) ?? '' });
      expect(ROWS.slice(3)).to.include.members(records);
      expect(records[0]).to.equal('d');
    });
  }

  it('want one row more only where nothing else shows the end', () => {
    const sizes = [undefined, total].map((counted) => {
      const paging: Paging = {
        kind: 'offset',
        offset: 'offset',
        size: 'limit',
        max: 100,
        ...(counted && { total: counted }),
      };
      const { page, asked, operation } = provider(paging, sliceBy(ROWS));
      page();
      return [operation.maxPageSize, asked[0]?.query];
    });
    expect(sizes).to.deep.equal([
      [99, { offset: 0, limit: 3 }],
      [100, { offset: 0, limit: 2 }],
    ]);
  });

  it('tell the total of all rows, and miss it where it was promised', () => {
    const paging: Paging = { kind: 'offset', offset: 'offset', size: 'limit', max: 100, total };
    expect(provider(paging, sliceBy(ROWS)).page()).to.deep.equal({ records: ['a', 'b'], total: 5, next: '2' });
    for (const wrong of [undefined, -1, 'many', 1.5]) {
      const { page } = provider(paging, () => ({ body: { rows: [], total: wrong } }));
      expect(() => page()).to.throw('The response lacks the number of all rows.');
    }
  });

  it('end with an empty page, whatever total the provider tells', () => {
    const paging: Paging = { kind: 'offset', offset: 'offset', size: 'limit', max: 100, total };
    const { page } = provider(paging, () => ({ body: { rows: [], total: 9 } }));
    expect(page({ cursor: '4' })).to.deep.equal({ records: [], total: 9 });
  });

  it('never show more rows than were wanted', () => {
    const { page } = provider({ kind: 'offset', offset: 'offset', size: 'limit', max: 9 }, () => ({
      body: { rows: ROWS },
    }));
    expect(page()).to.deep.equal({ records: ['a', 'b'], next: '2' });
  });
});

describe('pages of a provider around the wanted rows', () => {
  it('are the wanted ones where those begin at a multiple of their number', () => {
    expect(findWindow(0, 20, 1000)).to.deep.equal({ index: 0, size: 20, skip: 0 });
    expect(findWindow(40, 20, 1000)).to.deep.equal({ index: 2, size: 20, skip: 0 });
  });

  it('are the smallest around them where they do not', () => {
    expect(findWindow(7, 20, 1000)).to.deep.equal({ index: 0, size: 27, skip: 7 });
    expect(findWindow(130, 20, 1000)).to.deep.equal({ index: 5, size: 25, skip: 5 });
  });

  it('always hold the first wanted row, and are never above the largest', () => {
    for (let offset = 0; offset < 5000; offset += 37) {
      for (const limit of [1, 20, 200, 999, 1000]) {
        const { index, size, skip } = findWindow(offset, limit, 1000);
        expect(index * size + skip).to.equal(offset);
        expect(size).to.be.within(limit, 1000);
        expect(skip).to.be.below(size);
      }
    }
  });
});

describe('lists that are followed', () => {
  const cursors: Paging = {
    kind: 'cursor',
    cursor: 'after',
    size: 'limit',
    max: 50,
    next: ({ body }) => json.at(body, 'next'),
  };
  const links: Paging = {
    kind: 'link',
    size: 'limit',
    max: 50,
    next: nextLink,
    follow: ({ limit }) => ({ headers: { prefer: `size=${limit}` } }),
  };

  it('by cursor go on with what the provider gave, and end where it gives none', () => {
    for (const end of [undefined, null, '', false]) {
      const { all, asked } = provider(cursors, ({ query = {} }) => {
        const at = Number(query.after ?? 0);
        return { body: { rows: ROWS.slice(at, at + 2), next: at + 2 < ROWS.length ? at + 2 : end } };
      });
      expect(all(2)).to.deep.equal(ROWS);
      expect(asked.map(({ query }) => query)).to.deep.equal([
        { limit: 2 },
        { limit: 2, after: '2' },
        { limit: 2, after: '4' },
      ]);
    }
  });

  it('by link ask for its address as it is', () => {
    const { all, asked } = provider(links, ({ url }) => {
      const at = Number(url?.slice(1) ?? 0);
      const more = at + 2 < ROWS.length;
      return { body: { rows: ROWS.slice(at, at + 2) }, headers: more ? { link: `</${at + 2}>; rel="next"` } : {} };
    });
    expect(all(2)).to.deep.equal(ROWS);
    const headers = { prefer: 'size=2' };
    expect(asked).to.deep.equal([
      { path: '/rows', query: { limit: 2 } },
      { url: '/2', headers },
      { url: '/4', headers },
    ]);
  });

  it('do not go round', () => {
    for (const paging of [cursors, links]) {
      const { page } = provider(paging, () => ({
        body: { rows: ['a'], next: 'x' },
        headers: { link: '<x>; rel=next' },
      }));
      expect(page().next).to.equal('x');
      expect(() => page({ cursor: 'x' })).to.throw('returned the current page as the next one');
    }
  });

  it('show all rows of a page, and its total', () => {
    const { page } = provider({ ...cursors, total }, () => ({ body: { rows: ROWS, total: 5 } }));
    expect(page()).to.deep.equal({ records: ROWS, total: 5 });
    expect(provider(cursors, () => ({ body: { rows: ROWS, total: 5 } })).page()).to.deep.equal({ records: ROWS });
  });

  it('find the next page among other links', () => {
    const linkOf = (link: string) => nextLink({ status: 200, headers: { link }, body: undefined });
    expect(linkOf('<https://a.example/1>; rel="prev", <https://a.example/3?a=1,2;b>; rel="next"')).to.equal(
      'https://a.example/3?a=1,2;b',
    );
    expect(linkOf('</9>; title="x, y"; REL=next; type=a')).to.equal('/9');
    expect(linkOf('</9>; rel="last next"')).to.equal('/9');
    expect([linkOf('</9>; rel="nextish"'), linkOf('</9>; title="next"'), linkOf('')]).to.deep.equal(
      Array(3).fill(undefined),
    );
    expect(nextLink({ status: 200, headers: {}, body: undefined })).to.equal(undefined);
    // A pattern that looks for the end from each of them would take hours.
    expect(linkOf(`${'<'.repeat(1_000_000)}https://a.example/>; rel=next`)).to.equal('https://a.example/');
  });
});

describe('what a list is asked for with', () => {
  const field = (name: string, native = name) =>
    ({ name, native, type: 'string', filter: can.equal('exact') }) as const;

  it('is every native field once, and an order that ends with the id', () => {
    const { request } = list<string>({
      request: ({ natives, order, filter }) => ({ path: '/', query: { fields: natives.join(), order, filter } }),
      rows: () => [],
      paging: { kind: 'whole' },
      order: { term: (native, direction) => `${native}:${direction}`, join: '|', id: 'Id' },
    });
    const [name, id] = [field('name', 'Name'), field('id', 'Id')];
    const asked = [
      request({ ...INPUT, fields: [id, name, id], filter: 'x' }, {}),
      request({ ...INPUT, orderBy: [{ field: name, direction: 'desc' }] }, {}),
      request({ ...INPUT, orderBy: [{ field: id, direction: 'desc' }] }, {}),
    ];
    expect(asked.map(({ query }) => query)).to.deep.equal([
      { fields: 'Id,Name', order: 'Id:asc', filter: 'x' },
      { fields: '', order: 'Name:desc|Id:asc', filter: undefined },
      { fields: '', order: 'Id:desc', filter: undefined },
    ]);
  });

  it('has no order where none is wanted and no id must end one', () => {
    const { request } = list<string>({
      request: (query) => ({ path: '/', query: { has: String('order' in query) } }),
      rows: () => [],
      paging: { kind: 'whole' },
      order: { term: (native) => native },
    });
    expect(request(INPUT, {}).query).to.deep.equal({ has: 'false' });
  });
});
