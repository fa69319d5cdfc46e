import { basename, join } from 'node:path';

/** A file for browsers. */
export interface BundledFile {
  /** Has a hash of its bytes: a name never means other bytes. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files of the pages, and what each page begins with. */
export interface Bundle {
  readonly files: readonly BundledFile[];
  readonly entries: Readonly<Record<Entry, EntryFiles>>;
}

export interface EntryFiles {
  readonly script: string;
  /** Scripts that the first one needs at once. */
  readonly preloaded: readonly string[];
  readonly styles: readonly string[];
}

export type Entry = (typeof ENTRIES)[number];

/** The console and what sets its theme, the page behind a connect session's URL, the script that opens it, and the one that ends a pop-up window. */
const ENTRIES = ['console', 'theme', 'connect-page', 'connect', 'oauth-callback'] as const;
const FOLDER = join(import.meta.dirname, 'browser');

/**
 * Makes the files of the pages from their sources: about a second.
 * @throws where esbuild is not installed, as in an image of the service, which has them ready made
 */
export async function makeBundle(): Promise<Bundle> {
  const { build, stop } = await import('esbuild');
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: ENTRIES.map((name) => join(FOLDER, `${name}.tsx`)),
      absWorkingDir: FOLDER,
      outdir: 'out',
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      assetNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      minify: true,
      legalComments: 'none',
      define: { 'process.env.NODE_ENV': '"production"' },
      metafile: true,
      write: false,
    });
    const outputs = Object.entries(metafile.outputs);
    const find = (entry: Entry): EntryFiles => {
      const [path, output] = outputs.find(([, { entryPoint }]) => entryPoint === `${entry}.tsx`) ?? [];
      if (path === undefined || output === undefined) throw new Error(`There is no script of ${entry}.`);
      return {
        script: basename(path),
        preloaded: output.imports.filter(({ kind }) => kind === 'import-statement').map((each) => basename(each.path)),
        styles: output.cssBundle === undefined ? [] : [basename(output.cssBundle)],
      };
    };
    return {
      files: outputFiles.map(({ path, contents }) => ({ name: basename(path), bytes: contents })),
      entries: {
        console: find('console'),
        theme: find('theme'),
        'connect-page': find('connect-page'),
        connect: find('connect'),
        'oauth-callback': find('oauth-callback'),
      },
    };
  } finally {
    await stop();
  }
}
