/** Builds the console and the connect page. `npm run console` writes the files to `generated/console`, for an image that cannot build them. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BuildOptions, OutputFile } from 'esbuild';

/** A file that browsers load. */
export interface BundledFile {
  /** The file name with a hash of the bytes, so that a name never stands for other bytes. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files of the pages, the first files of each page, and the names of the scripts that are loaded on their own. */
export interface Bundle {
  readonly files: readonly BundledFile[];
  readonly entries: Readonly<Record<Entry, EntryFiles>>;
  readonly scripts: Readonly<Record<Script, string>>;
}

export interface EntryFiles {
  readonly script: string;
  /** Scripts that the first script imports statically, so that the page can preload them. */
  readonly preloaded: readonly string[];
  readonly styles: readonly string[];
}

export type Entry = (typeof ENTRIES)[number];
export type Script = (typeof SCRIPTS)[number];

/** The pages: the console, the connect page, and the page that replaces it where the connect page must not be shown. */
const ENTRIES = ['console', 'connect-page', 'connect-refused'] as const;
/**
 * Plain scripts, one file each: the script that opens the connect page from a product's page, the scripts that close pop-up windows of the
 * connect page and of the console, and the script that sets the theme before anything is drawn.
 */
const SCRIPTS = ['connect-script', 'connect-return', 'oauth-callback', 'theme'] as const;
const FOLDER = import.meta.dirname;

const OPTIONS = {
  absWorkingDir: FOLDER,
  outdir: 'out',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  write: false,
  metafile: true,
} as const satisfies BuildOptions;

const MODULES = {
  ...OPTIONS,
  entryPoints: ENTRIES.map((name) => join(FOLDER, `${name}.tsx`)),
  splitting: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
} as const satisfies BuildOptions;

/** Options for scripts in plain `<script>` elements, which also run in older browsers than our pages need. */
const CLASSIC = {
  ...OPTIONS,
  entryPoints: SCRIPTS.map((name) => join(FOLDER, `${name}.ts`)),
  format: 'iife',
  target: 'es2020',
} as const satisfies BuildOptions;

/**
 * Builds the files of the pages from their sources, in about a second.
 * @throws where esbuild is not installed, as in the image of the service, which contains the built files
 */
export async function makeBundle(): Promise<Bundle> {
  const { build, stop } = await import('esbuild');
  try {
    const modules = await build(MODULES);
    const classic = await build(CLASSIC);
    const outputs = Object.entries({ ...modules.metafile.outputs, ...classic.metafile.outputs });
    const find = (source: string): EntryFiles => {
      const [path, output] = outputs.find(([, { entryPoint }]) => entryPoint === source) ?? [];
      if (path === undefined || output === undefined) throw new Error(`There is no script of ${source}.`);
      return {
        script: basename(path),
        preloaded: output.imports.filter(({ kind }) => kind === 'import-statement').map((each) => basename(each.path)),
        styles: output.cssBundle === undefined ? [] : [basename(output.cssBundle)],
      };
    };
    return {
      files: [...modules.outputFiles, ...classic.outputFiles].map(toFile),
      entries: {
        console: find('console.tsx'),
        'connect-page': find('connect-page.tsx'),
        'connect-refused': find('connect-refused.tsx'),
      },
      scripts: {
        'connect-script': find('connect-script.ts').script,
        'connect-return': find('connect-return.ts').script,
        'oauth-callback': find('oauth-callback.ts').script,
        theme: find('theme.ts').script,
      },
    };
  } finally {
    await stop();
  }
}

function toFile({ path, contents }: OutputFile): BundledFile {
  return { name: basename(path), bytes: contents };
}

async function writeBundle(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { files, ...bundle } = await makeBundle();
  for (const { name, bytes } of files) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, 'bundle.json'), JSON.stringify({ ...bundle, names: files.map(({ name }) => name) }));
}

if (import.meta.main) await writeBundle(join(FOLDER, '../generated/console'));
