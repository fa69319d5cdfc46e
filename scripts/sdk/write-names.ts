/** Writes the names of `sdk/names.json` wherever they stand: `npm run sdk:names`. */
import { writeFirstQueries } from './first-queries.ts';
import { writeNames } from './names.ts';

writeNames();
writeFirstQueries();
