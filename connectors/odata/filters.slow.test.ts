import { expect } from 'chai';
import fc from 'fast-check';
import type { ObjectSpec } from '#connector';
import { parseODataFilter } from '#connector/simulator';
import { connect, type DiscoveredConnection, type Provider, startProvider } from '#connector/testing';
import { checkFilter } from '../../src/where/check.ts';
import { compileCondition } from '../../src/where/evaluate.ts';
import { normalise } from '../../src/where/normalise.ts';
import { parseWhere } from '../../src/where/parse.ts';
import { prepareQuery } from '../../src/where/query.ts';
import type { Product } from '../../test/support/cap/rows.ts';
import { startCapServer } from '../../test/support/cap-server.ts';
import odata from './index.ts';
import { createShelves } from './simulator/rows.ts';
import { createSimulator, DEMO_CONFIGURATION, type ODataSimulatorOptions } from './simulator.ts';

type Row = Readonly<Record<string, unknown>>;

/** A service and the rows that it contains. */
interface Subject {
  readonly connection: DiscoveredConnection;
  readonly object: ObjectSpec;
  readonly rows: readonly Row[];
  readonly idField: string;
}

/** Returns the ids of the rows that match a `where`, evaluated without the service. */
function meantIds({ object, rows, idField }: Subject, where: string): unknown[] {
  const { condition } = checkFilter(parseWhere(where), object);
  const test = condition === undefined ? () => true : compileCondition(normalise(condition));
  return rows.filter(test).map((row) => row[idField]);
}

/**
 * Expects that the service finds at least the expected rows, exactly these rows if no check is left, and that the check leaves exactly
 * these rows. An independent parser must accept the filter.
 */
async function expectRows(subject: Subject, where: string, expected: readonly unknown[]): Promise<void> {
  const { plan } = prepareQuery({ where }, subject.object);
  const found: Row[] = [];
  const checked: Row[] = [];
  for (const { native, residual } of plan.queries) {
    const filter = typeof native === 'string' ? native : undefined;
    if (filter !== undefined) parseODataFilter(filter);
    const rows = await subject.connection.listAll(subject.object, { ...(filter !== undefined && { filter }) });
    found.push(...rows);
    checked.push(...rows.filter(residual === undefined ? () => true : compileCondition(residual)));
  }
  const idsOf = (rows: readonly Row[]) => rows.map((row) => row[subject.idField]);
  const asked = `${where} → ${JSON.stringify(plan.queries.map(({ native }) => native))}`;
  expect(idsOf(found), asked).to.include.members([...expected]);
  if (plan.residual === undefined) expect(idsOf(found), `${asked} alone`).to.have.members([...expected]);
  expect(idsOf(checked), `${asked}, checked`).to.have.members([...expected]);
}

type Test = (product: Product) => boolean;

/** Returns a test that is false for null, because null matches no comparison. It does not use the platform's own evaluator. */
const known =
  <Name extends keyof Product>(name: Name, test: (value: NonNullable<Product[Name]>) => boolean): Test =>
  (product) => {
    const value = product[name];
    return value !== null && value !== undefined && test(value);
  };

const instant = (text: string) => Date.parse(text);

