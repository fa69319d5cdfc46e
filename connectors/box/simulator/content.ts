import { randomBytes } from 'node:crypto';
import {
  type Call,
  createBody,
  createResults,
  json,
  type MovableClock,
  redirect,
  type SimulatedResponse,
  typed,
} from '#connector/simulator';
import { type Drive, measure, type Row, wholeSecond } from './drive.ts';
import { BoxFault, missing } from './faults.ts';
import { DOWNLOAD_HOST } from './login.ts';
import { show } from './show.ts';

/** Maximum size of all files together, in bytes. */
export const MOST_BYTES = 20_000_000;
const DOWNLOAD_MS = 15 * 60_000;

/** Returns the routes for uploads and downloads. They call `notify` after each download. */
export function createContent(drive: Drive, clock: MovableClock, notify: (row: Row) => void) {
  const { contents, items } = drive;
  const makeId = () => randomBytes(24).toString('base64url');
  const links = createResults<string>({ most: 1000, makeId, lifetime: { ms: DOWNLOAD_MS, clock } });

  function store(row: Row, bytes: Buffer, call: Call, status: number): SimulatedResponse {
    contents.set(String(row.id), bytes);
    return json({ total_count: 1, entries: [show(drive, row, call, 'standard')] }, status);
  }

  function assertRoom(more: number): void {
    const used = contents.values().reduce((sum, { length }) => sum + length, 0);
    if (used + more > MOST_BYTES) throw new BoxFault(403, 'storage_limit_exceeded', 'Account storage limit reached');
  }

  return {
    /** Responds to `POST /files/content`. */
    upload: async (call: Call): Promise<SimulatedResponse> => {
      const { attributes, bytes } = await readUpload(call);
      const values = drive.settle('file', items.file.read(attributes));
      assertRoom(bytes.length);
      return store(items.file.table.insert({ ...values, ...measure(bytes) }), bytes, call, 201);
    },
    /** Responds to `POST /files/{id}/content`, which adds a new version. */
    uploadVersion: async (call: Call): Promise<SimulatedResponse> => {
      const before = drive.get('file', call.params.id);
      const { attributes, bytes } = await readUpload(call);
      const values = drive.settle('file', items.file.read(attributes, before), before);
      assertRoom(bytes.length);
      const row = items.file.table.update(String(before.id), {
        content_modified_at: wholeSecond(clock.now()),
        ...values,
        ...{ version: Number(before.version) + 1, ...measure(bytes) },
      });
      return store(row ?? before, bytes, call, 200);
    },
    /** Responds to `GET /files/{id}/content` with a redirect to the content. */
    download: (call: Call): SimulatedResponse => {
      const row = drive.get('file', call.params.id);
      const link = links.keep([String(row.id)]);
      notify(row);
      return redirect(`${call.host === undefined ? call.origin : `https://${DOWNLOAD_HOST}`}/d/1/${link}/download`);
    },
    /** Delivers the content of a file. The address is the only credential. */
    deliverBytes: ({ params: { link = '' } }: Call): SimulatedResponse => {
      const id = links.find(link)?.[0] ?? '';
      const row = items.file.table.find(id);
      if (row === undefined) throw new BoxFault(404, 'not_found', 'Not Found');
      const disposition = `attachment;filename*=UTF-8''${encodeURIComponent(String(row.name))}`;
      return typed('application/octet-stream', contents.get(id) ?? Buffer.alloc(0), 200, {
        'content-disposition': disposition,
      });
    },
  };
}

/**
 * Reads the attributes and the content of an upload.
 * @throws Fault 400 for other parts, or for another order of them
 */
async function readUpload({ body }: Call) {
  const form = [...(await body.multipart())];
  const [attributes, file] = ['attributes', 'file'].map((name) => form.find(([each]) => each === name)?.[1]);
  if (attributes === undefined) throw missing('attributes');
  if (!(file instanceof Blob)) throw missing('file');
  if (form[0]?.[0] === 'file') {
    const message = 'Metadata is included after file contents in a file upload request.';
    throw new BoxFault(400, 'metadata_after_file_contents', message);
  }
  const text = typeof attributes === 'string' ? attributes : await attributes.text();
  return { attributes: createBody(Buffer.from(text)).object(), bytes: Buffer.from(await file.arrayBuffer()) };
}
