import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

let provided = false;

/** What connectors import, and the file that it is. */
const MODULES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '#connector': 'index.ts', '#connector/simulator': 'simulator/index.ts' }).map(([name, file]) => [
    name,
    pathToFileURL(join(import.meta.dirname, file)).href,
  ]),
);

/** Lets connectors outside this repository import `#connector` as those inside do; for the thread that calls it. */
export function provideContract(): void {
  if (provided) return;
  provided = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = MODULES.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}