/** Every construct on every type. `full` means that the service evaluates the whole condition. */
const CASES: readonly { readonly where: string; readonly test: Test; readonly full: boolean }[] = [
  { where: 'stock = 9', test: known('stock', (stock) => stock === 9), full: true },
  { where: 'stock != 9', test: known('stock', (stock) => stock !== 9), full: true },
  { where: 'stock < 0', test: known('stock', (stock) => stock < 0), full: true },
  { where: 'stock <= -1', test: known('stock', (stock) => stock <= -1), full: true },
  { where: 'stock > 30', test: known('stock', (stock) => stock > 30), full: true },
  { where: 'stock >= 30', test: known('stock', (stock) => stock >= 30), full: true },
  { where: 'stock in (1, 2, 9)', test: known('stock', (stock) => [1, 2, 9].includes(stock)), full: true },
  { where: 'stock not in (1, 2, 9)', test: known('stock', (stock) => ![1, 2, 9].includes(stock)), full: true },
  { where: 'stock < 99999999999', test: known('stock', () => true), full: true },
  { where: 'stock > 99999999999', test: () => false, full: true },
  { where: 'stock = 99999999999', test: () => false, full: true },
  { where: 'stock != -99999999999', test: known('stock', () => true), full: true },
  { where: 'stock is null', test: ({ stock }) => stock === null, full: true },
  { where: 'stock is not null', test: ({ stock }) => stock !== null, full: true },
  { where: 'stock between 3 and 5', test: known('stock', (stock) => stock >= 3 && stock <= 5), full: true },
  { where: 'not stock between 3 and 5', test: known('stock', (stock) => stock < 3 || stock > 5), full: true },
  { where: 'price = 37.25', test: known('price', (price) => Number(price) === 37.25), full: true },
  { where: 'price != 37.25', test: known('price', (price) => Number(price) !== 37.25), full: true },
  { where: 'price < 37.25', test: known('price', (price) => Number(price) < 37.25), full: true },
  { where: 'price = 37.250000000000000001', test: () => false, full: true },
  {
    where: 'price < 37.250000000000000001',
    test: known('price', (price) => Number(price) <= 37.25),
    full: true,
  },
  { where: 'price > 37.250000000000000001', test: known('price', (price) => Number(price) > 37.25), full: true },
  { where: 'weight = 1.1234575', test: known('weight', (weight) => weight === '1.1234575'), full: false },
  { where: 'weight < 1.1234575', test: known('weight', (weight) => Number(weight) < 1.1234575), full: false },
  { where: 'weight != 1.1234575', test: known('weight', (weight) => weight !== '1.1234575'), full: false },
  { where: 'rating >= 2.5', test: known('rating', (rating) => rating >= 2.5), full: false },
  { where: 'rating in (0.1, 0.2)', test: known('rating', (rating) => rating === 0.1 || rating === 0.2), full: false },
  { where: 'views = 9007199254740993', test: known('views', (views) => views === '9007199254740993'), full: true },
  { where: 'views > 9007199254740992', test: known('views', (views) => BigInt(views) > 9007199254740992n), full: true },
  { where: 'released = 2023-04-04', test: known('released', (released) => released === '2023-04-04'), full: true },
  { where: 'released < 2021-06-01', test: known('released', (released) => released < '2021-06-01'), full: true },
  {
    where: 'soldAt >= 2024-06-01T12:00:00+02:00',
    test: known('soldAt', (soldAt) => instant(soldAt) >= instant('2024-06-01T10:00:00Z')),
    full: true,
  },
  {
    where: 'changedAt = 2025-05-05T04:15:30.444Z',
    test: known('changedAt', (changedAt) => changedAt === '2025-05-05T04:15:30.444Z'),
    full: true,
  },
  {
    where: 'changedAt <= 2025-05-05T04:15:30.444Z',
    test: known('changedAt', (changedAt) => changedAt <= '2025-05-05T04:15:30.444Z'),
    full: true,
  },
  ...(['<', '<=', '>', '>=', '=', '!='] as const).map((operator) => ({
    where: `changedAt ${operator} 2025-05-05T04:15:30.4440001Z`,
    test: known('changedAt', (changedAt) => {
      const isBefore = changedAt <= '2025-05-05T04:15:30.444Z';
      if (operator === '!=') return true;
      return operator !== '=' && operator.startsWith('<') === isBefore;
    }),
    full: true,
  })),
  { where: 'active = true', test: known('active', (active) => active), full: true },
  { where: 'active != true', test: known('active', (active) => !active), full: true },
  { where: 'not active = true', test: known('active', (active) => !active), full: true },
  { where: "category = 'book'", test: known('category', (category) => category === 'book'), full: false },
  { where: "category != 'book'", test: known('category', (category) => category !== 'book'), full: false },
  { where: "category in ('book', 'tool')", test: known('category', (category) => category !== 'music'), full: false },
  {
    where: "category not in ('book', 'tool')",
    test: known('category', (category) => category === 'music'),
    full: false,
  },
  { where: "category like 'book'", test: known('category', (category) => category === 'book'), full: false },
  { where: "description like 'short%'", test: known('description', (text) => text.startsWith('short')), full: false },
  { where: "description like '%tool'", test: known('description', (text) => text.endsWith('tool')), full: false },
  { where: "description like '%or%'", test: known('description', (text) => text.includes('or')), full: false },
  { where: "description like '%o_l%'", test: known('description', (text) => /o.l/.test(text)), full: false },
  // The pattern becomes a test for null, whose rows are checked again.
  { where: "description like '%'", test: known('description', () => true), full: false },
  { where: "description not like '%or%'", test: known('description', (text) => !text.includes('or')), full: false },
  { where: "not description not like '%or%'", test: known('description', (text) => text.includes('or')), full: false },
  { where: "description = ''", test: known('description', (text) => text === ''), full: false },
  { where: 'description is null', test: ({ description }) => description === null, full: true },
  {
    where: "externalId = '3f2504e0-4f89-41d3-9a0c-000000000011'",
    test: ({ externalId }) => externalId === '3f2504e0-4f89-41d3-9a0c-000000000011',
    full: false,
  },
  { where: "externalId = 'no identifier'", test: () => false, full: true },
  { where: "externalId != 'no identifier'", test: known('externalId', () => true), full: true },
  {
    where: 'stock < 0 or (price > 100 and not (active = true or released < 2022-01-01))',
    test: (product) =>
      known('stock', (stock) => stock < 0)(product) ||
      (known('price', (price) => Number(price) > 100)(product) &&
        known('active', (active) => !active)(product) &&
        known('released', (released) => released >= '2022-01-01')(product)),
    full: true,
  },
];

