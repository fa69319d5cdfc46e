'use strict';
// Loaded before everything else by `npm start`. It is written so that any Node.js can run it, also one that cannot even
// load the rest and would only say that it does not know the extension ".ts".
// Argon2, for passwords, came with 24.7.
var parts = process.versions.node.split('.');
if (Number(parts[0]) < 24 || (Number(parts[0]) === 24 && Number(parts[1]) < 7)) {
  console.error(
    'Causeway needs Node.js 24.7 or newer; this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). Install it, or let npm bring it along: npm ci --include=optional --ignore-scripts=false',
  );
  process.exit(1);
}
// From the second start on, nothing is compiled: that halves the time of loading, and saves what holds the compiler of TypeScript.
// Where the folder cannot be written, nothing is kept. Threads go by the variable.
var cache = require('node:module').enableCompileCache(
  require('node:path').join(__dirname, '../node_modules/.cache/compiled'),
);
if (cache.directory !== undefined) process.env.NODE_COMPILE_CACHE = cache.directory;
