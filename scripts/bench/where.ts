/**
 * Measures the query language on one core beside the parsers a user would pick instead, in the same run.
 * `node scripts/bench/where.ts [--seconds 1] [--json]`: each figure is the best of three runs of that length.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { JastBuilder } from '@atlaskit/jql-ast';
import odata from '@balena/odata-parser';
import { parseQuery as parseJetstream } from '@jetstreamapp/soql-parser-js';
import soql from '@salesforce/soql-common/lib/soql-parser/soql-parser.js';
import sqlParser from 'node-sql-parser';
import { parse as parsePostgres } from 'pgsql-ast-parser';
import { translator } from '../../connectors/odata/where.ts';
import { defineObject, type ObjectSpec } from '../../src/connector/index.ts';
import { createQueryCache } from '../../src/resources/query.ts';
import { compileCondition, type FieldSpec, prepareQuery, type Row } from '../../src/where/index.ts';
import { parseWhere } from '../../src/where/parse.ts';

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '1' }, json: { type: 'boolean', default: false } },
});
const runMs = Number(options.seconds) * 1000;
const SIZES = [1, 3, 10, 25, 50];
const MOST = 500;

/** How one language writes the five kinds of predicate; all of them have these. */
interface Dialect {
  readonly quote: string;
  readonly operators: Readonly<Record<'=' | '!=' | '>=' | '<', string>>;
  readonly instant: (text: string) => string;
  readonly words: { readonly and: string; readonly or: string; readonly in: string };
}

const SYMBOLS = { '=': '=', '!=': '!=', '>=': '>=', '<': '<' };
const WORDS = { and: 'AND', or: 'OR', in: 'IN' };
const LOWER = { and: 'and', or: 'or', in: 'in' };
const plain = (text: string) => text;

const DIALECTS = {
  where: { quote: "'", operators: SYMBOLS, instant: plain, words: WORDS },
  soql: { quote: "'", operators: SYMBOLS, instant: plain, words: WORDS },
  odata: {
    quote: "'",
    operators: { '=': 'eq', '!=': 'ne', '>=': 'ge', '<': 'lt' },
    // The form of OData 2 and 3, because this parser does not know the bare one.
    instant: (text) => `datetime'${text}'`,
    words: LOWER,
  },
  jql: { quote: '"', operators: SYMBOLS, instant: (text) => `"${text.slice(0, 10)}"`, words: LOWER },
  sql: { quote: "'", operators: SYMBOLS, instant: (text) => `'${text}'`, words: WORDS },
} as const satisfies Record<string, Dialect>;

function predicate({ quote, operators, instant, words }: Dialect, index: number): string {
  const text = (value: string) => `${quote}${value}${quote}`;
  const kinds = [
    () => `name${index} ${operators['=']} ${text(`Smith ${index}`)}`,
    () => `amount${index} ${operators['>=']} ${index}.5`,
    () => `status${index} ${words.in} (${text('open')}, ${text('closed')}, ${text('waiting')})`,
    () => `created${index} ${operators['<']} ${instant('2026-01-31T08:30:00Z')}`,
    () => `city${index} ${operators['!=']} ${text('Oslo')}`,
  ];
  return (kinds[index % kinds.length] ?? plain)('');
}

/** From the third predicate on, the first two are an OR in parentheses. */
function filterOf(dialect: Dialect, size: number): string {
  const { and, or } = dialect.words;
  const predicates = Array.from({ length: size }, (_, index) => predicate(dialect, index));
  const [first, second, ...rest] = predicates;
  if (size < 3) return predicates.join(` ${and} `);
  return [`(${first} ${or} ${second})`, ...rest].join(` ${and} `);
}

const EXACT = {
  '=': 'exact',
  '!=': 'exact',
  '<': 'exact',
  '<=': 'exact',
  '>': 'exact',
  '>=': 'exact',
  IN: 'exact',
} as const;

function fieldsOf(size: number): Record<string, FieldSpec> {
  const kinds: readonly (readonly [string, FieldSpec])[] = [
    ['name', { type: 'string', nativeType: 'Edm.String', filter: EXACT }],
    ['amount', { type: 'number', nativeType: 'Edm.Decimal', filter: EXACT }],
    ['status', { type: 'string', nativeType: 'Edm.String', filter: EXACT }],
    ['created', { type: 'datetime', nativeType: 'Edm.DateTimeOffset', filter: EXACT }],
    ['city', { type: 'string', nativeType: 'Edm.String', filter: EXACT }],
  ];
  const entries = Array.from({ length: size }, (_, index): [string, FieldSpec] => {
    const [name = '', spec = { type: 'string' } as const] = kinds[index % kinds.length] ?? [];
    return [`${name}${index}`, spec];
  });
  return Object.fromEntries(entries);
}

function objectOf(size: number): ObjectSpec {
  return defineObject<string>({ fields: fieldsOf(size), shape: { kind: 'any' }, translator });
}

/** Runs per second: the best of three, because whatever disturbs a run makes it slower. */
function measure(work: () => unknown): number {
  for (let warm = performance.now() + runMs / 3; performance.now() < warm; ) work();
  const runs = [1, 2, 3].map(() => {
    let count = 0;
    const startedAt = performance.now();
    const endAt = startedAt + runMs / 3;
    while (performance.now() < endAt) {
      work();
      count++;
    }
    return (count * 1000) / (performance.now() - startedAt);
  });
  return Math.max(...runs);
}

