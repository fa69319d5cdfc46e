import { expect } from 'chai';
import { LIMITS } from '../../src/formulas/model.ts';
import { useDatabase } from '../support/database.ts';
import { useFormulaBench } from './bench.ts';
import { loop, request, script, subFormula } from './steps.ts';

const CONCURRENCY = 8;

describe('hostile formulas', function hostile() {
  this.timeout(120_000);
  const bench = useFormulaBench(useDatabase());

  it('that hang leave room for those of another account', async () => {
    const hanging = await bench.addFormula({
      steps: [request('hang', { method: 'GET', api: '/hang' })],
    });
    const healthy = await bench.addFormula({
      accountId: 2,
      steps: [
        request('get', { method: 'GET', api: '/quick' }, { onSuccess: ['end'] }),
        script('end', 'done({ n: 1 });'),
      ],
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.playApi(async ({ path }) => {
      if (path === '/hang') await promise;
      return { status: 200, body: {} };
    });
    for (let count = 0; count < 200; count++) await bench.executions.start(hanging, {});
    bench.startWorker({ options: { concurrency: CONCURRENCY } });
    await bench.until(async () => bench.calls[0]);
    const ids: number[] = [];
    for (let count = 0; count < 20; count++) ids.push(...(await bench.executions.start(healthy, {})));
    for (const id of ids) await bench.untilStatus(2, id, 'success');
    const hung = bench.calls.filter(({ path }) => path === '/hang');
    expect(hung.length).to.be.within(1, CONCURRENCY - 1);
    resolve();
  });

  it('whose scripts never end leave the scripts of another account their thread', async () => {
    const looping = await bench.addFormula({ steps: [script('loop', 'while (true); done();')] });
    const healthy = await bench.addFormula({ accountId: 2, steps: [script('end', 'done({ n: 1 });')] });
    const [hostileId = 0] = await bench.executions.start(looping, {});
    for (let count = 0; count < 20; count++) await bench.executions.start(looping, {});
    bench.startWorker();
    const ids: number[] = [];
    for (let count = 0; count < 20; count++) ids.push(...(await bench.executions.start(healthy, {})));
    for (const id of ids) await bench.untilStatus(2, id, 'success');
    // The first of 21 scripts of 10 s of CPU time has at most ended.
    const ended = bench.ended.filter(({ run: { accountId } }) => accountId === 1);
    expect(ended.length).to.be.at.most(1);
    const { status } = await bench.executions.get({ accountId: 1, id: hostileId });
    expect(status).to.be.oneOf(['pending', 'failed']);
  });

  it('with a loop over a million entries fail at the loop', async () => {
    const list = `done({ list: Array.from({ length: ${LIMITS.loopEntries + 1} }, () => 1) });`;
    const { id, status } = await bench.run({
      steps: [
        script('list', list, { onSuccess: ['each'] }),
        loop('each', '${steps.list.list}', { onSuccess: ['each'] }),
      ],
    });
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 'each')).to.deep.equal({
      'each.error': 'The list has 50001 entries; the maximum is 50000.',
    });
  });

  it('that call one another in a circle fail at the second call', async () => {
    const inner = await bench.addFormula({ steps: [script('wait', 'done({});')] });
    const outer = await bench.addFormula({
      steps: [subFormula('inner', { formulaId: inner.formulaId })],
    });
    const content = {
      configuration: [],
      triggers: [{ id: 1, name: 'trigger', type: 'manual', properties: {}, onSuccess: ['outer'], onFailure: [] }],
      steps: [
        {
          ...{ id: 2, name: 'outer', type: 'formula', onSuccess: [], onFailure: [] },
          properties: { formulaId: outer.formulaId },
        },
      ],
    };
    await bench
      .knex('formula_version')
      .where({ formula_id: inner.formulaId })
      .update({ content: JSON.stringify(content) });
    bench.startWorker();
    const [id = 0] = await bench.executions.start(outer, {});
    await bench.untilStatus(1, id, 'failed');
    expect(await bench.valuesOf(1, id, 'inner')).to.deep.equal({
      'inner.error': `Formula ${outer.formulaId} is running already: a formula cannot call itself.`,
    });
  });

  it('that pass 5 MB from step to step go on, and show a note in place of the value', async () => {
    const count = 8;
    const steps = Array.from({ length: count }, (_, at) =>
      script(`s${at}`, `done({ text: steps.s${at - 1}.text });`, { onSuccess: at + 1 < count ? [`s${at + 1}`] : [] }),
    );
    steps[0] = script('s0', "done({ text: 'x'.repeat(5e6) });", { onSuccess: ['s1'] });
    const { id, status } = await bench.run({ steps });
    expect(status).to.equal('success');
    const { [`s${count - 1}.text`]: text } = await bench.valuesOf(1, id, `s${count - 1}`);
    expect(text).to.match(/^\(The value is not shown, because it has 5000000 characters/);
  });

  it('that hold more than 48 MB of values fail with the reason', async () => {
    const count = 15;
    const steps = Array.from({ length: count }, (_, at) =>
      script(`s${at}`, "done({ text: 'x'.repeat(5e6) });", { onSuccess: at + 1 < count ? [`s${at + 1}`] : [] }),
    );
    const { id, status } = await bench.run({ steps });
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 's11')).to.deep.equal({
      's11.error': 'The values of the steps have 55000002 characters together; the maximum is 50331648.',
    });
  });

  it('with large inputs run one at a time, and small ones beside them', async () => {
    const key = await bench.addFormula({
      steps: [request('hang', { method: 'GET', api: '/${trigger.args.kind}' })],
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.playApi(async ({ path }) => {
      if (path === '/large') await promise;
      return { status: 200, body: {} };
    });
    const ids: number[] = [];
    for (let count = 0; count < 6; count++)
      ids.push(...(await bench.executions.start(key, { kind: 'large', text: 'x'.repeat(3e6) })));
    bench.startWorker();
    const largeCalls = () => bench.calls.filter(({ path }) => path === '/large').length;
    await bench.until(async () => (largeCalls() === 1 ? true : undefined));
    const [small = 0] = await bench.executions.start(key, { kind: 'small' });
    await bench.untilStatus(1, small, 'success');
    expect(largeCalls()).to.equal(1);
    resolve();
    for (const id of ids) await bench.untilStatus(1, id, 'success');
  });
});
