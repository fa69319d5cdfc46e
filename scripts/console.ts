/** Writes the files of the console and of the connect page to `generated/console`, for an image that cannot make them: `npm run console`. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeBundle } from '../src/console/bundle.ts';

const folder = resolve(import.meta.dirname, '../generated/console');
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const { files, ...bundle } = await makeBundle();
for (const { name, bytes } of files) await writeFile(join(folder, name), bytes);
await writeFile(join(folder, 'bundle.json'), JSON.stringify({ ...bundle, names: files.map(({ name }) => name) }));
