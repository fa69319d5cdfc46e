/** Extracts the examples of a README: the first one into `first.ts`, and all of them, as one program, into `examples.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';

const [readme] = process.argv.slice(2);
const blocks = [...readFileSync(readme, 'utf8').matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
const imports = [
  "import { openAsBlob } from 'node:fs';",
  "import { createServer } from 'node:http';",
  "import { text } from 'node:stream/consumers';",
  "import { Causeway, escapeLike, verifyEvent, WhereError, where } from '@causeway/client';",
];
writeFileSync('first.ts', blocks[0]);
writeFileSync('examples.ts', [...imports, ...blocks].join('\n').replace(/^import .*\n(?=\ninterface)/gm, ''));