const salesforce = soql.SOQLParser({ isApex: false, isMultiCurrencyEnabled: true, apiVersion: 62 });
const sql = new sqlParser.Parser();

/** What a user would pick instead, each on the same filter in its own syntax. An error would make the figure worthless. */
const OTHERS: Readonly<Record<string, (size: number) => () => unknown>> = {
  '@jetstreamapp/soql-parser-js': (size) => {
    const text = `SELECT Id FROM Account WHERE ${filterOf(DIALECTS.soql, size)}`;
    return () => parseJetstream(text);
  },
  '@salesforce/soql-common': (size) => {
    const text = `SELECT Id FROM Account WHERE ${filterOf(DIALECTS.soql, size)}`;
    return () => assertNoErrors(salesforce.parseQuery(text).getParserErrors());
  },
  '@balena/odata-parser': (size) => {
    const text = filterOf(DIALECTS.odata, size);
    return () => odata.parse(text, { startRule: 'ProcessRule', rule: 'FilterByExpression' });
  },
  '@atlaskit/jql-ast': (size) => {
    const text = filterOf(DIALECTS.jql, size);
    return () => assertNoErrors(new JastBuilder().build(text).errors);
  },
  'node-sql-parser': (size) => {
    const text = `SELECT * FROM t WHERE ${filterOf(DIALECTS.sql, size)}`;
    return () => sql.astify(text, { database: 'postgresql' });
  },
  'pgsql-ast-parser': (size) => {
    const text = `SELECT * FROM t WHERE ${filterOf(DIALECTS.sql, size)}`;
    return () => parsePostgres(text);
  },
};

function assertNoErrors(errors: readonly unknown[]): void {
  if (errors.length > 0) throw new Error(`A parser refuses its filter: ${String(errors[0])}`);
}

function row(index: number): Row {
  const extra = Array.from({ length: 17 }, (_, field): [string, unknown] => [
    `field${field}`,
    `value ${index} ${field}`,
  ]);
  const own = {
    name: index % 2 === 0 ? 'Smith' : 'Jones',
    amount: index % 1000,
    created: new Date(1_700_000_000_000 + index * 60_000).toISOString(),
  };
  return { ...own, ...Object.fromEntries(extra) };
}

/** Rows per second that a residual of three predicates goes through, on records of 20 fields. */
function measureResidual(): number {
  const rows = Array.from({ length: 10_000 }, (_, index) => row(index));
  const where = "name = 'Smith' AND amount >= 100.5 AND created < 2023-11-20T00:00:00Z";
  const fields: Record<string, FieldSpec> = {
    name: { type: 'string' },
    amount: { type: 'number' },
    created: { type: 'datetime' },
  };
  const { residual } = prepareQuery({ where }, { fields }).plan;
  if (residual === undefined) throw new Error('Nothing is left to check.');
  const matches = compileCondition(residual);
  return measure(() => rows.filter(matches)) * rows.length;
}

const perSecond = (value: number) => Math.round(value).toLocaleString('en');

const parsing = Object.fromEntries([
  ['parse', SIZES.map((size) => measureText(size, parseWhere))],
  ['parse + check + plan + translate', SIZES.map((size) => measurePrepare(size))],
  ['the same filter again (cache)', SIZES.map((size) => measureCached(size))],
  ...Object.entries(OTHERS).map(([name, prepare]) => [name, SIZES.map((size) => measure(prepare(size)))] as const),
]);

function measureText(size: number, work: (text: string) => unknown): number {
  const text = filterOf(DIALECTS.where, size);
  return measure(() => work(text));
}

function measurePrepare(size: number): number {
  const object = objectOf(size);
  return measureText(size, (where) => prepareQuery({ where }, object));
}

function measureCached(size: number): number {
  const object = objectOf(size);
  const prepare = createQueryCache();
  return measureText(size, (where) => prepare(object, { where }));
}

const scaling = [1, 10, 50, 100, 250, MOST].map((size) => ({
  predicates: size,
  'parse µs per predicate': Number((1e6 / measureText(size, parseWhere) / size).toFixed(2)),
  'all steps µs per predicate': Number((1e6 / measurePrepare(size) / size).toFixed(2)),
}));
const residualRowsPerSecond = measureResidual();
const machine = `one core of ${cpus()[0]?.model}, Node.js ${process.version}`;

if (options.json) {
  console.log(JSON.stringify({ machine, sizes: SIZES, parsing, scaling, residualRowsPerSecond }));
} else {
  console.log(`Operations per second on ${machine}, filters of n predicates\n`);
  const header = Object.fromEntries(SIZES.map((size, index) => [`n = ${size}`, index]));
  console.table(
    Object.fromEntries(
      Object.entries(parsing).map(([name, figures]) => [
        name,
        Object.fromEntries(Object.entries(header).map(([title, index]) => [title, perSecond(figures[index] ?? 0)])),
      ]),
    ),
  );
  console.table(scaling);
  console.log(`Residual of three predicates on records of 20 fields: ${perSecond(residualRowsPerSecond)} rows/s`);
}
