import { expect } from 'chai';
import { defineConnector, defineObject, type ProviderResponse, path } from '#connector';
import { type Call, empty, fault, json, simulate, typed } from '#connector/simulator';
import type { CreateSimulator } from '#connector/suite';
import { type Connection, connect, type ServedSimulator, serveSimulator } from '#connector/testing';
import { startTarget, type Target } from '../../../suite/target.ts';
import { uploadFiles } from '../../../suite/uploads.ts';

const read = ({ body }: ProviderResponse) => body;

const shelf = defineConnector({
  key: 'shelf',
  id: 990301,
  name: 'Shelf',
  description: 'A provider of the tests.',
  hub: 'documents',
  auth: { type: 'none' },
  configuration: [],
  baseUrl: () => 'https://api.shelf.example',
  hosts: ['api.shelf.example', 'upload.shelf.example'],
  probe: { path: '/me' },
  objects: {
    files: defineObject<never>({
      fields: {
        id: { type: 'string', nullable: false },
        name: { type: 'string' },
        note: { type: 'string', createable: true },
      },
      get: { request: ({ id }) => ({ path: path`/files/${id}` }), read },
      media: { types: ['*'], request: ({ id }) => ({ path: path`/files/${id}/content` }) },
      remove: { request: ({ id }) => ({ method: 'DELETE', path: path`/files/${id}` }), read: () => {} },
      upload: {
        create: {
          request: ({ values, file }) => ({
            url: 'https://upload.shelf.example/files',
            form: {
              parts: [{ name: 'attributes', value: JSON.stringify({ name: file.name, ...values }) }],
              file: 'file',
            },
          }),
          read: (response) => ({ record: read(response) }),
        },
        replace: {
          request: ({ id, file }) => ({
            method: 'PUT',
            path: path`/files/${id}/content`,
            query: { name: file.name },
          }),
          read: (_response, { id }) => ({ id }),
        },
      },
    }),
  },
});

interface Stored {
  readonly record: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** `spoil` is what becomes of bytes when they are stored. */
function createShelf(spoil: (bytes: Buffer) => Buffer = (bytes) => bytes): CreateSimulator {
  return ({ baseUrl }) => {
    const files = new Map<string, Stored>();
    const find = ({ params }: Call) => {
      const stored = files.get(params.id ?? '');
      if (stored === undefined) throw fault(404, 'There is no such file.');
      return stored;
    };
    return simulate(
      {
        print: ({ status, message }) => json({ message }, status),
        routes: {
          'GET /me': () => json({}),
          'POST /files': async ({ body, host }) => {
            if (host !== 'upload.shelf.example') throw fault(404, 'Files are sent elsewhere.');
            const form = await body.multipart();
            const file = form.get('file');
            if (!(file instanceof File)) throw fault(400, 'There is no file.');
            const id = String(files.size + 1);
            const attributes = JSON.parse(String(form.get('attributes')));
            if (file.name !== attributes.name) throw fault(400, `${file.name} is not ${attributes.name}.`);
            const record = { id, ...attributes };
            files.set(id, { record, bytes: spoil(Buffer.from(await file.arrayBuffer())) });
            return json(record, 201);
          },
          'GET /files/{id}': (call) => json(find(call).record),
          'GET /files/{id}/content': (call) => typed('text/plain', find(call).bytes),
          'PUT /files/{id}/content': (call) => {
            const { record } = find(call);
            const name = call.query.get('name');
            files.set(String(record.id), { record: { ...record, name }, bytes: spoil(call.body.bytes) });
            return empty();
          },
          'DELETE /files/{id}': (call) => {
            files.delete(String(find(call).record.id));
            return empty();
          },
        },
      },
      { baseUrl },
    );
  };
}

const SAMPLE = { create: (number: number) => ({ note: `Note ${number}` }) };

describe('files that the suite sends', function suite() {
  this.timeout(60_000);
  let target: Target | undefined;

  const start = async (createSimulator: CreateSimulator) => {
    target = await startTarget({ connector: shelf, configuration: {}, createSimulator });
    return uploadFiles(target, { name: 'files', sample: SAMPLE });
  };
  afterEach(async () => target?.stop());

  it('come back as they were, from a form at another host and as they are', async () => {
    expect(await start(createShelf())).to.deep.equal([]);
  });

  it('are found out when they do not', async () => {
    const faults = await start(createShelf((bytes) => Buffer.from(bytes.toString('utf8'))));
    expect(faults).to.have.length(4);
    expect(faults[0]).to.match(/plain\.txt\): its file of \d+ bytes came back as 200 with \d+ bytes/);
  });
});

describe('a connector under test', () => {
  let served: ServedSimulator;
  let connection: Connection;

  before(async () => {
    served = await serveSimulator('shelf', createShelf());
    connection = connect(shelf, { config: {}, simulatorsUrl: served.simulatorsUrl });
  });
  after(() => served.stop());

  it('sends files under names with line breaks, which arrive as they are', async () => {
    const { objects } = await connection.discover();
    const upload = objects.files?.upload;
    for (const name of ['a"b.txt', 'a\r\nb.txt', 'a\\b.txt', 'ü.txt']) {
      const input = { values: {}, fields: [], file: { name, type: 'text/plain' } };
      const stored = await connection.upload(upload?.create, input, Buffer.from('hello'));
      expect(stored).to.deep.include({
        record: { id: stored && 'record' in stored ? Object(stored.record).id : '', name },
      });
    }
    expect(connection.requests.at(-1)).to.equal('POST https://upload.shelf.example/files');
  });
});
