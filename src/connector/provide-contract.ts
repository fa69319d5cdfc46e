import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

let provided = false;

/** Lets connectors outside this repository import `#connector` as those inside do; for the thread that calls it. */
export function provideContract(): void {
  if (provided) return;
  provided = true;
  const url = pathToFileURL(join(import.meta.dirname, 'index.ts')).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '#connector' ? { url, shortCircuit: true } : next(specifier, context),
  });
}
