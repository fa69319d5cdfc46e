import { expect } from 'chai';
import { createPrograms } from '../../src/formulas/programs.ts';
import { createScheduler } from '../../src/formulas/scheduler.ts';
import { composeTemplates } from '../../src/formulas/templates-room.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { isDistributedRun } from '../support/nodes.ts';
import { createLocalNotifier } from '../support/notifier.ts';
import { until } from '../support/until.ts';
import { countWaiting, holdChanges } from '../support/waiting.ts';
import { useFormulaBench } from './bench.ts';
import { script, subFormula } from './steps.ts';

const CALLER = { organizationId: 1, accountId: 1, userId: 1, seesAll: false, mayNameAll: false };
const END = script('end', 'done()');

// On a distributed database these changes take turns from their beginning.
(isDistributedRun ? describe.skip : describe)('changes of formulas at the same time', () => {
  const database = useDatabase();
  const bench = useFormulaBench(database);
  const notifier = createLocalNotifier();

  const room = () =>
    composeTemplates({ knex: database.knex, notifier, clock: bench.clock } as never, {
      registry: { connectors: [] },
      instances: { get: () => Promise.reject(new Error('No test names an element instance.')) },
      reservedNames: new Set(),
      isLocal: true,
      noteCreated: () => undefined,
    });

  const isWaiting = async () => (await countWaiting(database.knex, 'transactionid')) > 0;

  it('leave the time to which a schedule moved on meanwhile', async () => {
    const { knex } = database;
    const { formulaId, formulaInstanceId: id } = await bench.addFormula({
      steps: [END],
      trigger: { type: 'scheduled', properties: { cron: '0 0 * * * ?' } },
    });
    const due = new Date(bench.clock.now() - 1_000);
    await knex('formula_instance').where({ id }).update({ next_due: due });
    const other = await knex.transaction();
    await other('formula').where({ id: formulaId }).forUpdate().first();
    const patched = room().formulaInstances.patch(CALLER, { formulaId, id }, { name: 'Other' });
    await until(isWaiting);
    const scheduler = createScheduler(
      { knex, clock: bench.clock, log: silentLog, buckets: ALL_BUCKETS },
      { programs: createPrograms({ knex, notifier } as never), wake: () => undefined },
    );
    scheduler.start();
    await until(async () => (await knex('formula_run').where({ formula_instance_id: id })).length > 0);
    await scheduler.stop();
    await other.commit();
    const { nextDue } = await patched;
    expect(nextDue?.getTime()).to.be.greaterThan(bench.clock.now());
  });

  it('are those by which a schedule starts, although this process has not heard of them yet', async () => {
    const { knex } = database;
    const trigger = { type: 'scheduled', properties: { cron: '0 0 * * * ?' } } as const;
    const { formulaInstanceId: id } = await bench.addFormula({ steps: [END], trigger });
    const programs = createPrograms({ knex, notifier } as never);
    await knex('formula_instance').where({ id }).update({ active: false });
    expect(await programs.findInstance(1, id)).to.include({ active: false });
    const due = new Date(bench.clock.now() - 1_000);
    await knex('formula_instance').where({ id }).update({ active: true, next_due: due });
    const scheduler = createScheduler(
      { knex, clock: bench.clock, log: silentLog, buckets: ALL_BUCKETS },
      { programs, wake: () => undefined },
    );
    scheduler.start();
    const findNextDue = async () => (await knex('formula_instance').where({ id }).first('next_due'))?.next_due;
    await until(async () => (await findNextDue())?.getTime() !== due.getTime());
    await scheduler.stop();
    expect((await findNextDue())?.getTime()).to.be.greaterThan(bench.clock.now());
    expect(await knex('formula_run').where({ formula_instance_id: id })).to.have.length(1);
  });

  it('make no circle of formulas that call each other', async () => {
    const { knex } = database;
    const [one, two] = [await bench.addFormula({ steps: [END] }), await bench.addFormula({ steps: [END] })];
    const callOf = ({ formulaId }: typeof one) => ({
      name: 'Test',
      triggers: [{ type: 'manual', properties: {}, onSuccess: ['call'] }],
      steps: [subFormula('call', { formulaId: String(formulaId) })],
    });
    await holdChanges(knex, ['formula'], 'pg_advisory_xact_lock_shared(7)');
    const turn = await knex.transaction();
    await turn.raw('select pg_advisory_xact_lock(7)');
    const { templates } = room();
    const changes = Promise.allSettled([
      templates.replace(CALLER, one.formulaId, callOf(two)),
      templates.replace(CALLER, two.formulaId, callOf(one)),
    ]);
    await until(async () => (await countWaiting(knex)) === 2);
    await turn.commit();
    expect((await changes).map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
  });

  it('keep an instance whose time to live is extended in the moment in which it ends', async () => {
    const { knex } = database;
    const { formulaInstanceId: id } = await bench.addFormula({ steps: [END] });
    const rows = knex('formula_instance').where({ id });
    const inMs = (ms: number) => new Date(bench.clock.now() + ms);
    await rows.clone().update({ expires_at: inMs(-1_000) });
    const other = await knex.transaction();
    await other('formula_instance')
      .where({ id })
      .update({ expires_at: inMs(60_000) });
    const removed = room().formulaInstances.removeExpired();
    await until(isWaiting);
    await other.commit();
    await removed;
    expect(await rows.clone().pluck('id')).to.deep.equal([id]);
    await rows.clone().update({ expires_at: inMs(-1_000) });
    await room().formulaInstances.removeExpired();
    expect(await rows.clone().pluck('id')).to.deep.equal([]);
  });
});
