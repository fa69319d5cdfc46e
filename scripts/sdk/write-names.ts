/** Writes the names of `sdk/names.json` wherever they stand: `npm run sdk:names`. */
import { writeReadme } from './first-queries.ts';
import { writeNames } from './names.ts';

writeNames();
writeReadme();
