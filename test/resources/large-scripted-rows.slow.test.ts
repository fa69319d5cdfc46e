import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createSandbox, type ScriptJob } from '../../src/scripts/index.ts';
import type { FakeRow } from './fake-provider.ts';
import { openScripted } from './scripted.ts';

const MIB = 2 ** 20;
const PASS = 'done(transformedObject);';

describe('large rows of an object whose mapping has a script', () => {
  const sandbox = createSandbox({ clock: SYSTEM_CLOCK });
  after(() => sandbox.close());

  /** The greatest number of characters of results that one job returned. */
  let mostCharacters = 0;
  async function run(job: ScriptJob) {
    const results = await sandbox.run(job);
    mostCharacters = Math.max(mostCharacters, JSON.stringify(results).length);
    return results;
  }

  const open = (script: string, rows: readonly FakeRow[]) => openScripted({ run, script, rows });

  it('may have 8 MB each', async () => {
    const text = 'x'.repeat(8 * MIB - 1000);
    const service = open(PASS, [{ id: 1, name: text, score: 1, place: null }]);
    const { records } = await service.list();
    expect(records[0]?.name).to.have.length(text.length);
  });

  it('end a page early when their results are large, so that memory is bounded', async () => {
    const rows = Array.from({ length: 20 }, (_, id): FakeRow => ({ id, score: id % 10, place: null, name: `n${id}` }));
    const service = open("transformedObject.name = 'x'.repeat(1e6); done(transformedObject);", rows);
    const first = await service.list({ pageSize: 100 });
    expect(first.cutBy).to.equal('bytes');
    expect(first.bytes).to.be.below(17 * MIB);
    const all = await service.listAll({ pageSize: 100, fields: 'id' });
    expect(all.rows).to.deep.equal(rows.map(({ id }) => ({ id })));
    // Rows that the filter rejects are not kept either.
    expect((await service.list({ pageSize: 100, where: "name = 'x'" })).records).to.deep.equal([]);
    expect(mostCharacters).to.be.below(13 * MIB);
  });
});
