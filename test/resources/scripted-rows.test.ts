import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { isAppError } from '../../src/errors.ts';
import type { MappingScript } from '../../src/mappings/model.ts';
import { createSandbox, type ScriptJob } from '../../src/scripts/index.ts';
import { createTrace, type Trace, withTrace } from '../../src/trace.ts';
import { anyFailureOf } from '../support/failures.ts';
import type { FakeRow } from './fake-provider.ts';
import { openScripted } from './scripted.ts';

const ROWS: readonly FakeRow[] = Array.from({ length: 120 }, (_, id) => ({
  ...{ id, score: id % 10, place: null },
  name: `n${id}`,
}));
const PASS = 'done(transformedObject);';

const ids = (rows: readonly unknown[]) => rows.map((row) => Reflect.get(Object(row), 'id'));

describe('the rows of an object whose mapping has a script', () => {
  const sandbox = createSandbox({ clock: SYSTEM_CLOCK });
  after(() => sandbox.close());

  /** The number of rows that the script ran for. */
  let ran = 0;
  beforeEach(() => {
    ran = 0;
  });

  async function run(job: ScriptJob) {
    const results = await sandbox.run(job);
    ran += results.length;
    return results;
  }

  const open = (script: string | MappingScript, rows: readonly FakeRow[] = ROWS, changesFilters = false) =>
    openScripted({ run, script, rows, changesFilters });

  it('are transformed as they are read, in pages without gap and overlap', async () => {
    const service = open(`transformedObject.name += '!'; ${PASS}`);
    for (const pageSize of [7, 50, 100]) {
      const { rows } = await service.listAll({ pageSize });
      expect(ids(rows)).to.deep.equal(ids(ROWS));
      expect(rows[3]).to.deep.equal({ id: 3, name: 'n3!', score: 3 });
    }
  });

  it('are not transformed when nobody reads them', async () => {
    const service = open(`transformedObject.name += '!'; ${PASS}`);
    // The provider's page has 50 rows, because the script may change the field of the filter.
    const { records } = await service.list({ pageSize: 2, where: "name LIKE 'n%'" });
    expect(ids(records)).to.deep.equal([0, 1]);
    expect(ran).to.be.below(50);
  });

  it('are left out where the script returns nothing', async () => {
    const body = `if (originalObject.id % 3 === 0) done(null); else ${PASS}`;
    const service = open({ body, filterEmptyResponse: true });
    const kept = ids(ROWS).filter((id) => Number(id) % 3 !== 0);
    for (const pageSize of [1, 20, 60]) expect(ids((await service.listAll({ pageSize })).rows)).to.deep.equal(kept);
    const sorted = await service.listAll({ pageSize: 30, orderBy: 'name' });
    expect(new Set(ids(sorted.rows))).to.deep.equal(new Set(kept));
    expect((await service.list()).totalCount).to.equal(undefined);
  });

  describe('tell the activity', () => {
    async function traced(script: string, rows: readonly FakeRow[] = ROWS.slice(0, 3)): Promise<Trace> {
      const trace = createTrace('1');
      const { list } = open(script, rows);
      await withTrace({ trace, span: undefined }, () => list({ pageSize: 200 }));
      return trace;
    }

    it('what the script wrote, up to 50 lines', async () => {
      const { scripts } = await traced(`console.log('row', originalObject.id); ${PASS}`, ROWS);
      expect(scripts).to.include({ lineCount: 120, failures: 0 });
      expect(scripts?.console).to.deep.equal(ids(ROWS.slice(0, 50)).map((id) => `row ${id}`));
    });

    it('nothing where there is nothing to tell', async () => {
      expect(await traced(PASS)).to.not.have.property('scripts');
    });

    it('why it failed and for which records, with the first five reasons', async () => {
      const byReason = await traced("throw 'reason ' + (originalObject.id % 7);", ROWS);
      expect(byReason.scripts).to.include({ failures: 120 });
      expect(byReason.scripts?.reasons.map(({ reason }) => reason)).to.deep.equal(
        [0, 1, 2, 3, 4].map((number) => `reason ${number}`),
      );
      expect(byReason.scripts?.reasons[2]).to.deep.include({ count: 17 });
      expect(byReason.scripts?.reasons[2]?.recordIds.slice(0, 3)).to.deep.equal(['2', '9', '16']);
      expect(byReason.scripts?.reasons[2]?.recordIds).to.have.length(10);
    });

    for (const [what, script, reason] of [
      ['took too long', 'while (true);', 'Script execution timed out after 50 ms'],
      ['never called done', 'transformedObject.name = 1;', 'The script ended without a call of done.'],
      ['returned no object', 'done(5);', 'The script returned no object.'],
    ] as const)
      it(`that the script ${what}`, async () => {
        const { scripts } = await traced(script, ROWS.slice(0, 1));
        expect(scripts?.reasons).to.deep.equal([{ reason, count: 1, recordIds: ['0'] }]);
      });
  });

  describe('found by a filter that the script changes', () => {
    /** Shows scores ten times as high, and divides what is asked for. */
    const TENFOLD = `
      if (isWhere) transformedObject.where.forEach((condition) => {
        if (condition.attribute === 'score') condition.value = condition.value / 10;
      });
      else if (fromVendor) transformedObject.score = originalObject.score * 10;
      done(transformedObject);`;
    const filterOf = ({ sent }: ReturnType<typeof open>) =>
      Reflect.get(Object(Reflect.get(Object(sent.at(-1)), 'json')), 'filter');

    it('are asked for by its values, and checked by the filter that was asked', async () => {
      const service = open(TENFOLD, ROWS, true);
      const { records, pushdown } = await service.list({ where: 'score >= 80', pageSize: 100 });
      expect(filterOf(service)).to.deep.equal([['score', '>=', '8']]);
      // The provider returns a few more.
      expect(records.map(({ score }) => score)).to.deep.equal(
        Array.from({ length: 24 }, (_, at) => (at % 2 === 0 ? 80 : 90)),
      );
      expect(pushdown).to.equal('partial');
      const { rows } = await service.listAll({ where: 'score >= 80', pageSize: 5 });
      expect(rows).to.deep.equal(records);
    });

    it('are all rows without the setting, or for a poll', async () => {
      for (const service of [open(TENFOLD), open(TENFOLD, ROWS, true)]) {
        const { instance, resources } = service;
        const target = { instance, objectName: 'rows', signal: new AbortController().signal, keepsFilter: true };
        const request = { where: 'score >= 80', pageSize: 100, maxProviderCalls: 25, pushdownOnly: false };
        expect((await resources.listRecords(target, request)).records).to.have.length(24);
        expect(filterOf(service)).to.equal(undefined);
      }
    });

    it('are missing where its values do not find them', async () => {
      const body = 'if (isWhere) transformedObject.where[0].value = 9; done(transformedObject);';
      const { records } = await open(body, ROWS, true).list({ where: 'score >= 5', pageSize: 100 });
      // With one that the provider returns beside them: each is right, and those with 5, 6 and 7 are not found.
      expect(new Set(records.map(({ score }) => score))).to.deep.equal(new Set([8, 9]));
    });

    for (const [what, body, reason] of [
      ['throws', "if (isWhere) throw 'not this'; done(transformedObject);", 'not this'],
      [
        'takes too long',
        'if (isWhere) while (true); done(transformedObject);',
        'Script execution timed out after 50 ms',
      ],
      ['returns nothing', 'if (isWhere) done(null); else done(transformedObject);', 'The script returned no filter.'],
      [
        'makes values of chance',
        'if (isWhere) transformedObject.where[0].value = Math.random(); done(transformedObject);',
        'The script made different values of the same filter.',
      ],
    ] as const)
      it(`are those of the filter as it is when the script ${what}, which the activity tells`, async () => {
        const trace = createTrace('1');
        const service = open(body, ROWS, true);
        const { records } = await withTrace({ trace, span: undefined }, () =>
          service.list({ where: 'score >= 9', pageSize: 100 }),
        );
        expect(ids(records)).to.deep.equal(ids(ROWS.filter(({ score }) => Number(score) >= 9)));
        expect(trace.scripts?.reasons).to.deep.equal([{ reason, count: 1, recordIds: [] }]);
      });
  });

  it('are refused with too many members, before anything walks over them', async () => {
    const name = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`m${index}`, 1]));
    const failure = await anyFailureOf(open(PASS, [{ id: 1, name, score: 1, place: null }]).list());
    expect(isAppError(failure, 'PROVIDER_PROTOCOL')).to.equal(true);
    expect(ran).to.equal(0);
  });
});
