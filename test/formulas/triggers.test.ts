import { expect } from 'chai';
import { createTriggers } from '../../src/formulas/triggers.ts';
import { anyFailureOf } from '../support/failures.ts';

describe('the triggers of an account', () => {
  it('are read again after a failure of the database', async () => {
    const instance = { accountId: 1, id: 7, formula: { accountId: 1, id: 3 }, version: 1, configuration: {} };
    const running = [instance] as never;
    const trigger = {
      type: 'elementRequest',
      properties: { elementInstanceId: '428', method: 'GET', api: '/contacts' },
    };
    let failures = 1;
    const triggers = createTriggers({
      programs: {
        listRunning: async () => running,
        get: async () => {
          if (failures-- > 0) throw new Error('The connection was lost.');
          return { trigger, variables: new Set() } as never;
        },
      },
      startLimit: { take: async () => undefined },
      mayWorkIn: async () => true,
      clock: { now: () => 0 },
      wake: () => undefined,
    });
    expect(await anyFailureOf(triggers.ofRequests(1, 428))).to.have.property('message', 'The connection was lost.');
    expect(await triggers.ofRequests(1, 428)).to.have.length(1);
  });
});
