import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const odata = require('@balena/odata-parser');
function bench(name: string, f: ()=>unknown){ try {f();} catch(e:any){console.log(name,'FAIL',e.message.slice(0,300));return;} for(let i=0;i<2000;i++)f(); const t=performance.now(); let n=0; while(performance.now()-t<1000){for(let i=0;i<10;i++)f(); n+=10;} console.log(name, Math.round(n/((performance.now()-t)/1000))); }
const o3 = "/items?$filter=status eq 'open' and priority ge 3 and created gt datetime'2026-01-01T00:00:00Z'";
console.log(JSON.stringify(odata.parse(o3)).slice(0,800));
bench('odata3',()=>odata.parse(o3));
bench('odata1',()=>odata.parse("/items?$filter=status eq 'open'"));
try { const {JastBuilder}=require('@atlaskit/jql-ast'); const b=new JastBuilder(); const j="status = 'open' AND priority >= 3 AND created > '2026-01-01 00:00'"; console.log(Object.keys(b.build(j)), b.build(j).errors); bench('jql3',()=>b.build(j)); } catch(e:any){console.log('jql',e.message)}
try { const s=require('@salesforce/soql-common'); console.log(Object.keys(s)); const p=require('@salesforce/soql-common/lib/soql-parser'); console.log(Object.keys(p)); const pr=p.SOQLParser?.({isApex:false,isMultiCurrencyEnabled:true,apiVersion:60}); const q="SELECT Id FROM X WHERE status = 'open' AND priority >= 3 AND created > 2026-01-01T00:00:00Z"; const r=pr.parseQuery(q); console.log(Object.keys(r), r.getSuccess?.()); bench('sf3',()=>pr.parseQuery(q)); } catch(e:any){console.log('sf',e.message)}
