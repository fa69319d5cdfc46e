import { randomBytes } from 'node:crypto';
import {
  type Answer,
  type Call,
  createBody,
  createResults,
  json,
  type MovableClock,
  redirect,
  typed,
} from '#connector/simulator';
import { type Drive, wholeSecond } from './drive.ts';
import { BoxFault, invalid, missing, nameInUse } from './faults.ts';
import { DOWNLOAD_HOST } from './login.ts';
import { measure, type Row } from './rows.ts';
import { extensionOf, mini, show } from './show.ts';
import { assertUnchanged, findItem, findNamed, readDescription, readName, readParent } from './writes.ts';

/** Of all files together. */
export const MOST_BYTES = 20_000_000;
const DOWNLOAD_MS = 15 * 60_000;

/** Up- and downloads; `tell` of each download. */
export function createContent(drive: Drive, clock: MovableClock, tell: (row: Row) => void) {
  const { contents, tables } = drive;
  const makeId = () => randomBytes(24).toString('base64url');
  const links = createResults<string>({ most: 1000, makeId, lifetime: { ms: DOWNLOAD_MS, clock } });

  /** `POST /files/content`. */
  async function upload(call: Call): Promise<Answer> {
    const { attributes, bytes } = await readUpload(call);
    const parent = readParent(drive, attributes.parent);
    if (attributes.name === undefined) throw missing('name');
    const name = readName(attributes.name);
    const taken = findNamed(drive, parent, name);
    if (taken !== undefined) throw nameInUse({ conflicts: mini(drive, taken) });
    assertRoom(bytes.length);
    const { description } = attributes;
    const row = tables.file.insert({
      ...{ name, parent, ...measure(bytes), ...readTimes(attributes, ['content_created_at', 'content_modified_at']) },
      ...(description !== undefined && { description: readDescription(description) }),
    });
    return store(row, bytes, call, 201);
  }

  /** `POST /files/{id}/content`: a new version. */
  async function uploadVersion(call: Call): Promise<Answer> {
    const before = findItem(drive, 'file', call);
    const { attributes, bytes } = await readUpload(call);
    assertUnchanged(before, call);
    const name = attributes.name === undefined ? String(before.name) : readName(attributes.name);
    const taken = findNamed(drive, String(before.parent), name, before);
    if (taken !== undefined) throw nameInUse({ conflicts: mini(drive, taken) });
    assertRoom(bytes.length - (contents.get(String(before.id))?.length ?? 0));
    const row = tables.file.update(String(before.id), {
      ...{
        name,
        version: Number(before.version) + 1,
        version_id: String(Number(before.version_id) + 1),
        ...measure(bytes),
      },
      ...{ content_modified_at: wholeSecond(clock.now()), ...readTimes(attributes, ['content_modified_at']) },
    });
    return store(row ?? before, bytes, call, 200);
  }

  function store(row: Row, bytes: Buffer, call: Call, status: number): Answer {
    contents.set(String(row.id), bytes);
    return json({ total_count: 1, entries: [show(drive, row, call, 'standard')] }, status);
  }

  function assertRoom(more: number): void {
    const used = contents.values().reduce((sum, { length }) => sum + length, 0);
    if (used + more > MOST_BYTES) throw new BoxFault(403, 'storage_limit_exceeded', 'Account storage limit reached');
  }

  /** `GET /files/{id}/content`: to where the bytes are. */
  function download(call: Call): Answer {
    const row = findItem(drive, 'file', call);
    const link = links.keep([String(row.id)]);
    tell(row);
    const origin = call.host === undefined ? call.origin : `https://${DOWNLOAD_HOST}`;
    return redirect(`${origin}/d/1/${link}/download`);
  }

  /** The address is all that it takes. */
  function deliverBytes({ params: { link = '' }, headers }: Call): Answer {
    const id = links.find(link)?.[0] ?? '';
    const row = tables.file.find(id);
    if (row === undefined) throw new BoxFault(404, 'not_found', 'Not Found');
    const name = String(row.name);
    const disposition = `attachment;filename="${name.replace(/[^ -~]|["%]/g, '_')}";filename*=UTF-8''${encodeURIComponent(name)}`;
    const type = MEDIA_TYPES[extensionOf(name).toLowerCase()] ?? 'application/octet-stream';
    return partOf(contents.get(id) ?? Buffer.alloc(0), headers.range, type, {
      'content-disposition': disposition,
      'accept-ranges': 'bytes',
    });
  }

  return { upload, uploadVersion, download, deliverBytes };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ...{ txt: 'text/plain', csv: 'text/csv', md: 'text/markdown', pdf: 'application/pdf', png: 'image/png' },
};

/** `bytes=0-99`; a range that is not understood is passed over, as RFC 9110 has it. */
function partOf(
  bytes: Buffer,
  range: string | undefined,
  type: string,
  headers: Readonly<Record<string, string>>,
): Answer {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined) return typed(type, bytes, 200, headers);
  const [start, end] = [Number(from), Math.min(bytes.length - 1, to ? Number(to) : bytes.length)];
  if (start > end) throw new BoxFault(416, 'requested_page_out_of_range', 'Requested representation page out of range');
  return typed(type, bytes.subarray(start, end + 1), 206, {
    ...headers,
    'content-range': `bytes ${start}-${end}/${bytes.length}`,
  });
}

/** @throws Fault 400 for other parts, another order of them, or a digest of something else */
async function readUpload({ body, headers }: Call) {
  const form = [...(await body.multipart())];
  const names = form.map(([name]) => name);
  const [attributes, file] = ['attributes', 'file'].map((name) => form.find(([each]) => each === name)?.[1]);
  if (attributes === undefined) throw missing('attributes');
  if (!(file instanceof Blob)) throw missing('file');
  if (names.indexOf('file') < names.indexOf('attributes')) {
    const message = 'Metadata is included after file contents in a file upload request.';
    throw new BoxFault(400, 'metadata_after_file_contents', message);
  }
  const text = typeof attributes === 'string' ? attributes : await attributes.text();
  const bytes = Buffer.from(await file.arrayBuffer());
  const digest = headers['content-md5'];
  // SHA-1, whatever the header is called.
  if (digest !== undefined && String(digest).toLowerCase() !== measure(bytes).sha1) {
    throw new BoxFault(400, 'bad_digest', 'The specified content-md5 did not match what we received');
  }
  return { attributes: createBody(Buffer.from(text)).object(), bytes };
}

function readTimes(attributes: Readonly<Record<string, unknown>>, names: readonly string[]): Row {
  const given = names.filter((name) => attributes[name] !== undefined);
  return Object.fromEntries(
    given.map((name) => {
      const ms = Date.parse(String(attributes[name]));
      if (Number.isNaN(ms)) throw invalid(name, `Invalid value '${attributes[name]}'.`);
      return [name, wholeSecond(ms)];
    }),
  );
}
