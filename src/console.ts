import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle, Entry, Script } from '../console/build.ts';

export type Console = ReturnType<typeof createConsole>;

export type PageData = Readonly<Record<string, string>>;

const FILES_PATH = '/console/assets';

/** Where an image of the service has the files ready made, as it has nothing to make them with. */
const READY_MADE = join(import.meta.dirname, '../generated/console');

const TITLES: Readonly<Record<Entry, string>> = {
  console: 'Causeway',
  'connect-page': 'Connect an account',
  'connect-refused': 'Connect an account',
};

/** Serves the pages that people look at, as files for their browsers: those in `generated/console`; where there are none, builds them when a page is first requested. */
export function createConsole() {
  let opened: Promise<OpenBundle> | undefined;
  const open = async () => {
    opened ??= openBundle();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
  return {
    /** Returns a page. `data` becomes `data-…` attributes for its scripts, percent-encoded. */
    page: async (entry: Entry, data: PageData = {}) => printPage((await open()).bundle, entry, data),
    /** Returns a file by its name; undefined for an unknown name. */
    file: async (name: string) => (await open()).files.get(name)?.(),
    /** Returns a script that is not part of the console's pages, such as `connect.js`, with its path. */
    script: async (script: Script) => {
      const { bundle, files } = await open();
      const name = bundle.scripts[script];
      const bytes = await files.get(name)?.();
      if (bytes === undefined) throw new Error(`There is no file ${name} of the script ${script}.`);
      return { path: `${FILES_PATH}/${name}`, bytes };
    },
  };
}

interface OpenBundle {
  readonly bundle: Pick<Bundle, 'entries' | 'scripts'>;
  readonly files: ReadonlyMap<string, () => Promise<Uint8Array>>;
}

async function openBundle(): Promise<OpenBundle> {
  const written = await readReadyMade();
  if (written !== undefined) return written;
  // An image of the service has neither the sources of the pages nor esbuild.
  const { makeBundle } = await import('../console/build.ts');
  const bundle = await makeBundle();
  return { bundle, files: new Map(bundle.files.map(({ name, bytes }) => [name, async () => bytes])) };
}

/** Reads the files that `npm run console` wrote, if it ran. */
async function readReadyMade(): Promise<OpenBundle | undefined> {
  const list = await readFile(join(READY_MADE, 'bundle.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (list === undefined) return undefined;
  const { names, ...bundle }: OpenBundle['bundle'] & { readonly names: readonly string[] } = JSON.parse(list);
  return { bundle, files: new Map(names.map((name) => [name, () => readFile(join(READY_MADE, name))])) };
}

function printPage({ entries, scripts }: OpenBundle['bundle'], entry: Entry, data: PageData): string {
  const { script, preloaded, styles } = entries[entry];
  // The first paint waits for this script.
  const first = entry === 'console' ? [scripts.theme] : [];
  return `<!doctype html>
<html lang="en"${Object.entries(data)
    .map(([name, value]) => ` data-${name}="${encodeURIComponent(value)}"`)
    .join('')}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${TITLES[entry]}</title>
<link rel="icon" href="data:,">
${first.map((name) => `<script src="${FILES_PATH}/${name}"></script>`).join('\n')}
${styles.map((name) => `<link rel="stylesheet" href="${FILES_PATH}/${name}">`).join('\n')}
${preloaded.map((name) => `<link rel="modulepreload" href="${FILES_PATH}/${name}">`).join('\n')}
<script type="module" src="${FILES_PATH}/${script}"></script>
</head>
<body><div id="page"></div></body>
</html>
`;
}
