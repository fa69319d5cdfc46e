import { expect } from 'chai';
import type { SendMail } from '../../src/formulas/notices/mailer.ts';
import { createTeller } from '../../src/formulas/notices/teller.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { useFormulaBench } from './bench.ts';
import { request, script } from './steps.ts';

const FAILING = script('bad', "throw('no')");

describe('the ends of executions', () => {
  const database = useDatabase();
  const bench = useFormulaBench(database);
  const tellers: ReturnType<typeof createTeller>[] = [];
  let told: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[] = [];

  beforeEach(async () => {
    told = [];
    await database.knex('formula_notice').delete();
  });
  afterEach(async () => {
    for (const teller of tellers.splice(0)) await teller.stop();
  });

  function startTeller(fails: () => boolean = () => false, sendMail?: SendMail) {
    const publisher = async () => {
      if (fails()) throw new Error('The subscriptions cannot be read.');
      return async (_: unknown, type: string, data: object) => void told.push({ type, data: { ...data } });
    };
    const teller = createTeller(
      {
        knex: database.knex,
        clock: bench.clock,
        log: silentLog,
        notifier: { publish: async () => undefined } as never,
      },
      { prepareNotice: publisher, prepareEvent: publisher, sendMail },
    );
    tellers.push(teller);
    teller.start();
    return teller;
  }

  async function failTimes(count: number, settings: object) {
    const key = await bench.addFormula({ steps: [FAILING] });
    await database
      .knex('formula_instance')
      .where({ id: key.formulaInstanceId })
      .update({ settings: JSON.stringify(settings) });
    bench.startWorker();
    const ids: number[] = [];
    for (let done = 0; done < count; done++) ids.push(...(await bench.executions.start(key, {})));
    for (const id of ids) await bench.untilStatus(1, id, 'failed');
    return { key, ids };
  }

  const rest = async () => Number((await database.knex('formula_notice').count({ count: '*' }).first())?.count);

  it('are left to others, and so is mail, when the process stops while it sends one', async () => {
    const mail = JSON.stringify({ to: 'a@example.com', subject: 'S', body: 'B' });
    const { formulaInstanceId } = await bench.addFormula({ steps: [FAILING] });
    const row = {
      account_id: 1,
      formula_instance_id: formulaInstanceId,
      kind: 'email',
      data: mail,
      due: new Date(0),
    } as const;
    await database.knex('formula_notice').insert([row, row, row]);
    const sending = Promise.withResolvers<void>();
    const accepted = Promise.withResolvers<void>();
    let sent = 0;
    const teller = startTeller(undefined, async () => {
      sent++;
      sending.resolve();
      await accepted.promise;
    });
    await sending.promise;
    const stopped = teller.stop();
    accepted.resolve();
    await stopped;
    expect([sent, await rest()]).to.deep.equal([1, 2]);
  });

  it('are reported by a process that starts later, once, whichever of several it is', async () => {
    const { key, ids } = await failTimes(20, { 'notification.webhook.url': 'ops.example.com/f' });
    // The process that ended them dies here: nobody has reported anything.
    expect(told).to.deep.equal([]);
    expect(await rest()).to.equal(20);
    for (let each = 0; each < 3; each++) startTeller();
    await bench.until(async () => ((await rest()) === 0 ? true : undefined));
    expect(told.map(({ data }) => data.executionId)).to.have.members(ids);
    expect(told).to.have.length(20);
    const { id } = { id: key.formulaInstanceId };
    expect((await database.knex('formula_instance').where({ id }).first('failures'))?.failures).to.equal(20);
  });

  it('wait while they cannot be reported, and do not hold up those of others', async () => {
    let isBroken = true;
    await failTimes(1, { 'notification.webhook.url': 'ops.example.com/f' });
    const teller = startTeller(() => isBroken);
    await bench.until(async () => {
      const [row] = await database.knex('formula_notice').select('due');
      return row !== undefined && row.due.getTime() > bench.clock.now() ? true : undefined;
    });
    expect(told).to.deep.equal([]);
    isBroken = false;
    bench.pass(61_000);
    teller.wake();
    await bench.until(async () => (told.length === 1 ? true : undefined));
  });

  it('know what failed first also after another process went on', async () => {
    const { formulaInstanceId } = await bench.addFormula({
      steps: [
        script('first', "throw('the first')", { onFailure: ['second'] }),
        request('second', { method: 'GET', api: '/x', retry: 'true', retryDelay: 1 }),
      ],
    });
    await database
      .knex('formula_instance')
      .where({ id: formulaInstanceId })
      .update({ settings: JSON.stringify({ 'notification.webhook.url': 'ops.example.com/f' }) });
    let count = 0;
    bench.playApi(() => ({ status: count++ === 0 ? 500 : 200, body: {} }));
    bench.startWorker();
    const [id = 0] = await bench.executions.start({ accountId: 1, formulaInstanceId }, {});
    await bench.untilStatus(1, id, 'failed');
    startTeller();
    await bench.until(async () => (told.length === 1 ? true : undefined));
    expect(told[0]?.data.error).to.deep.equal({ stepName: 'first', message: 'the first' });
  });
});
