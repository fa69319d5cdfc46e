import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { useDatabase } from '../support/database.ts';
import { type GivenFormula, useFormulaBench } from './bench.ts';
import { elementRequest, filter, loop, request, script, subFormula } from './steps.ts';

describe('executions of formulas', () => {
  const bench = useFormulaBench(useDatabase());

  it('runs a script, a request and a filter, and keeps their values', async () => {
    bench.playApi(() => ({ status: 200, body: [{ id: '7', n: 1 }] }));
    const { id, status, path } = await bench.run(
      {
        variables: ['crm'],
        configuration: { crm: '427' },
        steps: [
          script('build', "done({ id: '8000270E-1', n: 1, deep: { a: 1 } });", { onSuccess: ['get'] }),
          elementRequest(
            'get',
            {
              elementInstanceId: '${config.crm}',
              method: 'GET',
              api: '/hubs/crm/contacts/${steps.build.id}',
              query: { where: "a='${trigger.args.foo}'" },
            },
            { onSuccess: ['isOne'] },
          ),
          filter('isOne', 'done(steps.get.response.body.length === 1);'),
        ],
      },
      { foo: 'b&c' },
    );
    expect(status).to.equal('success');
    expect(path).to.deep.equal(['trigger success', 'build success', 'get success', 'isOne success']);
    expect(await bench.valuesOf(1, id, 'trigger')).to.deep.equal({ 'trigger.args': '{"foo":"b&c"}' });
    expect(await bench.valuesOf(1, id, 'build')).to.deep.equal({
      'build.id': '8000270E-1',
      'build.n': '1',
      'build.deep': '{"a":1}',
    });
    const values = await bench.valuesOf(1, id, 'get');
    expect(values).to.include({
      'get.request.method': 'GET',
      'get.request.uri': '/elements/api-v2/hubs/crm/contacts/8000270E-1',
      'get.request.query': `{"where":"a='b&c'"}`,
      'get.request.headers': '{"authorization":"********"}',
      'get.response.code': '200',
      'get.response.body': '[{"id":"7","n":1}]',
    });
    expect(await bench.valuesOf(1, id, 'isOne')).to.deep.equal({ 'isOne.continue': 'true' });
    const [call] = bench.calls;
    expect(call?.path).to.equal('/hubs/crm/contacts/8000270E-1?where=a%3D%27b%26c%27');
    expect(call?.caller).to.deep.equal({ accountId: 1, userId: 1, instanceId: 427 });
  });

  it('runs with an input of any size', async () => {
    const steps = [script('count', 'done({ n: trigger.args.text.length });')] as const;
    // Random characters, because what is stored is compressed.
    for (const text of ['', 'a', randomBytes(3_000).toString('base64'), randomBytes(1_000_000).toString('base64')]) {
      const { id, status } = await bench.run({ steps }, { text });
      expect(status).to.equal('success');
      expect(await bench.valuesOf(1, id, 'count')).to.deep.equal({ 'count.n': String(text.length) });
    }
  });

  it('takes the way of failure after a filter that is false, without failing', async () => {
    const { status, path } = await bench.run({
      steps: [
        filter('no', 'done(false)', { onSuccess: ['never'], onFailure: ['after'] }),
        script('never', 'done({})'),
        script('after', 'done({})'),
      ],
    });
    expect(status).to.equal('success');
    expect(path).to.deep.equal(['trigger success', 'no failed', 'after success']);
  });

  it('fails when a script throws, also when the step after it succeeds, and keeps its console', async () => {
    const { id, status, path } = await bench.run({
      steps: [
        script('bad', "console.log('print'); throw('This is an invalid script step');", { onFailure: ['report'] }),
        script('report', 'done({})'),
      ],
    });
    expect(status).to.equal('failed');
    expect(path).to.deep.equal(['trigger success', 'bad failed', 'report success']);
    expect(await bench.valuesOf(1, id, 'bad')).to.deep.equal({
      'bad.console': '["print"]',
      'bad.error': 'This is an invalid script step',
    });
    expect(bench.ended.map(({ status: end, fault }) => [end, fault])).to.deep.equal([
      ['failed', { name: 'bad', message: 'This is an invalid script step' }],
    ]);
  });

  it('gives a loop of 50 entries with one step 103 step executions', async () => {
    const { status, path } = await bench.run({
      steps: [
        script('list', 'done({ list: Array.from({ length: 50 }, (_, i) => ({ id: i })) })', { onSuccess: ['each'] }),
        loop('each', '${steps.list.list}', { onSuccess: ['body'] }),
        script('body', 'done({ id: steps.each.entry.id, index: steps.each.index })', { onSuccess: ['each'] }),
      ],
    });
    expect(status).to.equal('success');
    expect(path).to.have.lengthOf(103);
    expect(path.filter((step) => step === 'each success')).to.have.lengthOf(50);
    expect(path.filter((step) => step === 'each failed')).to.have.lengthOf(1);
  });

  it('runs nested loops of two entries with three and six step executions', async () => {
    const { status, path } = await bench.run(
      {
        steps: [
          loop('outer', '${trigger.args.list}', { onSuccess: ['inner'], onFailure: ['end'] }),
          loop('inner', '${steps.outer.entry}', { onSuccess: ['body'], onFailure: ['outer'] }),
          script('body', 'done({ x: steps.inner.entry })', { onSuccess: ['inner'] }),
          script('end', 'done({})'),
        ],
      },
      {
        list: [
          [1, 2],
          [3, 4],
        ],
      },
    );
    expect(status).to.equal('success');
    const count = (name: string) => path.filter((step) => step.startsWith(`${name} `)).length;
    expect([count('outer'), count('inner'), count('body'), count('end')]).to.deep.equal([3, 6, 4, 1]);
  });

  it('ends an empty loop with one failed step, and fails for a list that is none', async () => {
    const over = (list: string) => ({
      steps: [loop('each', list, { onSuccess: ['each'] })],
    });
    expect(await bench.run(over('${trigger.args.list}'), { list: [] })).to.include({ status: 'success' });
    const { id, status } = await bench.run(over('${trigger.args.list}'), { list: 'x' });
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 'each')).to.deep.equal({
      'each.error': "The property 'list' must be an array.",
    });
  });

  it('retries a request by its codes, and shows how often', async () => {
    let count = 0;
    bench.playApi(() => ({ status: ++count < 3 ? 503 : 200, body: {} }));
    const { id, status } = await bench.run({
      steps: [
        request('get', {
          method: 'POST',
          api: '/instances',
          body: { a: 1 },
          retry: 'true',
          retryAttempts: '3',
          retryDelay: '10',
          retryStatusCodes: '429,500-503',
        }),
      ],
    });
    expect(status).to.equal('success');
    expect(await bench.valuesOf(1, id, 'get')).to.include({
      'get.request.retry-attempt': '2',
      'get.response.code': '200',
    });
    const keys = bench.calls.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).to.equal(3);
  });

  it('fails for a status outside of the accepted codes, and for a variable that is not there', async () => {
    bench.playApi(() => ({ status: 200, body: {} }));
    const asking = (api: string) => ({
      steps: [request('get', { method: 'GET', api, acceptableStatusCodes: '404' })],
    });
    expect(await bench.run(asking('/instances'))).to.include({ status: 'failed' });
    const { id, status } = await bench.run(asking('/instances/${config.nobody}'));
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 'get')).to.deep.equal({
      'get.error': 'There is no variable for ${config.nobody}.',
    });
  });

  it('runs a sub-formula with its own variables and steps', async () => {
    const sub = await bench.addFormula({
      variables: ['color', 'size'],
      steps: [script('build', "done({ made: config.color + ' ' + config.size + ' ' + trigger.args.n })")],
    });
    const { id, status, path } = await bench.run({
      variables: ['color', 'size'],
      configuration: { color: 'red', size: 'big' },
      steps: [
        script('build', 'done({ n: 3 })', { onSuccess: ['sub'] }),
        subFormula(
          'sub',
          { formulaId: sub.formulaId, args: '${steps.build}', subFormulaConfigs: { color: 'blue' } },
          { onSuccess: ['after'] },
        ),
        script('after', 'done({ color: config.color, n: steps.build.n })'),
      ],
    });
    expect(status).to.equal('success');
    expect(path).to.deep.equal(['trigger success', 'build success', 'sub success', 'after success']);
    expect(await bench.valuesOf(1, id, 'sub')).to.deep.equal({ 'sub.made': 'blue big 3' });
    expect(await bench.valuesOf(1, id, 'after')).to.deep.equal({ 'after.color': 'red', 'after.n': '3' });
  });

  it('fails with a sub-formula that fails, and leaves its error', async () => {
    const sub = await bench.addFormula({
      steps: [script('bad', "throw('why')")],
    });
    const { id, status } = await bench.run({
      steps: [subFormula('sub', { formulaId: sub.formulaId })],
    });
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 'sub')).to.deep.equal({ 'sub.error': 'why' });
  });

  it('leaves of a sub-formula what its last step left, value by value', async () => {
    bench.playApi(() => ({ status: 200, body: { id: 7 } }));
    const sub = await bench.addFormula({
      steps: [request('get', { method: 'GET', api: '/x' })],
    });
    const { id } = await bench.run({
      steps: [subFormula('sub', { formulaId: sub.formulaId })],
    });
    expect(await bench.valuesOf(1, id, 'sub')).to.include({
      'sub.request.method': 'GET',
      'sub.response.code': '200',
      'sub.response.body': '{"id":7}',
    });
  });

  it('shows later steps the plain value of a script that also prints', async () => {
    const { id } = await bench.run({
      steps: [
        script('plain', "console.log('print'); done(3);", { onSuccess: ['more'] }),
        script('more', 'done({ n: steps.plain + 1 });'),
      ],
    });
    expect(await bench.valuesOf(1, id, 'plain')).to.deep.equal({ 'plain.console': '["print"]', plain: '3' });
    expect(await bench.valuesOf(1, id, 'more')).to.deep.equal({ 'more.n': '4' });
  });

  it('plans retries of an execution after 3, 7 and 20 minutes, and fails after the last', async () => {
    const key = await bench.addFormula({
      steps: [
        script('bad', "throw('why')", { onFailure: ['again'] }),
        { name: 'again', type: 'retryFormulaExecution', properties: { retryAttempts: '2' } },
      ],
    });
    bench.startWorker();
    const [first = 0] = await bench.executions.start(key, { a: 1 });
    await bench.untilStatus(1, first, 'retry');
    expect(await bench.valuesOf(1, first, 'again')).to.include({ 'again.attempt': '1' });
    const next = (after: number) =>
      bench.until(async () => {
        const { rows } = await bench.executions.list(key, { limit: 10 });
        return rows.find(({ id }) => id > after)?.id;
      });
    bench.pass(3 * 60_000 + 100);
    const second = await next(first);
    await bench.untilStatus(1, second, 'retry');
    bench.pass(7 * 60_000 + 100);
    const third = await next(second);
    expect((await bench.untilStatus(1, third, 'failed')).status).to.equal('failed');
    expect(await bench.valuesOf(1, third, 'trigger')).to.deep.equal({ 'trigger.args': '{"a":1}' });
    expect(await bench.valuesOf(1, third, 'again')).to.have.property('again.error');
  });

  it('forgets a planned retry', async () => {
    const { id } = await bench.run({
      steps: [{ name: 'again', type: 'retryFormulaExecution', properties: {} }],
    });
    expect((await bench.executions.forgetRetry({ accountId: 1, id })).status).to.equal('cancelled');
    expect(await bench.knex('formula_run')).to.deep.equal([]);
  });

  it('runs an execution again from a step, with the values before it', async () => {
    let isDown = true;
    bench.playApi(() => ({ status: isDown ? 500 : 200, body: {} }));
    const { id, status } = await bench.run({
      steps: [
        script('first', 'done({ n: Math.random() })', { onSuccess: ['send'] }),
        request('send', { method: 'POST', api: '/x', body: { n: '${steps.first.n}' } }),
      ],
    });
    expect(status).to.equal('failed');
    const before = await bench.valuesOf(1, id, 'first');
    isDown = false;
    const again = await bench.executions.retry({ accountId: 1, id }, 'send');
    expect(again.id).to.not.equal(id);
    await bench.untilStatus(1, again.id, 'success');
    expect(await bench.path(1, again.id)).to.deep.equal(['trigger success', 'first success', 'send success']);
    expect(await bench.valuesOf(1, again.id, 'first')).to.deep.equal(before);
  });

  it('runs executions of a single-threaded instance one at a time, in their order', async () => {
    const key = await bench.addFormula({
      singleThreaded: true,
      steps: [request('send', { method: 'POST', api: '/x', body: '${trigger.args}' })],
    });
    let underWay = 0;
    let most = 0;
    const seen: unknown[] = [];
    bench.playApi(async ({ json }) => {
      most = Math.max(most, ++underWay);
      seen.push(json);
      await new Promise((resolve) => setTimeout(resolve, 10));
      underWay--;
      return { status: 200 };
    });
    const ids: number[] = [];
    for (let n = 0; n < 10; n++) ids.push(...(await bench.executions.start(key, { n })));
    expect((await bench.executions.get({ accountId: 1, id: ids[5] ?? 0 })).status).to.equal('queued');
    bench.startWorker();
    bench.startWorker();
    for (const id of ids) await bench.untilStatus(1, id, 'success');
    expect(most).to.equal(1);
    expect(seen).to.deep.equal(ids.map((_, n) => ({ n })));
  });

  it('cancels an execution before its next step', async () => {
    const key = await bench.addFormula({
      steps: [
        request('send', { method: 'GET', api: '/x' }, { onSuccess: ['second'] }),
        request('second', { method: 'GET', api: '/y' }),
      ],
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.playApi(async () => {
      await promise;
      return { status: 200 };
    });
    bench.startWorker();
    const [id = 0] = await bench.executions.start(key, {});
    await bench.until(async () => bench.calls[0]);
    await bench.executions.cancel({ accountId: 1, id });
    resolve();
    await bench.untilStatus(1, id, 'cancelled');
    expect(bench.calls.map(({ path }) => path)).to.deep.equal(['/x']);
  });

  it('does not retry an execution that is cancelled while the retry is planned', async () => {
    const key = await bench.addFormula({
      steps: [{ name: 'again', type: 'retryFormulaExecution', properties: {} }],
    });
    const store = createRunStore(bench.knex);
    bench.startWorker({
      store: {
        ...store,
        commit: async (commits) => {
          const planned = commits.find(({ next }) => next.kind === 'end' && next.status === 'retry');
          if (planned !== undefined) await bench.executions.cancel(planned);
          return store.commit(commits);
        },
      },
    });
    const [id = 0] = await bench.executions.start(key, {});
    await bench.untilStatus(1, id, 'retry', 'cancelled');
    bench.pass(10 * 60_000);
    await bench.until(async () => ((await bench.knex('formula_run')).length === 0 ? true : undefined));
    const ends = await bench.knex('formula_execution').where({ formula_instance_id: key.formulaInstanceId });
    expect(ends.map(({ status }) => status)).to.deep.equal(['cancelled']);
  });

  it('keeps no values of steps where logging is off, but those of failures', async () => {
    const { id, status } = await bench.run({
      debugLoggingEnabled: false,
      steps: [
        script('one', 'done({ a: 1 })', { onSuccess: ['send'] }),
        request('send', { method: 'POST', api: '/x', body: '${steps.one.a}' }, { onSuccess: ['bad'] }),
        script('bad', "throw('why ' + steps.one.a)"),
      ],
    });
    expect(status).to.equal('failed');
    expect(await bench.valuesOf(1, id, 'one')).to.deep.equal({});
    expect(await bench.valuesOf(1, id, 'send')).to.deep.equal({});
    expect(await bench.valuesOf(1, id, 'bad')).to.deep.equal({ 'bad.error': 'why 1' });
  });

  it('streams a file from one element instance to another', async () => {
    bench.playApi(({ method, body, headers }) => {
      if (method === 'GET')
        return {
          status: 200,
          headers: { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="a.txt"' },
          body: 'hello',
        };
      return { status: 200, body: { type: headers['content-type'], text: String(body) } };
    });
    const { id, status } = await bench.run({
      steps: [
        {
          name: 'copy',
          type: 'elementRequestStream',
          properties: {
            downloadElementInstanceId: '1',
            downloadMethod: 'GET',
            downloadApi: '/estimates/1',
            uploadElementInstanceId: '2',
            uploadMethod: 'POST',
            uploadApi: '/files',
            uploadFormData: { metadata: { path: '/a' } },
          },
        },
      ],
    });
    expect(status).to.equal('success');
    const body = (await bench.valuesOf(1, id, 'copy'))['copy.upload.response.body'] ?? '';
    expect(body).to.include('filename=\\"a.txt\\"').and.include('hello').and.include('{\\"path\\":\\"/a\\"}');
  });
});

describe('executions of formulas whose process ended in the middle of a request', () => {
  const bench = useFormulaBench(useDatabase());
  const post = request('send', { method: 'POST', api: '/x', body: { a: 1 } });

  /** Begins an execution whose worker ends while the API works on its request. */
  async function cutOff(formula: GivenFormula) {
    const key = await bench.addFormula(formula);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.playApi(async () => {
      await promise;
      return { status: 200 };
    });
    const first = bench.startWorker();
    const [id = 0] = await bench.executions.start(key, {});
    await bench.until(async () => bench.calls[0]);
    const stopped = first.stop(0);
    resolve();
    await stopped;
    return id;
  }

  it('are sent again with the same key, and say so', async () => {
    const id = await cutOff({ steps: [post] });
    bench.playApi(() => ({ status: 200, body: { id: 'same' } }));
    bench.startWorker();
    await bench.untilStatus(1, id, 'success');
    const keys = bench.calls.map(({ headers }) => headers['idempotency-key']);
    expect(keys).to.have.lengthOf(2);
    expect(new Set(keys).size).to.equal(1);
    const [, step] = await bench.stepsOf(1, id);
    expect(step).to.include({ stepName: 'send', isRestarted: true });
  });

  it('are sent once more for each time that they were cut off', async () => {
    const id = await cutOff({ steps: [post] });
    const { promise, resolve } = Promise.withResolvers<void>();
    const lastOf = (headers: Readonly<Record<string, string>>) => headers['idempotency-key']?.split('-0').at(-1);
    bench.playApi(async ({ headers }) => {
      if (lastOf(headers) === '') return { status: 409 };
      await promise;
      return { status: 200 };
    });
    const second = bench.startWorker();
    await bench.until(async () => bench.calls[2]);
    const stopped = second.stop(0);
    resolve();
    await stopped;
    bench.playApi(({ headers }) => ({ status: lastOf(headers) === '-restarted-2' ? 200 : 409 }));
    bench.startWorker();
    await bench.untilStatus(1, id, 'success');
    expect(bench.calls.map(({ headers }) => lastOf(headers))).to.deep.equal([
      ...['', '', '-restarted-1'],
      ...['', '-restarted-1', '-restarted-2'],
    ]);
  });

  it('are sent with another key where the service only knows that the first was cut off', async () => {
    const id = await cutOff({ steps: [post] });
    bench.playApi(({ headers }) => ({ status: headers['idempotency-key']?.endsWith('-restarted-1') ? 200 : 409 }));
    bench.startWorker();
    await bench.untilStatus(1, id, 'success');
    expect(bench.calls).to.have.lengthOf(3);
  });
});
