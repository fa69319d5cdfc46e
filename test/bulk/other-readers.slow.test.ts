import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { convertFile, createRowPrinter, type FileType } from '../../src/bulk/convert.ts';
import type { BulkFormat, FileColumn } from '../../src/bulk/job.ts';
import { useDatabase, useTemporaryFolder } from '../support/database.ts';

const COLUMNS: readonly FileColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'text', type: 'string' },
  { name: 'place.city, "old"', type: 'string' },
  { name: 'list', type: 'array' },
];

const TEXTS = [
  ...['', ' ', '"', '""', ',', '\n', '\r', '\r\n', '\t', "'", '\\', '\\.', '\\N', 'NULL', 'null', ';', '\ufeff'],
  ...['\u2028'],
  ...['=1+1', '+49', '-1', '@SUM(A1)', '\t=1', '"=1', 'a"b', 'a,b', 'a\r\nb', ' a ', '😀', 'é', 'é', '名'],
  ...['\u{10ffff}'],
  ...['x'.repeat(1024 * 1024), '",\r\n'.repeat(256 * 1024), '\\.\n'.repeat(1000)],
];
/** What PostgreSQL cannot hold, and what is no character in UTF-8. */
const NUL = 'a\0b';
const LONE = 'a\ud83d';

const rowOf = (text: string | null, id: number) => ({
  id,
  text,
  place: { 'city, "old"': id % 2 === 0 ? null : '' },
  list: text === null ? null : [text.slice(0, 20)],
});
const ROWS = [null, ...TEXTS].map(rowOf);

async function fileOf(rows: readonly object[], format: BulkFormat, type: FileType): Promise<Buffer> {
  const { header, print } = createRowPrinter(format, COLUMNS);
  const bytes = Buffer.from(header + rows.map((row) => print({ ...row })).join(''));
  async function* pieces() {
    yield bytes.toString();
  }
  let text = '';
  for await (const piece of convertFile(pieces(), { format, fields: COLUMNS }, { type, isDefused: false }))
    text += piece;
  return Buffer.from(text);
}

/** A statement `COPY … FROM STDIN` with what it reads, in the protocol of PostgreSQL. */
function copyIn(client: pg.Client, statement: string, data: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = {
      submit: (connection: { query: (text: string) => void }) => connection.query(statement),
      handleCopyInResponse: (connection: { sendCopyFromChunk: (chunk: Buffer) => void; endCopyFrom: () => void }) => {
        connection.sendCopyFromChunk(data);
        connection.endCopyFrom();
      },
      handleCommandComplete: () => {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    };
    Reflect.apply(client.query, client, [query]);
  });
}

const PYTHON = `
import csv, json, sys
csv.field_size_limit(10 ** 8)
kind, name = sys.argv[1:]
with open(name, encoding='utf-8', newline='' if kind == 'csv' else '\\n') as file:
    if kind == 'csv': rows = list(csv.reader(file, strict=True))
    elif kind == 'json': rows = json.load(file)
    else: rows = [json.loads(line) for line in file]
print(json.dumps(rows))`;

describe('a bulk file that others read', () => {
  const database = useDatabase();
  const folder = useTemporaryFolder('suite');

  for (const format of ['csv', 'jsonl'] as const) {
    it(`stored as ${format}, is copied as CSV into PostgreSQL, where no value is not the empty text`, async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        await client.query('create temporary table copied (id bigint, text text, city text, list jsonb)');
        const file = await fileOf(ROWS, format, 'text/csv');
        await copyIn(client, 'copy copied from stdin (format csv, header)', file);
        const { rows } = await client.query('select id::int, text, city, list from copied order by id');
        expect(rows).to.deep.equal(ROWS.map(({ place, ...row }) => ({ ...row, city: place['city, "old"'] })));
      } finally {
        await client.end();
      }
    });

    it(`stored as ${format}, is what Python reads`, async function python() {
      if (!(await has('python3'))) return this.skip();
      const read = async (kind: string, type: FileType, rows: readonly object[]) => {
        const name = join(folder.path, kind);
        await writeFile(name, await fileOf(rows, format, type));
        const { stdout } = await promisify(execFile)('python3', ['-c', PYTHON, kind, name], { maxBuffer: 1e9 });
        return JSON.parse(stdout);
      };
      const all = [...ROWS, rowOf(NUL, 1000)];
      expect(await read('json', 'application/json', all)).to.deep.equal(all);
      expect(await read('lines', 'application/x-ndjson', all)).to.deep.equal(all);
      const [header, ...cells] = await read('csv', 'text/csv', ROWS);
      expect(header).to.deep.equal(COLUMNS.map(({ name }) => name));
      expect(cells).to.deep.equal(
        ROWS.map(({ id, text, list }) => [String(id), text ?? '', '', list === null ? '' : JSON.stringify(list)]),
      );
    });
  }

  it('has half of a character as JSON has it in JSON, and as a replacement character in CSV', async () => {
    const row = rowOf(LONE, 1);
    expect(JSON.parse((await fileOf([row], 'jsonl', 'application/json')).toString())).to.deep.equal([row]);
    expect((await fileOf([row], 'csv', 'text/csv')).toString()).to.include('\r\n1,a\ufffd,"",');
  });
});

function has(program: string): Promise<boolean> {
  return promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  );
}
