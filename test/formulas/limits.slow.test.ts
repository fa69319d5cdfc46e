import { expect } from 'chai';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { createStartLimit } from '../../src/formulas/executions/start-limit.ts';
import { createPrograms } from '../../src/formulas/programs.ts';
import { createRequestTriggers } from '../../src/formulas/request-triggers.ts';
import { createTriggers } from '../../src/formulas/triggers.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { createLocalNotifier } from '../support/notifier.ts';
import { useFormulaBench } from './bench.ts';
import { loop, request, script } from './steps.ts';

const END = script('end', 'done()');
const SOURCE = { elementKey: 'box', hub: 'documents' } as never;

describe('runaway formulas', () => {
  const database = useDatabase();
  const bench = useFormulaBench(database);

  const limitOf = (perMinute: number) =>
    createStartLimit({ countStarts: createRunStore(database.knex).countStarts, clock: bench.clock, perMinute });
  const triggersWith = (perMinute: number) =>
    createTriggers({
      programs: createPrograms({ knex: database.knex, notifier: createLocalNotifier() } as never),
      startLimit: limitOf(perMinute),
      mayWorkIn: async () => false,
      clock: bench.clock,
      wake: () => undefined,
    });
  const reasonsOf = async (formulaInstanceId: number) => {
    const { rows } = await database.knex.raw<{ rows: { status: string; reason: string | null }[] }>(
      `select e.status, s.content->0->>1 as reason from formula_execution e left join formula_step s on s.execution_id = e.id
       where e.formula_instance_id = ? order by e.id`,
      [formulaInstanceId],
    );
    return rows;
  };

  it('end after a number of steps', async () => {
    const key = await bench.addFormula({
      steps: [
        script('list', 'done({ all: [1, 2, 3, 4, 5, 6, 7, 8, 9] })', { onSuccess: ['each'] }),
        loop('each', '${steps.list.all}', { onSuccess: ['body'] }),
        script('body', 'done()', { onSuccess: ['each'] }),
      ],
    });
    bench.startWorker({ options: { executedSteps: 10 } });
    const [id = 0] = await bench.executions.start(key, {});
    await bench.untilStatus(1, id, 'failed');
    const [fault] = (await bench.stepsOf(1, id)).slice(-1);
    expect(fault?.content).to.deep.equal([[['error'], 'The execution has more than 10 steps.']]);
  });

  it('end after a time', async () => {
    const key = await bench.addFormula({
      steps: [
        request('get', { method: 'GET', api: '/x', retry: 'true', retryDelay: 60_000 }, { onFailure: ['end'] }),
        END,
      ],
    });
    bench.playApi(() => ({ status: 500 }));
    bench.startWorker();
    const [id = 0] = await bench.executions.start(key, {});
    await bench.until(async () => (bench.calls.length > 0 ? true : undefined));
    bench.pass(25 * 3_600_000);
    await bench.untilStatus(1, id, 'failed');
    const [fault] = (await bench.stepsOf(1, id)).slice(-1);
    expect(fault?.content).to.deep.equal([[['error'], 'The execution takes longer than 24 hours.']]);
  });

  it('are refused by the API when they are started too often, until the minute is over', async () => {
    const key = await bench.addFormula({ steps: [END] });
    const instance = { accountId: 1, id: key.formulaInstanceId };
    const limit = limitOf(3);
    const start = async () => {
      const refusal = await limit.take(instance);
      if (refusal === undefined) await bench.executions.start(key, {});
      return refusal;
    };
    for (let count = 0; count < 3; count++) expect(await start()).to.equal(undefined);
    const refusal = `Formula instance ${instance.id} was started more than 3 times within a minute.`;
    expect(await start()).to.equal(refusal);
    // Another process knows of the starts of the first.
    const other = limitOf(3);
    const [first, ...later] = [
      await other.take(instance),
      await other.take(instance),
      await other.take(instance),
      await other.take(instance),
    ];
    expect([first, later.at(-1)]).to.deep.equal([undefined, refusal]);
    bench.pass(61_000);
    expect(await start()).to.equal(undefined);
  });

  it('leave a failed execution for each event that is too much', async () => {
    const key = await bench.addFormula({
      steps: [END],
      trigger: { type: 'event', properties: { elementInstanceId: '427' } },
    });
    const triggers = triggersWith(2);
    for (let count = 0; count < 4; count++) {
      const event = {
        accountId: 1,
        instanceId: 427,
        type: 'files.created',
        objectName: 'files',
        objectId: String(count),
      } as const;
      const triggered = await triggers.ofEvent(event, SOURCE, `evt_${count}`);
      await database.knex.transaction(async (via) => triggered?.insert(via));
    }
    const reason = `Formula instance ${key.formulaInstanceId} was started more than 2 times within a minute.`;
    expect(await reasonsOf(key.formulaInstanceId)).to.deep.equal([
      { status: 'pending', reason: null },
      { status: 'pending', reason: null },
      { status: 'failed', reason },
      { status: 'failed', reason },
    ]);
    const notices = await database.knex('formula_notice').where({ formula_instance_id: key.formulaInstanceId });
    expect(notices.map(({ kind }) => kind)).to.deep.equal(['failed', 'failed']);
  });

  it('leave a failed execution at the end of a chain of 10', async () => {
    const key = await bench.addFormula({
      steps: [END],
      trigger: { type: 'elementRequest', properties: { elementInstanceId: '428', method: 'GET', api: '/files' } },
    });
    const triggers = triggersWith(1_000);
    const note = createRequestTriggers({
      triggers,
      runs: createRunStore(database.knex),
      startLimit: limitOf(1_000),
      clock: bench.clock,
      log: silentLog,
      wake: () => undefined,
    });
    const origin = { formulaId: 1, formulaInstanceId: 2, executionId: 3 };
    for (const chain of [9, 10]) {
      const headers = { 'elements-formula-origin': JSON.stringify({ ...origin, chain }) };
      const response = { code: 200, headers: {}, body: [] };
      const place = { accountId: 1, instanceId: 428, method: 'GET', path: '/files' };
      await note(place, () => ({ ...place, query: {}, headers, body: undefined, response, isInner: true }));
    }
    expect(await reasonsOf(key.formulaInstanceId)).to.deep.equal([
      { status: 'pending', reason: null },
      { status: 'failed', reason: '11 formulas started one another in a chain; the maximum is 10.' },
    ]);
  });
});