/** Texts with a meaning in URLs, in OData, in SQL patterns or in JSON. */
const HOSTILE = [
  "O'Neil",
  "''",
  "'",
  "' or 1 eq 1 or '' eq '",
  '"quoted" and “typographic”',
  'back\\slash',
  'line\nbreak',
  '100% _real_',
  '%',
  '_',
  '%27',
  '日本語',
  '😀 emoji',
  'plus + and & amp',
  'a/b?c#d;e=f',
  ' leading and trailing ',
  '(brackets) [x] {y}',
  'null',
  '2024-01-01T00:00:00Z',
  '$filter=1 eq 1',
  '\u0000',
  '',
];

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns a LIKE pattern that matches only the text itself. */
function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Returns the value of a field. The dots of its name lead into nested objects. */
function valueAt(row: Row, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (value == null ? value : Object(value)[key]), row);
}

/** Returns filters over a subject's own values and their neighbours. */
function whereTexts({ object, rows }: Subject): fc.Arbitrary<string> {
  const predicates = Object.entries(object.fields).flatMap(([name, field]) => {
    const quotes = field.type === 'string';
    const values = rows.map((row) => valueAt(row, name)).filter((value) => value != null && typeof value !== 'object');
    if (field.type === 'object' || field.type === 'array' || values.length === 0) return [];
    const literal = fc.constantFrom(...values).map((value) => (quotes ? sqlText(String(value)) : String(value)));
    const operator = fc.constantFrom(
      ...(quotes ? ['=', '!='] : field.type === 'boolean' ? ['=', '!='] : ['=', '!=', '<', '<=', '>', '>=']),
    );
    const part = fc.tuple(fc.constantFrom(...values), fc.nat(6), fc.nat(6));
    return [
      fc.tuple(operator, literal).map(([word, value]) => `${name} ${word} ${value}`),
      fc
        .tuple(fc.boolean(), fc.array(literal, { minLength: 1, maxLength: 4 }))
        .map(([negated, list]) => `${name} ${negated ? 'not ' : ''}in (${list.join(', ')})`),
      fc.boolean().map((negated) => `${name} is ${negated ? 'not ' : ''}null`),
      ...(quotes
        ? [
            fc
              .tuple(part, fc.constantFrom('%x', 'x%', '%x%', 'x', '_x%'), fc.boolean())
              .map(([[value, from, length], form, negated]) => {
                const text = likeText([...String(value)].slice(from, from + length).join(''));
                return `${name} ${negated ? 'not ' : ''}like ${sqlText(form.replace('x', () => text))}`;
              }),
          ]
        : []),
    ];
  });
  const { tree } = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
    leaf: fc.oneof(...predicates),
    tree: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      tie('leaf'),
      fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a} and ${b})`),
      fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a} or ${b})`),
      tie('tree').map((a) => `not (${a})`),
    ),
  }));
  return tree;
}

