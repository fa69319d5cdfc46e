import { expect } from 'chai';
import type { FieldSpec, ObjectSpec, Value } from '../../src/connector/index.ts';
import { createPacer } from '../../src/pace.ts';
import { expectFailure, failureOf } from '../support/failures.ts';
import { createObject, createService, type FakeRow, type FakeService, takePage } from './fake-provider.ts';

const times = (count: number, create: (index: number) => FakeRow) =>
  Array.from({ length: count }, (_, index) => create(index));

/** One name in a thousand is rare. */
const ROWS = times(4000, (index) => ({
  id: index,
  name: index % 1000 === 999 ? 'rare' : index % 2 === 0 ? 'even' : 'odd',
  score: index % 10,
  place: null,
}));

const ids = (rows: readonly unknown[]) => rows.map((row) => Reflect.get(Object(row), 'id'));

describe('a scan without a recheck', () => {
  let service: FakeService;
  beforeEach(() => {
    service = createService({ rows: createObject(ROWS.slice(0, 120), { cursorAt: String }) });
  });

  it('asks the provider for no more rows than the page has, once', async () => {
    const { records, nextPage, providerCalls, pushdown, totalCount } = await service.list({ pageSize: 7 });
    expect(ids(records)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    expect([providerCalls, pushdown, totalCount]).to.deep.equal([1, 'full', 120]);
    expect(nextPage).to.be.a('string');
    expect(service.sent).to.have.nested.property('[0].json.limit', 7);
  });

  for (const pageSize of [1, 7, 50, 60, 120, 200]) {
    it(`gives every row once in pages of ${pageSize}, and no token at the end`, async () => {
      const { rows, answers } = await service.listAll({ pageSize });
      expect(ids(rows)).to.deep.equal(ids(ROWS.slice(0, 120)));
      expect(answers).to.have.length(Math.ceil(120 / pageSize));
    });
  }

  it('jumps to a page where the provider pages by position', async () => {
    const { records, providerCalls } = await service.list({ pageSize: 10, page: 9 });
    expect(ids(records)).to.deep.equal([80, 81, 82, 83, 84, 85, 86, 87, 88, 89]);
    expect(providerCalls).to.equal(1);
  });

  it('reads up to a page where the provider has cursors only', async () => {
    service = createService({ rows: createObject(ROWS.slice(0, 120)) });
    const { records, providerCalls } = await service.list({ pageSize: 10, page: 9 });
    expect(ids(records)).to.deep.equal([80, 81, 82, 83, 84, 85, 86, 87, 88, 89]);
    expect(providerCalls).to.equal(9);
  });

  it('joins provider pages that are smaller than its own', async () => {
    const { records, providerCalls } = await service.list({ pageSize: 110 });
    expect([records.length, providerCalls]).to.deep.equal([110, 3]);
  });

  it('is empty beyond the end', async () => {
    const { records, nextPage } = await service.list({ pageSize: 10, page: 50 });
    expect([records, nextPage]).to.deep.equal([[], undefined]);
  });

  it('goes on from the token whatever page stands beside it', async () => {
    const { nextPage } = await service.list({ pageSize: 10 });
    const { records } = await service.list({ pageSize: 10, nextPage, page: 7 });
    expect(records).to.deep.equal((await service.list({ pageSize: 10, nextPage })).records);
    expect(records).to.deep.equal((await service.list({ pageSize: 10, page: 2 })).records);
  });
});

describe('a scan with a recheck', () => {
  let service: FakeService;
  beforeEach(() => {
    service = createService({ rows: createObject(ROWS) });
  });

  for (const pageSize of [1, 7, 200]) {
    it(`finds one row in a thousand in pages of ${pageSize}`, async () => {
      const { rows, answers } = await service.listAll({ where: "name = 'rare'", pageSize });
      expect(ids(rows)).to.deep.equal([999, 1999, 2999, 3999]);
      for (const { records, cutBy, nextPage, providerCalls } of answers) {
        expect(providerCalls).to.be.at.most(25);
        expect(cutBy).to.equal(nextPage !== undefined && records.length < pageSize ? 'scan-budget' : undefined);
      }
    });

    it(`gives the same rows in pages of ${pageSize} as in one, when a tenth of the provider's rows are too many`, async () => {
      const where = "score >= 5 AND name = 'odd'";
      const whole = await service.list({ where, pageSize: 5000, maxProviderCalls: 1000 });
      const { rows, answers } = await service.listAll({ where, pageSize });
      expect(ids(rows)).to.deep.equal(ids(whole.records));
      expect(ids(rows)).to.deep.equal(ids(ROWS.filter(({ name, score }) => Number(score) >= 5 && name === 'odd')));
      expect(answers.at(-1)?.records).not.to.deep.equal([]);
    });
  }

  it('asks for the largest pages, whatever the caller wants', async () => {
    await service.list({ where: "name = 'odd'", pageSize: 3 });
    expect(service.sent).to.have.nested.property('[0].json.limit', 50);
  });

  it('does not tell the total of what the provider returned', async () => {
    expect((await service.list({ where: 'score >= 5' })).totalCount).to.equal(undefined);
  });

  it('stops at the budget with what it found, and goes on from there', async () => {
    const request = { where: "name = 'rare'", pageSize: 2 };
    const first = await service.list({ ...request, maxProviderCalls: 20 });
    expect(first).to.deep.include({ providerCalls: 20, cutBy: 'scan-budget', pushdown: 'none' });
    expect(ids(first.records)).to.deep.equal([999]);
    const second = await service.list({ ...request, maxProviderCalls: 1000, nextPage: first.nextPage });
    expect(second.cutBy).to.equal(undefined);
    expect(ids(second.records)).to.deep.equal([1999, 2999]);
  });

  it('finds the same rows with any budget', async () => {
    for (const maxProviderCalls of [1, 2, 3, 7]) {
      const { rows } = await service.listAll({ where: "name = 'rare'", pageSize: 3, maxProviderCalls });
      expect(ids(rows)).to.deep.equal([999, 1999, 2999, 3999]);
    }
  });

  it('counts pages in rows that match', async () => {
    const { records } = await service.list({ where: "name = 'rare'", pageSize: 1, page: 3, maxProviderCalls: 100 });
    expect(ids(records)).to.deep.equal([2999]);
  });

  it('passes over the rows of earlier pages also when the budget ends among them', async () => {
    const request = { where: "name = 'rare'", pageSize: 1 };
    const cut = await service.list({ ...request, page: 3, maxProviderCalls: 30 });
    expect([cut.records, cut.cutBy]).to.deep.equal([[], 'scan-budget']);
    const { records } = await service.list({ ...request, nextPage: cut.nextPage, maxProviderCalls: 100 });
    expect(ids(records)).to.deep.equal([2999]);
  });

  it('is refused when only the provider may filter', async () => {
    const { code, details } = await failureOf(service.list({ where: "id = 1 AND name = 'odd'", pushdownOnly: true }));
    expect(code).to.equal('WHERE_UNSUPPORTED');
    expect(details).to.have.nested.property('[0].position', 11);
    expect(service.sent).to.deep.equal([]);
  });

  it('checks fields that the caller does not see, and shows none of them', async () => {
    const { records } = await service.list({ where: "name = 'rare'", fields: 'id', pageSize: 1 });
    expect(records).to.deep.equal([{ id: 999 }]);
  });

  it('leaves an object null while a field inside it is checked too', async () => {
    const rows = [
      { id: 1, place: null },
      { id: 2, place: { city: null } },
      { id: 3, place: { city: 'Ulm' } },
    ];
    service = createService({ rows: createObject(rows) });
    const where = "place IS NULL AND NOT id = 9 OR place.city = 'Ulm'";
    for (const fields of ['id', undefined, 'id,place.city']) {
      expect(ids((await service.list({ where, fields })).records), fields).to.deep.equal([1, 3]);
    }
  });

  it('does not take a row that is no object for an empty one', async () => {
    const noRows = JSON.parse('["row"]');
    service = createService({ rows: createObject(noRows) });
    await expectFailure(service.list(), 'PROVIDER_PROTOCOL');
  });

  it('refuses a text that is too long for the patterns of the filter, and never passes it over', async () => {
    const where = times(100, (index) => ({ id: index }))
      .map(({ id }) => `name LIKE '%${id}x%'`)
      .join(' OR ');
    const withName = (name: string) => createService({ rows: createObject([{ id: 1, name, score: 1, place: null }]) });
    const found = await withName(`${'n'.repeat(41_000)}99x`).list({ where });
    expect(ids(found.records)).to.deep.equal([1]);
    await expectFailure(
      withName(`${'n'.repeat(42_000)}99x`).list({ where }),
      'WHERE_UNSUPPORTED',
      /^'name' of a row has 42003 characters\. .* at most 41943 characters/,
    );
  });
});

describe('an order', () => {
  it('is left to the provider where it sorts by the field', async () => {
    const service = createService({ rows: createObject(ROWS.slice(0, 60)) });
    const { records, pushdown, providerCalls } = await service.list({ orderBy: 'id desc', pageSize: 2 });
    expect(ids(records)).to.deep.equal([59, 58]);
    expect([pushdown, providerCalls]).to.deep.equal(['full', 1]);
  });

  it('is made here from all rows where the provider cannot, in pages of any size', async () => {
    const service = createService({ rows: createObject(ROWS.slice(0, 200)) });
    const sorted = [...ROWS.slice(0, 200)].sort((a, b) => Number(b.score) - Number(a.score) || a.id - b.id);
    for (const pageSize of [7, 200]) {
      const { rows, answers } = await service.listAll({ orderBy: 'score desc,id', pageSize });
      expect(ids(rows)).to.deep.equal(ids(sorted));
      expect(answers.map(({ totalCount, pushdown }) => [totalCount, pushdown])[0]).to.deep.equal([200, 'partial']);
    }
  });

  it('is refused when the budget does not reach all rows', async () => {
    const service = createService({ rows: createObject(ROWS) });
    await expectFailure(
      service.list({ orderBy: 'score', maxProviderCalls: 3 }),
      'WHERE_UNSUPPORTED',
      "The provider cannot sort by 'score', and Causeway would need more than 3 provider calls to sort the rows itself. Narrow the filter, or raise Elements-Max-Provider-Calls.",
    );
    expect(service.sent).to.have.length(3);
  });

  it('puts nulls last when it ascends and is made here', async () => {
    const rows = [
      { id: 1, name: null },
      { id: 2, name: 'b' },
      { id: 3, name: 'a' },
    ];
    const service = createService({ rows: createObject(rows) });
    expect(ids((await service.list({ orderBy: 'name' })).records)).to.deep.equal([3, 2, 1]);
    expect(ids((await service.list({ orderBy: 'name desc' })).records)).to.deep.equal([1, 2, 3]);
  });
});

describe('a filter that no row can pass', () => {
  const bounded = () => {
    const object = createObject(ROWS.slice(0, 10));
    const score: FieldSpec = { type: 'integer', range: ['0', '9'], filter: { '>=': 'superset' } };
    return createService({ rows: { ...object, fields: { ...object.fields, score } } });
  };

  for (const query of [{}, { orderBy: 'name' }, { pushdownOnly: true }, { page: 3 }]) {
    it(`is answered without the provider: ${JSON.stringify(query)}`, async () => {
      const service = bounded();
      const response = await service.list({ where: "score = 10 AND name = 'odd'", ...query });
      expect(response).to.include({ totalCount: 0, providerCalls: 0, pushdown: 'full' });
      expect([response.records, response.nextPage, service.sent]).to.deep.equal([[], undefined, []]);
    });
  }

  it('leaves the provider to the rest of an OR', async () => {
    const { records } = await bounded().list({ where: 'score > 9 OR id = 3' });
    expect(ids(records)).to.deep.equal([3]);
  });
});

describe('a provider that shows only so many rows of a query', () => {
  const shows = (resultWindow: number, options: Parameters<typeof createObject>[1] = {}) => {
    const rows = { ...createObject(ROWS.slice(0, 120), options), limits: { resultWindow } };
    return createService({ rows });
  };
  const endOf = ({ records, cutBy, nextPage }: Awaited<ReturnType<FakeService['list']>>) => [
    ids(records).at(-1),
    cutBy,
    nextPage,
  ];
  /** The last row that each call to the provider asked for. */
  const askedFor = (service: FakeService) =>
    service.sent.map((request) => {
      const { cursor = '0', limit } = Object(Reflect.get(Object(request), 'json'));
      return Number(cursor) + limit;
    });

  for (const where of [undefined, "name LIKE '%'"]) {
    it(`is not asked for more, and the answer says that there may be: ${where ?? 'all rows'}`, async () => {
      const service = shows(100);
      expect(endOf(await service.list({ where, pageSize: 200 }))).to.deep.equal([99, 'result-window', undefined]);
      expect(askedFor(service)).to.deep.equal([50, 100]);
    });
  }

  for (const pageSize of [1, 20, 30, 50]) {
    it(`gives every row of them once, in pages of ${pageSize}, and says so on the last`, async () => {
      const service = shows(100);
      const { rows, answers } = await service.listAll({ pageSize });
      // No page is asked for that would go beyond.
      const shown = 100 - (100 % pageSize);
      expect(ids(rows)).to.deep.equal(ids(ROWS.slice(0, shown)));
      expect(answers.map(({ cutBy }) => cutBy)).to.deep.equal([
        ...answers.slice(1).map(() => undefined),
        'result-window',
      ]);
      expect(Math.max(...askedFor(service))).to.equal(shown);
    });
  }

  it('is asked for pages that fit, when it shows less than one', async () => {
    const service = shows(30);
    expect(endOf(await service.list({ pageSize: 200 }))).to.deep.equal([29, 'result-window', undefined]);
    expect(askedFor(service)).to.deep.equal([30]);
  });

  it('is not asked to jump beyond', async () => {
    const service = shows(100, { cursorAt: String });
    expect(endOf(await service.list({ pageSize: 20, page: 5 }))).to.deep.equal([99, 'result-window', undefined]);
    expect(endOf(await service.list({ pageSize: 20, page: 6 }))).to.deep.equal([undefined, 'result-window', undefined]);
    expect(Math.max(...askedFor(service))).to.equal(100);
  });

  it('is believed when it ends before, or tells a total that ends there', async () => {
    for (const [resultWindow, total] of [
      [121, undefined],
      [120, 120],
    ] as const) {
      const whole = shows(resultWindow, {
        run: async () => ({ records: ROWS.slice(0, 120), ...(total && { total }) }),
      });
      expect(endOf(await whole.list({ pageSize: 200 }))).to.deep.equal([119, undefined, undefined]);
    }
  });

  it('is not believed when it ends there without a word', async () => {
    const silent = shows(120, { run: async () => ({ records: ROWS.slice(0, 120) }) });
    expect(endOf(await silent.list({ pageSize: 200 }))).to.deep.equal([119, 'result-window', undefined]);
  });

  it('is asked the other queries of a divided list as well, after an answer that ends with one', async () => {
    const rows = createObject([], {
      run: async (_context, { filter }) => ({ records: ROWS.filter(({ id }) => String(id) === filter?.[0]?.[2]) }),
    });
    const limits = { resultWindow: 1, maxInSize: 1 };
    const id = { type: 'integer', filter: { IN: 'exact' } } as const;
    const among = (_field: unknown, [value]: readonly Value[]) => [['id', '=', textOf(value)]];
    const divided = { ...rows, fields: { ...rows.fields, id }, limits, translator: { ...rows.translator, in: among } };
    const { answers } = await createService({ rows: divided }).listAll({ where: 'id IN (3, 5, 7)' });
    expect(answers.map(({ records, cutBy }) => [...ids(records), cutBy])).to.deep.equal([
      [3, 'result-window'],
      [5, 'result-window'],
      [7, 'result-window'],
    ]);
  });

  describe('and can go on behind an id', () => {
    const LATER = ROWS.slice(0, 230);
    /** Shows the first rows behind an id; a cursor counts them from there. */
    const goesOn = (resultWindow: number, changes: Partial<FieldSpec> = {}, isStuck = false) => {
      const object = createObject([], {
        run: async ({ send }, input) => {
          const { filter = [] } = input;
          await send({ path: '/rows', json: input });
          const bounds = isStuck ? [] : filter.filter(([field]) => field === 'id');
          const found = LATER.filter(({ id }) =>
            bounds.every(([, operator, value]) => (operator === '<' ? id < Number(value) : id > Number(value))),
          );
          return takePage(found, { ...input, filter: [] });
        },
      });
      const id: FieldSpec = {
        type: 'integer',
        nullable: false,
        sortable: true,
        filter: { '>': 'exact', '<': 'exact' },
        ...changes,
      };
      return createService({ rows: { ...object, fields: { ...object.fields, id }, limits: { resultWindow } } });
    };

    for (const pageSize of [1, 7, 50, 200]) {
      it(`gives every row once, in pages of ${pageSize}, and never asks for more than is shown`, async () => {
        const service = goesOn(100);
        const { rows, answers } = await service.listAll({ pageSize });
        expect(ids(rows)).to.deep.equal(ids(LATER));
        expect(answers.flatMap(({ cutBy }) => cutBy ?? [])).to.deep.equal([]);
        expect(Math.max(...askedFor(service))).to.be.at.most(100);
      });
    }

    it('does so in descending order, under what is checked here, and where the id is not asked for', async () => {
      const { rows } = await goesOn(100).listAll({ orderBy: 'id desc', pageSize: 60 });
      expect(ids(rows)).to.deep.equal(ids(LATER).reverse());
      const odd = await goesOn(100).listAll({ where: "name = 'odd'", fields: 'name', pageSize: 60 });
      expect(odd.rows).to.deep.equal(Array.from({ length: 115 }, () => ({ name: 'odd' })));
    });

    it('tells the total of the whole query or none', async () => {
      const { answers } = await goesOn(100).listAll({ pageSize: 50 });
      expect(answers.map(({ totalCount }) => totalCount)).to.deep.equal([230, 230, undefined, undefined, undefined]);
    });

    it('sorts all of them here', async () => {
      const { records } = await goesOn(100).list({ orderBy: 'score desc', pageSize: 3 });
      expect(ids(records)).to.deep.equal([9, 19, 29]);
    });

    for (const [why, changes, isStuck] of [
      ['its id cannot be compared exactly', { filter: { '>': 'superset' } }, false],
      ['its id can be missing', { nullable: true }, false],
      ['its rows come in another order', { sortable: false }, false],
      ['it shows the same rows again', {}, true],
    ] as const) {
      it(`not where ${why}: the answer says that there may be more`, async () => {
        const { answers } = await goesOn(100, changes, isStuck).listAll({ pageSize: 100 });
        expect(answers.at(-1)?.cutBy).to.equal('result-window');
        expect(answers.length).to.be.at.most(2);
      });
    }
  });

  it('cannot have its rows sorted here, unless all of them are shown', async () => {
    await expectFailure(
      shows(100).list({ orderBy: 'score' }),
      'WHERE_UNSUPPORTED',
      "The provider cannot sort by 'score', and Causeway cannot sort the rows itself, because the provider returns only 100 of them. Narrow the filter.",
    );
    expect((await shows(150).list({ orderBy: 'score', pageSize: 200 })).records).to.have.length(120);
  });
});

/** A string of 1 MB that is there once, however many rows have it. */
const MEGABYTE = 'x'.repeat(1024 * 1024);

describe('the bytes of a page', () => {
  const large = times(150, (id) => ({ id, name: MEGABYTE, score: (id * 7) % 150 }));
  const service = createService({ rows: createObject(large) });

  it('end it early at 64 MB, and the next one goes on from there', async () => {
    for (const where of [undefined, "name LIKE '%x'"]) {
      const { rows, answers } = await service.listAll({ where, pageSize: 100 });
      expect(answers.map(({ records, cutBy }) => [records.length, cutBy])).to.deep.equal([
        [63, 'bytes'],
        [63, 'bytes'],
        [24, undefined],
      ]);
      expect(ids(rows)).to.deep.equal(ids(large));
    }
  });

  it('are those of the fields that are asked for', async () => {
    const { records, cutBy } = await service.list({ fields: 'id,score', pageSize: 150 });
    expect([records.length, cutBy]).to.deep.equal([150, undefined]);
  });

  it('never leave it empty', async () => {
    const whole = createService({ rows: createObject([{ id: 1, name: 'x'.repeat(65 * 1024 * 1024) }]) });
    expect(ids((await whole.list()).records)).to.deep.equal([1]);
  });

  it('are those of the rows that are kept, when they are sorted here', async () => {
    const { records, totalCount } = await service.list({ orderBy: 'score', pageSize: 5, page: 3 });
    const sorted = [...large].sort((a, b) => Number(a.score) - Number(b.score));
    expect([ids(records), totalCount]).to.deep.equal([ids(sorted.slice(10, 15)), 150]);
  });

  it('refuse an order that would keep more of them', async () => {
    await expectFailure(
      service.list({ orderBy: 'score', pageSize: 100 }),
      'WHERE_UNSUPPORTED',
      "The provider cannot sort by 'score', and Causeway cannot sort the rows itself, because those up to the end of this page exceed 64 MB. Narrow the filter, or request fewer fields or a smaller page.",
    );
  });
});

describe('a page of very many rows', () => {
  const COUNT = 400_000;

  /** Answers all rows at once, and counts those that are looked at; the caller hangs up at the thousandth. */
  function createEndless() {
    const caller = new AbortController();
    let seen = 0;
    const rows = Array.from({ length: COUNT }, (_, id) => ({ id, name: 'odd', score: id % 10 }));
    const service = createService({
      rows: createObject([], {
        run: async () => ({ records: rows }),
        readRecord: (record) => {
          seen++;
          if (seen === 1000) caller.abort(new Error('The caller hung up.'));
          return record;
        },
      }),
    });
    const list = (request: object) =>
      service.resources.listRecords(
        { instance: service.instance, objectName: 'rows', signal: caller.signal },
        { pageSize: 5000, maxProviderCalls: 25, pushdownOnly: false, ...request },
      );
    return { list, seen: () => seen };
  }

  for (const request of [{ where: "name LIKE '%even%'" }, { orderBy: 'score' }]) {
    it(`is left when the caller hangs up: ${JSON.stringify(request)}`, async () => {
      const { list, seen } = createEndless();
      const failure = await list(request).then(String, String);
      expect(failure).to.equal('Error: The caller hung up.');
      expect(seen()).to.be.within(1000, COUNT / 2);
    });
  }

  it('lets others work in between', async () => {
    const rows = Array.from({ length: COUNT }, (_, id) => ({ id, name: 'odd', score: id % 10 }));
    const service = createService({ rows: createObject([], { run: async () => ({ records: rows }) }) });
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await service.list({ orderBy: 'name,score' });
    isDone = true;
    expect(turns).to.be.greaterThan(5);
  });

  it('gives one slice a turn to each of many queries', async () => {
    const pacers = Array.from({ length: 5 }, () => createPacer(new AbortController().signal));
    const resumed: number[] = [];
    let turn = 0;
    const count = () => {
      turn++;
      if (turn < 20) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(pacers.map((pacer) => pacer.pause().then(() => resumed.push(turn))));
    expect(new Set(resumed)).to.have.property('size', 5);
  });

  it('is a protocol error where a row cannot be read', async () => {
    const readRecord = (record: unknown) => Reflect.get(Object(record), 'none').none;
    const service = createService({ rows: createObject(ROWS.slice(0, 2), { readRecord }) });
    await expectFailure(service.list(), 'PROVIDER_PROTOCOL');
  });
});

describe('a page token', () => {
  let service: FakeService;
  let nextPage: string | undefined;
  const query = { where: "name != 'rare'", orderBy: 'id', fields: 'id', pageSize: 5 };

  before(async () => {
    service = createService({ rows: createObject(ROWS), others: createObject(ROWS) });
    nextPage = (await service.list(query)).nextPage;
  });

  it('opens with the same query in another spelling and another page size', async () => {
    const where = "  NOT (`name`  = 'rare') ";
    const { records } = await service.list({ where, orderBy: 'id ASC', fields: 'id', pageSize: 2, nextPage });
    expect(ids(records)).to.deep.equal([5, 6]);
  });

  for (const [what, changes] of Object.entries({
    where: { where: "name != 'odd'" },
    'no where': { where: undefined },
    orderBy: { orderBy: 'id desc' },
    fields: { fields: 'id,name' },
  })) {
    it(`does not open with another query: ${what}`, async () => {
      const { code, details } = await failureOf(service.list({ ...query, ...changes, nextPage }));
      expect(code).to.equal('REQUEST_INVALID');
      expect(details).to.deep.equal([{ path: '/query/nextPage', message: 'Not a token of this query.' }]);
    });
  }

  it('does not open with another object, instance or account', async () => {
    const request = { ...query, page: undefined, nextPage, maxProviderCalls: 25, pushdownOnly: false };
    const target = { instance: service.instance, objectName: 'others', signal: new AbortController().signal };
    const failures = [
      service.resources.listRecords(target, request),
      service.list(request, { id: 8 }),
      service.list(request, { accountId: 2 }),
    ].map((list) => failureOf(list));
    expect((await Promise.all(failures)).map(({ code }) => code)).to.deep.equal(Array(3).fill('REQUEST_INVALID'));
  });

  it('is the same for the same page, and another for each instance', async () => {
    expect((await service.list(query)).nextPage).to.equal(nextPage);
    expect((await service.list(query, { id: 8 })).nextPage).not.to.equal(nextPage);
    expect((await service.list({ ...query, pageSize: 6 })).nextPage).not.to.equal(nextPage);
  });

  it('does not open when it was changed', async () => {
    const { code } = await failureOf(service.list({ ...query, nextPage: `${nextPage}x` }));
    expect(code).to.equal('REQUEST_INVALID');
  });
});

function textOf(value: Value | undefined): string {
  return value !== undefined && 'text' in value ? value.text : String(value?.value);
}

describe('rows that are filled with the fields they do not have', () => {
  const names = Array.from({ length: 4_900 }, (_, n) => `f${n}`);
  const createFilled = (): ObjectSpec => {
    const object = createObject(
      times(1_000, (id) => ({ id })),
      { maxPageSize: 1_000 },
    );
    const more = Object.fromEntries(names.map((name): [string, FieldSpec] => [name, { type: 'string' }]));
    return { ...object, fields: { ...object.fields, ...more } };
  };

  it('take 16 MB more than the answers that they are made of: then the page ends, and the next goes on', async () => {
    const service = createService({ rows: createFilled() });
    const { records, cutBy, nextPage } = await service.list({ pageSize: 1_000 });
    expect(cutBy).to.equal('bytes');
    // Each takes 16 bytes for the member and 16 for its value, and the row 48: 157 kB.
    expect(records).to.have.length(Math.floor((16 * 1024 * 1024) / (4_905 * 32 + 48 + 16)));
    const next = await service.list({ pageSize: 5, nextPage });
    expect(ids(next.records)).to.deep.equal(times(5, (id) => ({ id: records.length + id })).map(({ id }) => id));
  });
});
