import { assertSound, measureClaims } from '/work/main/test/connector-suite/soundness.ts';
import { findListings, startTarget } from '/work/main/test/connector-suite/target.ts';
import { startCapServer } from '/work/main/test/support/cap-server.ts';

describe('try', function () {
  this.timeout(600000);
  for (const name of (process.env.T ?? 'bamboohr,odata,cap').split(','))
    it(name, async () => {
      const cap = name === 'cap' ? await startCapServer() : undefined;
      const target = await startTarget(
        name === 'bamboohr'
          ? { element: 'bamboohr', configuration: { username: 'demo-key', 'company.name': 'acme', simulator: true } }
          : {
              element: 'odata',
              configuration: cap
                ? { 'base.url': cap.url }
                : { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true },
            },
      );
      try {
        const listings = await findListings(target);
        for (const l of listings) {
          console.log(l.name, l.rows.length, l.idField);
          if (l.rows.length < 15) continue;
          let t = performance.now();
          for (let seed = 1; seed < Number(process.env.SEEDS ?? 4); seed++) {
            try {
              await assertSound(target, l, { filters: Number(process.env.N ?? 150), seed });
            } catch (e) {
              console.log(String(e).slice(0, 1500));
            }
          }
          console.log('sound ms', performance.now() - t);
          t = performance.now();
          const f = await measureClaims(target, l, Number(process.env.M ?? 5)).catch((e) => [String(e)]);
          console.log('claims ms', performance.now() - t, f.length, f.slice(0, 20));
        }
      } finally {
        await target.stop();
        await cap?.stop();
      }
    });
});
