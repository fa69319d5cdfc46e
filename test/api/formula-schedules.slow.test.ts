import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';

describe('schedules of formulas on a service that others can reach', () => {
  const service = useApp({ HOST: '0.0.0.0' });

  it('are at least 15 minutes apart', async () => {
    const withCron = (cron: string) => {
      const body = { name: 'scheduled', triggers: [{ type: 'scheduled', properties: { cron } }] };
      return service.send('POST', '/formulas', body);
    };
    const message = 'body.triggers.0.properties.cron fires every 10 minutes; the least is 15 minutes.';
    expectProblem(await withCron('0 0/10 * * * ?'), 'REQUEST_INVALID', message);
    expect((await withCron('0 0/15 * * * ?')).status).to.equal(200);
  });
});
