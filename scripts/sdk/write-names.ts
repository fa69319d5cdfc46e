/** Writes the names in `sdk/names.json` into all files: `npm run sdk:names`. */
import { writeFirstQueries } from './first-queries.ts';
import { writeNames } from './names.ts';

writeNames();
writeFirstQueries();
