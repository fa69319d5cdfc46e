import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

let provided = false;

/** The modules that connectors import, and their files. */
const MODULES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '#connector': 'index.ts', '#connector/simulator': 'simulator/index.ts' }).map(([name, file]) => [
    name,
    pathToFileURL(join(import.meta.dirname, file)).href,
  ]),
);

/** Node.js does not read TypeScript below node_modules, but packages with connectors are written in it. */
const INSTALLED_TYPESCRIPT = /\/node_modules\/.*\.ts$/;

/**
 * Lets connectors outside this repository import `#connector` as those inside do, and lets them be installed as packages. It affects the
 * thread that calls it.
 */
export function provideContract(): void {
  if (provided) return;
  provided = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = MODULES.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
    load: (url, context, next) => {
      if (!INSTALLED_TYPESCRIPT.test(url)) return next(url, context);
      const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
      return { format: 'module', source, shortCircuit: true };
    },
  });
}
