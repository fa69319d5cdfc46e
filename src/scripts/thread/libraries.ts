import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { utilModule } from '../inside/util.ts';

/** A module of CommonJS with its text. */
interface LibraryModule {
  readonly name: string;
  readonly text: string;
}

const { resolve } = createRequire(import.meta.url);

function moduleOf(name: string, file = name): LibraryModule {
  return { name, text: readFileSync(resolve(file), 'utf8') };
}

/** The modules of each library that a script can load. Names that begin with a point cannot be loaded by scripts. */
const LIBRARIES: Readonly<Record<string, () => readonly LibraryModule[]>> = {
  util: () => [{ name: 'util', text: `module.exports = (${utilModule})();` }],
  moment: () => [moduleOf('moment', 'moment/min/moment.min.js')],
  lodash: () => [moduleOf('lodash', 'lodash/lodash.min.js')],
  'lodash/fp': () => [
    moduleOf('./lodash.min', 'lodash/lodash.min.js'),
    moduleOf('./placeholder', 'lodash/fp/placeholder.js'),
    moduleOf('./_mapping', 'lodash/fp/_mapping.js'),
    moduleOf('./fp/_baseConvert', 'lodash/fp/_baseConvert.js'),
    moduleOf('lodash/fp', 'lodash/fp.js'),
  ],
};

const NAMES = Object.keys(LIBRARIES);
const LITERAL = /\brequire\s*\(\s*(['"`])([\w/]+)\1\s*\)/g;

/**
 * Returns the libraries that a script may load: those that it names, or all of them when it uses `require` in another way. Loading them
 * before the script runs means that they are loaded once for all scripts that use the same ones.
 */
export function librariesOf(body: string): readonly string[] {
  const named = [...body.matchAll(LITERAL)].map(([, , name = '']) => name);
  const uses = body.match(/\brequire\b/g)?.length ?? 0;
  return uses > named.length ? NAMES : NAMES.filter((name) => named.includes(name));
}

/** Returns the modules of these libraries in the order in which they are loaded. */
export function modulesOf(libraries: readonly string[]): readonly LibraryModule[] {
  return libraries.flatMap((name) => LIBRARIES[name]?.() ?? []);
}
