import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BulkJobError, Causeway } from '../../src/index.js';
import { type Answer, failure, json, serve } from '../server.js';

const ROWS = Array.from({ length: 50 }, (_, id) => ({ id, name: `Zoë ${'x'.repeat(id)}` }));
const FILE = Buffer.from(`${ROWS.map((row) => JSON.stringify(row)).join('\n')}\n`);

const created = json({ id: 7, status: 'CREATED', instanceId: 1 });
const job = (status: string) => json({ id: 7, status, fileFormat: 'jsonl', objectName: 'orders' });

/** Returns a response with the file from the requested position, cut off after so many bytes. */
function file(bytes = FILE.length): Answer {
  return (response, { headers }) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const part = FILE.subarray(from);
    response.writeHead(from === 0 ? 200 : 206, { ETag: '"one"', 'Content-Length': String(part.length) });
    if (bytes >= part.length) response.end(part);
    else response.write(part.subarray(0, bytes), () => response.destroy());
  };
}

function client(url: string): Causeway {
  return new Causeway({ url, userSecret: 'u', organizationSecret: 'o', elementToken: 't' });
}

describe('a bulk download', () => {
  it('waits for the job and goes on where the connection broke', async () => {
    await using server = await serve(created, job('RUNNING'), job('COMPLETED'), file(1000), file(501), file());
    const rows: unknown[] = [];
    for await (const row of client(server.url).bulk.rows({ objectName: 'orders', fields: ['id', 'name'] }))
      rows.push(row);
    assert.deepEqual(rows, ROWS);
    const [start, , , ...parts] = server.received;
    assert.deepEqual(JSON.parse(start?.body ?? ''), { format: 'jsonl', objectName: 'orders', fields: 'id,name' });
    assert.deepEqual(
      parts.map(({ url, headers }) => [url, headers.range, headers['if-range'], headers.accept]),
      [
        ['/elements/api-v2/bulk/7/orders', undefined, undefined, 'application/x-ndjson'],
        ['/elements/api-v2/bulk/7/orders', 'bytes=1000-', '"one"', 'application/x-ndjson'],
        ['/elements/api-v2/bulk/7/orders', 'bytes=1501-', '"one"', 'application/x-ndjson'],
      ],
    );
  });

  it('gives up when new connections bring nothing', async () => {
    await using server = await serve(created, job('COMPLETED'), file(0));
    const options = { url: server.url, userSecret: 'u', organizationSecret: 'o', elementToken: 't', retries: 1 };
    const rows = new Causeway(options).bulk.rows({ objectName: 'orders' });
    await assert.rejects(rows.next(), { name: 'NetworkError' });
  });

  it('does not join two files', async () => {
    const changed: Answer = (response) => response.writeHead(200, { ETag: '"two"' }).end(FILE);
    await using server = await serve(created, job('COMPLETED'), file(1000), changed);
    const read = async () => {
      for await (const _ of client(server.url).bulk.rows({ objectName: 'orders' }));
    };
    await assert.rejects(read, /changed while it was read/);
  });

  it('goes into a file', async () => {
    await using server = await serve(created, job('COMPLETED'), job('COMPLETED'), file(10), file());
    const folder = await mkdtemp(join(tmpdir(), 'causeway-'));
    const download = await client(server.url).bulk.start({ objectName: 'orders' });
    await download.wait();
    await download.toFile(join(folder, 'orders.jsonl'));
    assert.deepEqual(await readFile(join(folder, 'orders.jsonl')), FILE);
    await rm(folder, { recursive: true });
  });

  it('goes on behind the bytes that are there already', async () => {
    await using server = await serve(job('COMPLETED'), file(10), file());
    const folder = await mkdtemp(join(tmpdir(), 'causeway-'));
    const path = join(folder, 'orders.jsonl');
    await writeFile(path, FILE.subarray(0, 1000));
    await client(server.url).bulk.download(7, 'orders').toFile(path, { fromByte: 1000 });
    assert.deepEqual(await readFile(path), FILE);
    const [, first, second] = server.received;
    assert.deepEqual([first?.headers.range, first?.headers['if-range']], ['bytes=1000-', undefined]);
    assert.deepEqual([second?.headers.range, second?.headers['if-range']], ['bytes=1010-', '"one"']);
    await rm(folder, { recursive: true });
  });

  it('says why its job failed', async () => {
    await using server = await serve(created, job('FAILED'), json([{ message: 'The provider is gone.' }]));
    const rows = client(server.url).bulk.rows({ objectName: 'orders' });
    await assert.rejects(
      rows.next(),
      (error) => error instanceof BulkJobError && /provider is gone/.test(error.message),
    );
    await using refused = await serve(failure(400, 'WHERE_INVALID'));
    await assert.rejects(client(refused.url).bulk.start({ objectName: 'orders' }), { code: 'WHERE_INVALID' });
  });
});

describe('a bulk upload', () => {
  const answers = [created, job('COMPLETED')];

  it('sends the file as a form, what to do with its rows before it', async () => {
    await using server = await serve(...answers);
    const metaData = { format: 'jsonl', action: 'upsert', identifierFieldName: 'name' } as const;
    const upload = await client(server.url).bulk.upload('big/orders', new Blob([FILE]), metaData);
    assert.equal((await upload.wait()).status, 'COMPLETED');
    const [sent] = server.received;
    assert.equal(`${sent?.method} ${sent?.url}`, 'POST /elements/api-v2/bulk/big%2Forders');
    assert.match(sent?.headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
    assert.equal(sent?.headers['idempotency-key'], undefined);
    const [before, file] = sent?.body.split(/name="file"; filename="blob"\r\n.*\r\n\r\n/) ?? [];
    assert.ok(before?.includes(`name="metaData"\r\n\r\n${JSON.stringify(metaData)}\r\n`));
    assert.ok(file?.startsWith(FILE.toString()));
  });

  it('lists what went wrong over pages, and has the rows that failed as they came', async () => {
    const rows: Answer = (response) => response.end('{"id":1}\n');
    const pages = [
      json([{ row: 2, message: 'No.' }], { 'Elements-Next-Page-Token': 'n' }),
      json([{ row: 9, message: 'No.' }]),
    ];
    await using server = await serve(...pages, job('COMPLETED'), rows);
    const upload = client(server.url).bulk.uploaded(7, 'orders');
    const failed: unknown[] = [];
    for await (const { row } of upload.errors()) failed.push(row);
    assert.deepEqual(failed, [2, 9]);
    const folder = await mkdtemp(join(tmpdir(), 'causeway-'));
    await upload.failedRowsToFile(join(folder, 'failed.jsonl'));
    assert.equal(await readFile(join(folder, 'failed.jsonl'), 'utf8'), '{"id":1}\n');
    assert.deepEqual(
      server.received.map(({ url, headers }) => [
        url.replace('/elements/api-v2', ''),
        headers.accept === 'application/x-ndjson',
      ]),
      [
        ['/bulk/7/errors', false],
        ['/bulk/7/errors?nextPage=n', false],
        ['/bulk/7/status', false],
        ['/bulk/7/errors', true],
      ],
    );
    await rm(folder, { recursive: true });
  });
});
