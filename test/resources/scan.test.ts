import { expect } from 'chai';
import { createPacer } from '../../src/pace.ts';
import { createObject, createService, type FakeRow, type FakeService, failureOf } from './fake-provider.ts';

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
    expect(await service.list({ where: 'score >= 5' })).not.to.have.property('totalCount');
  });

  it('stops at the budget with what it found, and goes on from there', async () => {
    const request = { where: "name = 'rare'", pageSize: 2 };
    const first = await service.list({ ...request, maxProviderCalls: 20 });
    expect(first).to.deep.include({ providerCalls: 20, cutBy: 'scan-budget', pushdown: 'none' });
    expect(ids(first.records)).to.deep.equal([999]);
    const second = await service.list({ ...request, maxProviderCalls: 1000, nextPage: first.nextPage });
    expect(second).not.to.have.property('cutBy');
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
    expect((await failureOf(service.list())).code).to.equal('PROVIDER_PROTOCOL');
  });

  it('refuses a text that is too long for the patterns of the filter, and never passes it over', async () => {
    const where = times(100, (index) => ({ id: index }))
      .map(({ id }) => `name LIKE '%${id}x%'`)
      .join(' OR ');
    const withName = (name: string) => createService({ rows: createObject([{ id: 1, name, score: 1, place: null }]) });
    const found = await withName(`${'n'.repeat(41_000)}99x`).list({ where });
    expect(ids(found.records)).to.deep.equal([1]);
    const { code, message } = await failureOf(withName(`${'n'.repeat(42_000)}99x`).list({ where }));
    expect(code).to.equal('WHERE_UNSUPPORTED');
    expect(message).to.match(/^'name' of a row has 42003 characters\. .* at most 41943 characters/);
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
    const { code, message } = await failureOf(service.list({ orderBy: 'score', maxProviderCalls: 3 }));
    expect(code).to.equal('WHERE_UNSUPPORTED');
    expect(message).to.equal(
      "The provider cannot sort by 'score', and there are more rows than 3 provider calls can fetch to sort them here. Narrow the filter, or raise Elements-Max-Provider-Calls.",
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
    const { code, message } = await failureOf(service.list({ orderBy: 'score', pageSize: 100 }));
    expect([code, message]).to.deep.equal([
      'WHERE_UNSUPPORTED',
      "The provider cannot sort by 'score', and the rows up to the end of this page are more than 64 MB, too many to sort them here. Narrow the filter, or ask for fewer fields or a smaller page.",
    ]);
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
    expect((await failureOf(service.list())).code).to.equal('PROVIDER_PROTOCOL');
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
    ].map(failureOf);
    expect((await Promise.all(failures)).map(({ code }) => code)).to.deep.equal(Array(3).fill('REQUEST_INVALID'));
  });

  it('does not open when it was changed', async () => {
    const { code } = await failureOf(service.list({ ...query, nextPage: `${nextPage}x` }));
    expect(code).to.equal('REQUEST_INVALID');
  });
});