async function expectRandomFiltersToAgree(subject: Subject, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(whereTexts(subject), async (where) => expectRows(subject, where, meantIds(subject, where))),
    { numRuns, seed: 20260131 },
  );
}

describe('OData filters on SAP CAP', function () {
  this.timeout(60_000);
  let subject: Subject;
  let literal: Subject;
  let stop: () => Promise<void>;

  before(async () => {
    const server = await startCapServer();
    stop = server.stop;
    const connection = await connect(odata, { config: { 'base.url': server.url } }).discover();
    subject = {
      connection,
      object: connection.object('Products'),
      rows: [...server.rows.Products].map(toRow),
      idField: 'ID',
    };
    const binary = await connect(odata, { config: { 'base.url': server.url, 'text.binary': true } }).discover();
    literal = { ...subject, connection: binary, object: binary.object('Products') };
  });

  after(() => stop());

  function toRow(product: Product): Row {
    return { ...product };
  }

  function idsWhere(test: Test): readonly number[] {
    return subject.rows
      .map((row) => row as unknown as Product)
      .filter(test)
      .map(({ ID }) => ID);
  }

  for (const { where, test, full } of CASES) {
    it(`answers ${where}${full ? ' alone' : ''}`, async () => {
      expect(prepareQuery({ where }, subject.object).plan.pushdown === 'full').to.equal(full);
      await expectRows(subject, where, idsWhere(test));
    });
  }

  it('answers filters on text alone when the service is said to compare text literally', async () => {
    const texts = CASES.filter(
      ({ where }) =>
        /^(not )?(category|description) /.test(where) && !where.includes('%o_l%') && !where.includes("like '%'"),
    );
    for (const { where, test } of texts) {
      expect(prepareQuery({ where }, literal.object).plan.pushdown, where).to.equal('full');
      await expectRows(literal, where, idsWhere(test));
    }
  });

  it('finds hostile text, and nothing but it, with every operator on text', async () => {
    for (const text of HOSTILE) {
      const value = sqlText(text);
      const pattern = likeText(text);
      await expectRows(
        subject,
        `title = ${value}`,
        idsWhere(({ title }) => title === text),
      );
      await expectRows(
        subject,
        `title != ${value}`,
        idsWhere(({ title }) => title !== text),
      );
      await expectRows(
        subject,
        `title in (${value}, 'upper')`,
        idsWhere(({ title }) => title === text || title === 'upper'),
      );
      await expectRows(
        subject,
        `title like ${sqlText(`${pattern}%`)}`,
        idsWhere(({ title }) => title.startsWith(text)),
      );
      await expectRows(
        subject,
        `title like ${sqlText(`%${pattern}`)}`,
        idsWhere(({ title }) => title.endsWith(text)),
      );
      await expectRows(
        subject,
        `title like ${sqlText(`%${pattern}%`)}`,
        idsWhere(({ title }) => title.includes(text)),
      );
      await expectRows(
        subject,
        `title not like ${sqlText(`%${pattern}%`)}`,
        idsWhere(({ title }) => !title.includes(text)),
      );
    }
  });

  it('finds decimals of more than fifteen digits by the digits that CAP shows', async () => {
    const { connection, object } = subject;
    const weights = ['123456789012345.67', '0.12345678901234567', '-9876543210987654.3', '1234567890123456789.5'];
    const ids = weights.map((_, index) => 7000 + index);
    for (const [index, weight] of weights.entries()) {
      const values = { ID: ids[index], title: 'digits', weight };
      await connection.run(object.create, { values, fields: [] });
    }
    const rows = await connection.listAll(object);
    for (const row of rows.filter(({ ID }) => ids.some((id) => id === ID))) {
      for (const where of [
        `weight = ${row.weight}`,
        `weight >= ${row.weight}`,
        `weight <= ${row.weight}`,
        `weight in (${row.weight}, 1)`,
      ]) {
        const meant = meantIds({ ...subject, rows }, where);
        expect(meant).to.include(row.ID);
        await expectRows(subject, where, meant);
      }
    }
    for (const id of ids) await connection.run(object.remove, { id: String(id) });
  });

  it('takes a value of 10 KB', async () => {
    const filter = subject.object.translator?.compare?.(
      { name: 'title', native: 'title', nativeType: 'Edm.String', type: 'string' },
      '=',
      { kind: 'string', value: `${'x'.repeat(10_000)}'` },
    );
    expect(await subject.connection.listAll(subject.object, { filter })).to.deep.equal([]);
  });

  it('finds text in the shape of a date-time, which CAP reads as an instant', async () => {
    const documents = subject.connection.object('Documents');
    const text = '2024-01-01T00:00:00Z';
    await subject.connection.run(documents.create, { values: { code: 'instant', title: text }, fields: [] });
    const rows = [{ code: 'instant', title: text }];
    for (const where of [
      `title = '${text}'`,
      `title in ('${text}')`,
      `title like '%${text}'`,
      `title like '${text}%'`,
    ]) {
      await expectRows({ connection: subject.connection, object: documents, rows, idField: 'code' }, where, [
        'instant',
      ]);
    }
  });

  it('agrees with the meaning of 300 random filters', () => expectRandomFiltersToAgree(subject, 300));

  it('agrees with the meaning of 300 random filters when text is compared literally', () =>
    expectRandomFiltersToAgree(literal, 300));
});

