import { parseWhere } from '../../src/where/parse.ts';
import { lexer } from '../../src/where/tokens.ts';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const soql = require('@jetstreamapp/soql-parser-js');
const odata = require('@balena/odata-parser');
const pg = require('pgsql-ast-parser');
const { Parser } = require('node-sql-parser');
const nsp = new Parser();
const f3 = "status = 'open' AND priority >= 3 AND created > 2026-01-01T00:00:00Z";
const f1 = "status = 'open'";
const o3 = "$filter=status eq 'open' and priority ge 3 and created gt 2026-01-01T00:00:00Z";
function bench(name: string, f: ()=>unknown){ try {f();} catch(e:any){console.log(name,'FAIL',e.message.slice(0,200));return;} for(let i=0;i<2000;i++)f(); const t=performance.now(); let n=0; while(performance.now()-t<1000){for(let i=0;i<50;i++)f(); n+=50;} console.log(name, Math.round(n/((performance.now()-t)/1000))); }
bench('ours1',()=>parseWhere(f1)); bench('ours3',()=>parseWhere(f3)); bench('lexer3',()=>lexer.tokenize(f3));
bench('soql3',()=>soql.parseQuery("SELECT Id FROM X WHERE status = 'open' AND priority >= 3 AND created > 2026-01-01T00:00:00Z"));
bench('odata3',()=>odata.parse(o3,{startRule:'QueryOptions'}));
bench('odata1',()=>odata.parse("$filter=status eq 'open'",{startRule:'QueryOptions'}));
bench('pg3',()=>pg.parse("select * from x where status = 'open' AND priority >= 3 AND created > '2026-01-01T00:00:00Z'"));
bench('nsp3',()=>nsp.astify("select * from x where status = 'open' AND priority >= 3 AND created > '2026-01-01T00:00:00Z'",{database:'postgresql'}));
