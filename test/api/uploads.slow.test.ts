import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { type FileStore, type StoredRequest, startFileStore } from './support/file-store.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

const KB = 1024;
const MB = 1024 * KB;
const API_KEY = 'the-key-of-the-store';
const BOUNDARY = 'the-boundary';
const PIECE = Buffer.alloc(64 * KB, 'x');

/** A part of a form. */
function part(name: string, value: string | Buffer, more = '', type = ''): Buffer {
  const typed = type === '' ? '' : `\r\nContent-Type: ${type}`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}${typed}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
}

function file(value: string | Buffer = 'hello', name = 'a.txt', type = 'text/plain'): Buffer {
  return part('file', value, `; filename="${name}"`, type);
}

const END = Buffer.from(`--${BOUNDARY}--\r\n`);

/** Pieces of one buffer: a large file that is nowhere as a whole. */
function* pieces(count: number): Generator<Buffer, void> {
  for (let left = count; left > 0; left -= PIECE.length) yield left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
}

function* largeForm(count: number): Generator<Buffer, void> {
  yield file('').subarray(0, -2);
  yield* pieces(count);
  yield Buffer.from('\r\n');
  yield END;
}

describe('a file that is sent', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS, SIMULATORS_PORT: 'off', LOG_LEVEL: 'debug' });
  let store: FileStore;
  let uploads: FileStore;
  let instance: { readonly id: number; readonly token: string };

  before(async () => {
    [store, uploads] = await Promise.all([startFileStore(), startFileStore()]);
    const settings = { 'base.url': store.url, 'upload.url': uploads.url, 'api.key': API_KEY };
    instance = await service.createInstance('storing', settings);
  });
  after(async () => {
    await Promise.all([store.close(), uploads.close()]);
  });
  beforeEach(() => {
    store.reset();
    uploads.reset();
  });

  const authorization = () => `User ${service.userSecret}, Element ${instance.token}`;
  const formType = `multipart/form-data; boundary=${BOUNDARY}`;

  async function send(
    parts: readonly Buffer[],
    { path = '/documents', method = 'POST', type = formType, headers = {}, end = END } = {},
  ) {
    const response = await fetch(service.app.baseUrl + path, {
      method,
      headers: { authorization: authorization(), 'content-type': type, ...headers },
      body: Buffer.concat([...parts, end]),
    });
    return { status: response.status, headers: response.headers, body: Object(await response.json()) };
  }

  function open(headers: Readonly<Record<string, string>> = {}, method = 'POST', path = '/documents'): ClientRequest {
    const { hostname, port } = new URL(service.app.url);
    const sent = openRequest({
      hostname,
      port,
      method,
      path: `/elements/api-v2${path}`,
      agent: false,
      headers: { authorization: authorization(), 'content-type': formType, ...headers },
    });
    // Who is answered early may be cut off while it still sends.
    sent.on('error', () => {});
    return sent;
  }

  async function responseOf(sent: ClientRequest) {
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) throw new Error('There was no response.');
    return {
      status: response.statusCode ?? 0,
      headers: new Headers(response.headers as Record<string, string>),
      body: Object(await readJson(response)),
    };
  }

  async function partsOf({ headers, body }: StoredRequest) {
    const type = headers['content-type'] ?? '';
    return new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  }

  async function storedUpload(): Promise<StoredRequest> {
    await until(async () => uploads.requests.length === 1 && uploads.requests[0]?.isOver === true);
    const [stored] = uploads.requests;
    if (stored === undefined) throw new Error('Nothing was sent.');
    return stored;
  }

  describe('gets to the provider', () => {
    it('in a form at its other host, with its name, its type and the fields, and back comes the record', async () => {
      const response = await send([part('name', 'mine'), part('pages', '3'), part('secret', 'true'), file()]);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      expect(response.body).to.include({ id: '7', name: 'seven' });
      expect(response.headers.get('elements-provider-calls')).to.equal('1');
      const stored = await storedUpload();
      expect(stored).to.include({ method: 'POST', url: '/documents', isWhole: true });
      expect(stored.headers).to.include({ 'x-api-key': API_KEY, accept: 'application/json' });
      expect(stored.headers).not.to.have.any.keys('authorization', 'cookie');
      const form = await partsOf(stored);
      expect([...form.keys()]).to.deep.equal(['attributes', 'content']);
      const attributes = form.get('attributes');
      const text = attributes instanceof File ? await attributes.text() : String(attributes);
      expect(JSON.parse(text)).to.deep.equal({ name: 'mine', pages: 3, secret: true });
      const content = form.get('content') as File;
      expect([content.name, content.type, await content.text()]).to.deep.equal(['a.txt', 'text/plain', 'hello']);
    });

    it('with the fields as JSON, nested ones too, and at the address of the hub', async () => {
      const fields = JSON.stringify({ tags: ['a'], folder: { id: '0' } });
      for (const named of ['', '; filename="fields.json"']) {
        uploads.reset();
        const metadata = part('metadata', fields, named, 'application/json');
        const response = await send([metadata, file()], { path: '/hubs/documents/documents' });
        expect(response.status, JSON.stringify(response.body)).to.equal(200);
        const attributes = (await partsOf(await storedUpload())).get('attributes');
        const text = attributes instanceof File ? await attributes.text() : String(attributes);
        expect(JSON.parse(text)).to.deep.equal({ name: 'a.txt', tags: ['a'], folder: { id: '0' } });
      }
      expectProblem(await send([file()], { path: '/hubs/crm/documents' }), 'NOT_FOUND');
    });

    it('as it is, as a new version, and the record is read back by its id', async () => {
      const options = { path: '/documents/7', method: 'PUT' };
      const response = await send([part('name', 'other'), file('more', 'b.pdf', 'application/pdf')], options);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      expect(response.body).to.include({ id: '7' });
      expect(response.headers.get('elements-provider-calls')).to.equal('2');
      const [stored, read] = store.requests;
      expect(stored).to.include({ method: 'PUT', url: '/documents/7/content?name=other', isWhole: true });
      expect(stored?.headers['content-type']).to.equal('application/pdf');
      expect(stored?.body.toString()).to.equal('more');
      expect(read).to.include({ method: 'GET', url: '/documents/7' });
    });

    it('byte for byte, whatever its bytes are', async () => {
      const bytes = Buffer.concat([
        Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
        Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n--\r\n\r\n`),
        Buffer.alloc(300 * KB, 7),
      ]);
      expect((await send([file(bytes)], { path: '/documents/7', method: 'PUT' })).status).to.equal(200);
      expect(store.requests[0]?.body.equals(bytes)).to.equal(true);
    });

    it('empty when it is empty', async () => {
      expect((await send([file('')], { path: '/documents/7', method: 'PUT' })).status).to.equal(200);
      expect(store.requests[0]).to.include({ bytes: 0, isWhole: true });
    });

    for (const [shown, given, name] of [
      ['quotes, as browsers write them', 'a%22b.txt', 'a"b.txt'],
      ['quotes, escaped', 'a\\"b.txt', 'a"b.txt'],
      ['letters of the world', 'Übersicht 文書 🎉.txt', 'Übersicht 文書 🎉.txt'],
      ['300 characters', `${'x'.repeat(296)}.txt`, `${'x'.repeat(296)}.txt`],
      ['a folder', '../../etc/passwd', 'passwd'],
      ['a folder of Windows', 'C:\\dir\\a.txt', 'a.txt'],
      ['what looks like a parameter', 'a; name=other.txt', 'a; name=other.txt'],
      ['a percent sign', '100%25 sure.txt', '100%25 sure.txt'],
    ] as const) {
      it(`with a name of ${shown}`, async () => {
        const response = await send([file('hello', given)]);
        expect(response.status, JSON.stringify(response.body)).to.equal(200);
        const content = (await partsOf(await storedUpload())).get('content') as File;
        expect([content.name, await content.text()]).to.deep.equal([name, 'hello']);
      });
    }

    it('as bytes without a type when its type is none', async () => {
      expect((await send([file('x', 'a', 'non sense')], { path: '/documents/7', method: 'PUT' })).status).to.equal(200);
      expect(store.requests[0]?.headers['content-type']).to.equal('application/octet-stream');
    });

    it('with 20 MB, and the same digest', async () => {
      const sent = open({ 'transfer-encoding': 'chunked' }, 'PUT', '/documents/7');
      Readable.from(largeForm(20 * MB)).pipe(sent);
      const response = await responseOf(sent);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      const hash = createHash('sha256');
      for (const piece of pieces(20 * MB)) hash.update(piece);
      expect(store.requests[0]).to.include({ bytes: 20 * MB, isWhole: true, digest: hash.digest('hex') });
    });

    it('no faster than the provider accepts it', async () => {
      let isStopped = true;
      uploads.answer('/documents', (request, response) => {
        void until(async () => !isStopped).then(() => {
          request.resume();
          request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"7"}'));
        });
      });
      let given = 0;
      const sent = open({ 'transfer-encoding': 'chunked' });
      const counted = function* () {
        for (const piece of largeForm(90 * MB)) {
          given += piece.length;
          yield piece;
        }
      };
      Readable.from(counted()).pipe(sent);
      let before = -1;
      let same = 0;
      // It stands still when what the connections hold is full.
      await until(async () => {
        same = given === before && given > 0 ? same + 1 : 0;
        before = given;
        return same === 10;
      });
      expect(given).to.be.below(60 * MB);
      isStopped = false;
      expect((await responseOf(sent)).status).to.equal(200);
      expect((await storedUpload()).bytes).to.be.above(90 * MB);
    });
  });

  describe('is refused', () => {
    const cases: readonly (readonly [string, readonly Buffer[], RegExp])[] = [
      ['without a file', [part('name', 'x')], /'file' is missing: the form has no part with a file/],
      ['as a part without a filename', [part('file', 'x')], /'file' has no filename/],
      [
        'as a part of another name',
        [part('upload', 'x', '; filename="a"')],
        /'upload' has a filename; .* called 'file'/,
      ],
      ['with an empty name', [file('x', '')], /'file' has an empty filename/],
      ['with a name of dots', [file('x', '..')], /'file' has an empty filename/],
      ['with a line break in its name', [file('x', 'a%0D%0Ab')], /filename with control characters/],
      ['with an unknown field', [part('nmae', 'x'), file()], /Unknown field 'nmae'.*name/],
      ['with a field that is read only', [part('size', '3'), file()], /'size' cannot be set on create/],
      ['with a number that is none', [part('pages', 'three'), file()], /'pages' is of type integer: expected a number/],
      ['with a fraction of a page', [part('pages', '1.5'), file()], /'pages' is of type integer: expected a whole/],
      ['with a flag that is none', [part('secret', 'yes'), file()], /expected 'true' or 'false'/],
      ['with a list as text', [part('tags', 'a,b'), file()], /'tags' is of type array: expected JSON.*'metadata'/],
      ['with a field twice', [part('name', 'x'), part('name', 'y'), file()], /'name' comes more than once/],
      [
        'with metadata and fields',
        [part('metadata', '{}'), part('name', 'y'), file()],
        /'metadata' contains all fields/,
      ],
      ['with metadata that is no JSON', [part('metadata', '{"a'), file()], /The part 'metadata' is not JSON/],
      ['with metadata that is a list', [part('metadata', '[]'), file()], /'metadata' is not a JSON object/],
      ['with an unknown field in metadata', [part('metadata', '{"nmae":1}'), file()], /Unknown field 'nmae'/],
      ['with a text that is no UTF-8', [part('name', Buffer.from([0xff])), file()], /'name' is not well-formed UTF-8/],
      [
        'in another encoding',
        [part('file', 'aGVsbG8=', '; filename="a"\r\nContent-Transfer-Encoding: base64')],
        /Content-Transfer-Encoding/,
      ],
    ];
    for (const [how, parts, message] of cases) {
      it(`${how}, before the provider is asked`, async () => {
        expectProblem(await send(parts), 'REQUEST_INVALID', message);
        expect(uploads.requests).to.deep.equal([]);
      });
    }

    for (const [how, late, message] of [
      ['a field behind it', part('name', 'x'), /'name' is after the file: send all fields before the part 'file'/],
      ['another file behind it', file('y', 'b.txt'), /'file' is not the only file/],
    ] as const) {
      it(`with ${how}, and the provider gets no whole one`, async () => {
        for (const size of [10, 3 * MB]) {
          uploads.reset();
          expectProblem(await send([file(Buffer.alloc(size)), late]), 'REQUEST_INVALID', message);
          await until(async () => uploads.requests.every(({ isOver }) => isOver));
          expect(uploads.requests.filter(({ isWhole }) => isWhole)).to.deep.equal([]);
        }
      });
    }

    it('with a field that comes long after it, for which the provider is kept waiting', async () => {
      const sent = open({ 'transfer-encoding': 'chunked' });
      const late = Buffer.concat([part('name', 'x'), END]);
      const first = `--${BOUNDARY}\r\n`.length;
      sent.write(Buffer.concat([file(Buffer.alloc(KB)), late.subarray(0, first)]));
      await until(async () => (uploads.requests[0]?.bytes ?? 0) > KB);
      sent.end(late.subarray(first));
      expectProblem(await responseOf(sent), 'REQUEST_INVALID', /'name' is after the file/);
      expect((await storedUpload()).isWhole).to.equal(false);
    });

    it('when it breaks off, and the provider gets no whole one', async () => {
      const whole = Buffer.concat([part('name', 'x'), file(Buffer.alloc(MB))]);
      for (const length of [30, 100, 200, MB, whole.length]) {
        uploads.reset();
        const message = /form is incomplete/;
        expectProblem(await send([whole.subarray(0, length)], { end: Buffer.alloc(0) }), 'REQUEST_INVALID', message);
        await until(async () => uploads.requests.every(({ isOver }) => isOver));
        expect(uploads.requests.filter(({ isWhole }) => isWhole)).to.deep.equal([]);
      }
    });

    it('when it is no form', async () => {
      expectProblem(await send([Buffer.from('hello')]), 'REQUEST_INVALID', /not well-formed multipart/);
      const type = 'multipart/form-data';
      expectProblem(await send([file()], { type }), 'REQUEST_INVALID', /names no boundary/);
      expectProblem(await send([file()], { type: 'multipart/mixed; boundary=x' }), 'UNSUPPORTED_MEDIA_TYPE');
      const headers = { 'content-encoding': 'gzip' };
      expectProblem(await send([file()], { headers }), 'UNSUPPORTED_MEDIA_TYPE', /must not have a Content-Encoding/);
    });

    it('with fields of more than 64 kB', async () => {
      const parts = [part('name', 'x'.repeat(40 * KB)), part('other', 'x'.repeat(40 * KB)), file()];
      expectProblem(await send(parts), 'PAYLOAD_TOO_LARGE', /64 kB together/);
      expectProblem(await send([part('name', 'x'.repeat(70 * KB)), file()]), 'PAYLOAD_TOO_LARGE', /64 kB/);
      expect(uploads.requests).to.deep.equal([]);
    });

    it('beyond 100 MB, at once where its length is told, and on its way where it is not', async () => {
      const told = open({ 'content-length': String(101 * MB) });
      told.flushHeaders();
      expectProblem(await responseOf(told), 'PAYLOAD_TOO_LARGE', 'The body is larger than 100 MB.');
      told.destroy();
      const untold = open({ 'transfer-encoding': 'chunked' });
      Readable.from(largeForm(100 * MB)).pipe(untold);
      expectProblem(await responseOf(untold), 'PAYLOAD_TOO_LARGE', 'The body is larger than 100 MB.');
      untold.destroy();
      expect((await storedUpload()).isWhole).to.equal(false);
    });

    it('with an Idempotency-Key, as nothing tells whether it is the same again', async () => {
      const headers = { 'idempotency-key': 'once' };
      const message = /A file cannot be sent with an Idempotency-Key/;
      expectProblem(await send([file()], { headers }), 'REQUEST_INVALID', message);
      expect(uploads.requests).to.deep.equal([]);
    });

    it('for an object that takes none, and JSON for one that takes nothing else', async () => {
      const message = "'notes' accepts no file here. Send the record as application/json.";
      expectProblem(await send([file()], { path: '/notes' }), 'UNSUPPORTED_MEDIA_TYPE', message);
      const call = { method: 'POST', token: instance.token, body: { name: 'x' } };
      const other = "'documents' accepts files here. Send multipart/form-data with a part 'file'.";
      expectProblem(await service.call('/documents', call), 'UNSUPPORTED_MEDIA_TYPE', other);
      const put = { ...call, method: 'PUT' };
      expectProblem(await service.call('/documents/7', put), 'UNSUPPORTED_MEDIA_TYPE', other);
      const onNote = { path: '/notes/7', method: 'PUT' };
      expectProblem(await send([file()], onNote), 'OPERATION_UNSUPPORTED', /supports GET there/);
      expectProblem(await send([file()], { path: '/documents/7', method: 'PATCH' }), 'UNSUPPORTED_MEDIA_TYPE');
      expect([...uploads.requests, ...store.requests]).to.deep.equal([]);
    });

    it('leaves the connection good for the next request', async () => {
      const large = [file(Buffer.alloc(5 * MB))];
      expectProblem(await send(large, { path: '/notes' }), 'UNSUPPORTED_MEDIA_TYPE');
      expect((await service.call('/documents/7', { token: instance.token })).status).to.equal(200);
    });
  });

  describe('when the provider', () => {
    for (const [status, code] of [
      [413, 'PROVIDER_REJECTED'],
      [409, 'CONFLICT'],
      [401, 'INSTANCE_CREDENTIALS_FAILED'],
      [404, 'NOT_FOUND'],
      [429, 'PROVIDER_RATE_LIMITED'],
      [503, 'PROVIDER_UNAVAILABLE'],
      [302, 'PROVIDER_PROTOCOL'],
    ] as const) {
      it(`answers ${status} before it has the file, is ${code} while the caller still sends`, async () => {
        uploads.answer('/documents', (_request, response) => {
          const body = JSON.stringify({ message: `Not with ${API_KEY}` });
          response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end(body);
        });
        const sent = open({ 'content-length': String(50 * MB) });
        sent.write(file('').subarray(0, -2));
        sent.write(Buffer.alloc(MB));
        const answer = await responseOf(sent);
        expectProblem(answer, code);
        expect(answer.body.providerMessage).to.equal('Not with [redacted]');
        sent.destroy();
        expect((await storedUpload()).isWhole).to.equal(false);
        expect(store.requests).to.deep.equal([]);
      });
    }

    it('says that all is well before it has the file, is not believed', async () => {
      uploads.answer('/documents', (_request, response) => {
        response.setHeader('content-type', 'application/json').end('{"id":"7"}');
      });
      const sent = open({ 'content-length': String(50 * MB) });
      sent.write(file('').subarray(0, -2));
      sent.write(Buffer.alloc(MB));
      expectProblem(await responseOf(sent), 'PROVIDER_PROTOCOL', /before it had the whole file/);
      sent.destroy();
    });

    it('hangs up, is PROVIDER_UNAVAILABLE, and nothing is sent again', async () => {
      uploads.answer('/documents', (request) => void request.once('data', () => request.socket.resetAndDestroy()));
      expectProblem(await send([file(Buffer.alloc(3 * MB))]), 'PROVIDER_UNAVAILABLE');
      expect(uploads.requests).to.have.length(1);
    });

    it('takes nothing for too long, is PROVIDER_TIMEOUT', async () => {
      uploads.answer('/documents', () => {});
      const sent = open({ 'transfer-encoding': 'chunked' });
      Readable.from(largeForm(90 * MB)).pipe(sent);
      expectProblem(await responseOf(sent), 'PROVIDER_TIMEOUT');
      sent.destroy();
    });

    it('is kept waiting by the caller, the caller is told so', async () => {
      const sent = open({ 'content-length': String(MB) });
      sent.write(Buffer.concat([part('name', 'x'), file('').subarray(0, -2), Buffer.alloc(KB)]));
      expectProblem(await responseOf(sent), 'REQUEST_TIMEOUT', 'No bytes of the file arrived for 2 s.');
      sent.destroy();
      expect((await storedUpload()).isWhole).to.equal(false);
    });

    it('has a part of it, and the caller hangs up, ends with that', async () => {
      const sent = open({ 'content-length': String(10 * MB) });
      sent.write(Buffer.concat([file('').subarray(0, -2), Buffer.alloc(MB)]));
      await until(async () => (uploads.requests[0]?.bytes ?? 0) > KB);
      sent.destroy();
      expect((await storedUpload()).isWhole).to.equal(false);
    });

    it('does not know the record, is NOT_FOUND that names it', async () => {
      store.answer('/documents/8/content', (_request, response) => response.writeHead(404).end());
      const answer = await send([file()], { path: '/documents/8', method: 'PUT' });
      expectProblem(answer, 'NOT_FOUND', "There is no record '8' in 'documents'.");
    });
  });

  it('comes back byte for byte as the file of its record', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251));
    let kept = Buffer.alloc(0);
    store.answer('/documents/7/content', async (request, response) => {
      kept = Buffer.concat(await Array.fromAsync(request));
      response.end();
    });
    await send([file(bytes)], { path: '/documents/7', method: 'PUT' });
    store.answer('/documents/7/content', (_request, response) => response.end(kept));
    const headers = { authorization: authorization(), accept: 'application/octet-stream' };
    const answer = await fetch(`${service.app.baseUrl}/documents/7`, { headers });
    const got = createHash('sha256')
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest('hex');
    expect(got).to.equal(createHash('sha256').update(bytes).digest('hex'));
  });

  it('is shown among what an object can do', async () => {
    const objects = await service.get('/objects', { token: instance.token, query: { details: 'true' } });
    const operations = Object.fromEntries(objects.map((object: { name: string }) => [object.name, object]));
    expect(operations.documents.operations).to.deep.equal(['get', 'upload']);
    expect(operations.notes.operations).to.deep.equal(['get', 'create']);
    const body = await service.get('/objects/documents/metadata', { token: instance.token });
    expect(body.uploads).to.deep.equal(['create', 'replace']);
    expect(await service.get('/objects/notes/metadata', { token: instance.token })).not.to.have.property('uploads');
  });

  // Behind the others, as it looks at what they left.
  describe('at last', () => {
    it('leaves nothing secret in the log, and a line for each call', () => {
      const calls = service.logged.filter((line) => line.includes('provider request') && line.includes('"storing"'));
      expect(calls).not.to.have.length(0);
      const secret = service.logged.filter((line) => line.includes(API_KEY) || line.includes(instance.token));
      expect(secret).to.deep.equal([]);
    });
  });
});