describe('OData filters on the simulator', function () {
  this.timeout(60_000);
  let simulator: Provider | undefined;

  afterEach(() => simulator?.stop());

  async function start(options: Partial<ODataSimulatorOptions>, config: Row = {}): Promise<Subject> {
    simulator = await startProvider(odata, (given) => createSimulator({ ...given, ...options }), DEMO_CONFIGURATION);
    const connection = await simulator.connect(config).discover();
    return {
      connection,
      object: connection.object('Products'),
      rows:
        createShelves()
          .find(({ name }) => name === 'Products')
          ?.table.rows() ?? [],
      idField: 'Id',
    };
  }

  it('agrees with the meaning of random filters', async () => {
    await expectRandomFiltersToAgree(await start({}), 300);
  });

  it('loses no row when the service compares text without regard to case', async () => {
    await expectRandomFiltersToAgree(await start({ collation: 'ignoring case' }), 300);
  });

  it('answers text alone when the service is said to compare literally', async () => {
    await expectRandomFiltersToAgree(await start({}, { 'text.binary': true }), 300);
  });

  it('loses no row on a service that keeps doubles and prints them rounded', async () => {
    const subject = await start({ quirks: { keepsDoubles: true } });
    const shown = await subject.connection.listAll(subject.object);
    const rounded = { ...subject, rows: shown };
    const weights = shown.map(({ Weight }) => Weight).filter((weight) => weight !== null);
    // The service must compare with another number than it prints. Otherwise this test would prove nothing.
    const kept = (subject.rows[1]?.Weight ?? '').toString();
    expect(Number(weights[1])).to.not.equal(Number(kept));
    for (const weight of weights.slice(0, 20)) {
      for (const operator of ['=', '!=', '<', '<=', '>', '>=']) {
        const where = `Weight ${operator} ${weight}`;
        await expectRows(rounded, where, meantIds(rounded, where));
      }
      const where = `Weight in (${weight}, 3)`;
      await expectRows(rounded, where, meantIds(rounded, where));
    }
  });

  for (const config of [{}, { 'text.binary': true }]) {
    it(`loses no row with a backslash to a service that does not escape it, with ${JSON.stringify(config)}`, async () => {
      const subject = await start({ quirks: { escapesInPatterns: true } }, config);
      for (const pattern of ['back\\\\%', '%\\\\slash', '%k\\\\s%', '%\\\\%', 'back\\\\slash', '%ck\\\\_lash']) {
        for (const where of [`Name like '${pattern}'`, `Name not like '${pattern}'`]) {
          await expectRows(subject, where, meantIds(subject, where));
        }
        expect(meantIds(subject, `Name like '${pattern}'`), pattern).to.have.length(1);
      }
    });
  }

  it("asks Apache Olingo's servers for nothing that they refuse", async () => {
    const subject = await start({
      quirks: { failsOnNull: true, failsOnPageSizeBesideTop: true, tellsBytesFromIntegers: true },
    });
    await expectRandomFiltersToAgree(subject, 200);
    const lines = { ...subject, object: subject.connection.object('OrderLines'), idField: 'id' };
    const bytes = { ...lines, rows: await subject.connection.listAll(lines.object) };
    for (const operator of ['=', '!=', '<', '<=', '>', '>=']) {
      for (const number of [0, 11, 255, 256]) {
        const where = `Discount ${operator} ${number}`;
        await expectRows(bytes, where, meantIds(bytes, where));
      }
    }
  });

  it('asks nothing of a filter that is said to be wrong', async () => {
    const subject = await start({ quirks: { filter: 'ignored' } }, { 'filter.local': true });
    const where = "Name like '%a%' and Stock > 5 and Category in ('Book', 'Tool')";
    expect(prepareQuery({ where }, subject.object).plan).to.have.property('pushdown', 'none');
    await expectRows(subject, where, meantIds(subject, where));
    const orders = subject.connection.object('Orders');
    expect(await subject.connection.run(orders.get, { id: "A/0'x", fields: [] })).to.have.property('Code', "A/0'x");
  });

  it('filters enumerations by name and finds nothing for an unknown one', async () => {
    const subject = await start({});
    const idsOf = (test: (row: Row) => boolean) => subject.rows.filter(test).map(({ Id }) => Id);
    await expectRows(
      subject,
      "Category = 'Book'",
      idsOf(({ Category }) => Category === 'Book'),
    );
    await expectRows(
      subject,
      "Category != 'Book'",
      idsOf(({ Category }) => Category !== 'Book' && Category !== null),
    );
    expect(prepareQuery({ where: "Category = 'Book'" }, subject.object).plan.pushdown).to.equal('full');
  });

  it('filters and sorts nested properties by their path', async () => {
    const subject = await start({});
    const where = "Package.Store.City = 'L''Aquila' and Package.Height <= 7.25";
    const { plan } = prepareQuery({ where }, subject.object);
    expect(plan.native).to.equal("(Package/Store/City eq 'L''Aquila' and Package/Height le 7.25)");
    await expectRows(subject, where, meantIds(subject, where));
    expect(meantIds(subject, where)).to.have.length.above(0);
  });
});
