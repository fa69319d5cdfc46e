import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createRequestTriggers, type NotedRequest } from '../../src/formulas/request-triggers.ts';
import { silentLog } from '../support/database.ts';

const PLACE = { accountId: 1, instanceId: 428, method: 'POST', path: '/contacts' };
const REQUEST: NotedRequest = {
  ...PLACE,
  query: {},
  headers: {},
  body: {},
  response: { code: 200, headers: {}, body: {} },
  isInner: false,
};

describe('triggers of requests', () => {
  let log: string[] = [];
  let letTimePass = () => {};
  beforeEach(() => {
    log = [];
  });

  function listen(start: () => Promise<readonly number[]>) {
    const target = {
      instance: { accountId: 1, id: 7, formula: { accountId: 1, id: 3 } },
      program: { key: { accountId: 1, id: 3 } },
      method: 'POST',
      path: /^\/contacts$/,
    };
    return createRequestTriggers({
      triggers: { ofRequests: async () => [target as never], listAllowed: async (_, targets) => targets },
      runs: { start },
      startLimit: { take: async () => undefined },
      clock: {
        ...SYSTEM_CLOCK,
        after: (_, call) => {
          letTimePass = call;
          return () => undefined;
        },
      },
      log: { ...silentLog, error: () => void log.push('error') } as never,
      wake: () => void log.push('wake'),
    });
  }

  it('store the executions before the response, and wake their workers after it', async () => {
    const note = listen(async () => {
      log.push('stored');
      return [1];
    });
    const end = await note(PLACE, () => REQUEST);
    expect(log).to.deep.equal(['stored']);
    end?.();
    await Promise.resolve();
    expect(log).to.deep.equal(['stored', 'wake']);
  });

  it('cost other requests nothing', async () => {
    const note = listen(() => Promise.reject(new Error('No test stores this.')));
    const read = () => {
      throw new Error('No test reads this.');
    };
    expect(await note({ ...PLACE, path: '/contacts/1' }, read)).to.equal(undefined);
    expect(await note({ ...PLACE, method: 'GET' }, read)).to.equal(undefined);
    expect(log).to.deep.equal([]);
  });

  it('let the response go when the database takes too long, and start the formulas when it has stored them', async () => {
    const stored = Promise.withResolvers<readonly number[]>();
    const noting = listen(() => stored.promise)(PLACE, () => REQUEST);
    letTimePass();
    const end = await noting;
    end?.();
    expect(log).to.deep.equal([]);
    stored.resolve([1]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).to.deep.equal(['wake']);
  });

  it('let the response go when the database fails', async () => {
    const note = listen(() => Promise.reject(new Error('The database is down.')));
    expect(await note(PLACE, () => REQUEST)).to.equal(undefined);
    expect(log).to.deep.equal(['error']);
  });
});
