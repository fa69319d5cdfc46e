import { getOk, type Target } from './target.ts';
import { compareValues, type WriteSample } from './writes.ts';

/** Content with every byte, a text that looks like the end of a form, and more bytes than arrive in one piece. */
const BYTES = Buffer.concat([
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from('\r\n--\r\n--boundary--\r\n\r\n'),
  Buffer.alloc(200_000, 'file'),
]);
const VERSION = Buffer.from('Another version.');

const NAMES: readonly string[] = [
  'plain.txt',
  `it's "quoted"; name=x.txt`,
  'Übersicht 文書 🎉.txt',
  `${'long'.repeat(20)}.txt`,
];

/** Value of `Accept` for any type of file, but not for the record. */
const ANY_FILE = 'application/json;q=0, */*';

interface Uploaded {
  readonly name: string;
  readonly sample: WriteSample;
}

/**
 * Uploads files with hostile names, downloads them again byte for byte, and replaces them.
 * @returns the faults
 */
export async function uploadFiles(target: Target, { name, sample }: Uploaded): Promise<readonly string[]> {
  const object = target.objects[name];
  const { upload } = object ?? {};
  if (object === undefined || upload?.create === undefined) return [];
  const faults = await failToUpload(target, `/${name}`, sample.create(10));
  for (const [number, fileName] of NAMES.filter((each) => !sample.alteredTexts?.includes(each)).entries()) {
    const values = sample.create(11 + number);
    const created = await getOk(target, `/${name}`, { method: 'POST', body: formOf(values, BYTES, fileName) });
    const path = `/${name}/${encodeURIComponent(String(created.body[object.idField ?? 'id']))}`;
    const shown = Object.fromEntries(Object.entries(values).filter(([field]) => !sample.neverShown?.includes(field)));
    const found = compareValues('uploaded', shown, created.body);
    found.push(...compareValues('got after upload', shown, (await getOk(target, path)).body));
    if (object.media !== undefined) found.push(...(await download(target, path, BYTES)));
    if (upload.replace !== undefined) {
      await getOk(target, path, { method: 'PUT', body: formOf({}, VERSION, fileName) });
      if (object.media !== undefined) found.push(...(await download(target, path, VERSION)));
    }
    if (object.remove !== undefined) await getOk(target, path, { method: 'DELETE' });
    faults.push(...found.map((fault) => `${path} (${fileName}): ${fault}`));
  }
  return faults;
}

function formOf(values: object, bytes: Uint8Array<ArrayBuffer>, fileName: string): FormData {
  const form = new FormData();
  form.set('metadata', JSON.stringify(values));
  form.set('file', new Blob([bytes], { type: 'text/plain' }), fileName);
  return form;
}

async function download(target: Target, path: string, bytes: Buffer): Promise<readonly string[]> {
  const { status, body } = await target.call(path, { headers: { accept: ANY_FILE }, asBytes: true });
  if (status === 200 && bytes.equals(body)) return [];
  return [`its file of ${bytes.length} bytes came back as ${status} with ${body.length} bytes, which are not the same`];
}

async function failToUpload(target: Target, path: string, values: object): Promise<string[]> {
  const body = formOf({ ...values, nosuchfield: 1 }, VERSION, 'refused.txt');
  const { status, body: problem } = await target.call(path, { method: 'POST', body });
  if (status === 400 && problem.code === 'REQUEST_INVALID' && problem.details?.[0]?.path === '/body/nosuchfield')
    return [];
  return [`a file with an unknown field returned ${status} ${JSON.stringify(problem)}`];
}
