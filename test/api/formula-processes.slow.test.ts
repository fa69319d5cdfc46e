import { expect } from 'chai';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';

const END = { name: 'end', type: 'script', properties: { body: 'done({ statusCode: 201, result: trigger.args.a });' } };

describe('a formula as a resource of a process that runs none', function processes() {
  this.timeout(60_000);
  const api = useApp({ ROLE: 'api', SIMULATORS_PORT: 'off' }, { formulaOptions: { startsPerMinute: 3 } });
  let worker: StartedApp;
  let instanceId = 0;

  before(async () => {
    worker = await startTestApp({ DATABASE_URL: api.databaseUrl, ROLE: 'worker', SIMULATORS_PORT: 'off' });
    const triggers = [{ type: 'manual', onSuccess: ['end'] }];
    const formula = { name: 'split', method: 'POST', uri: '/split', triggers, steps: [END] };
    const body = await api.change('POST', '/formulas', formula);
    const made = await api.send('POST', `/formulas/${body.id}/instances`, { name: 'split' });
    instanceId = made.body.id;
  });
  after(() => worker.stop());

  const run = () =>
    api.send('POST', '/split', { a: ['b'] }, { headers: { 'Elements-Formula-Instance-Id': String(instanceId) } });

  it('waits for the worker that runs it, which says when it ends', async () => {
    await run();
    const beforeMs = performance.now();
    const answer = await run();
    expect([answer.status, answer.body]).to.deep.equal([201, ['b']]);
    // Without the message of the worker, it would look after two seconds only.
    expect(performance.now() - beforeMs).to.be.lessThan(1_500);
  });

  it('is refused when it is started too often', async () => {
    expect((await run()).status).to.equal(201);
    const refused = await run();
    const message = `Formula instance ${instanceId} was started more than 3 times within a minute.`;
    expectProblem(refused, 'RATE_LIMITED', message);
    expect(refused.headers.get('retry-after')).to.equal('10');
    const path = `/formulas/instances/${instanceId}/executions`;
    expectProblem(await api.send('POST', path, {}), 'RATE_LIMITED', message);
  });
});
