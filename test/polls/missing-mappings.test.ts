import { expect } from 'chai';
import { pino } from 'pino';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createMissingMappings, type MissingMappingPorts } from '../../src/polls/missing-mappings.ts';
import type { AwaitingPoll, PollScope } from '../../src/polls/poll-store.ts';
import { until } from '../support/until.ts';

const pollOf = (instanceId: number, mappedObject = 'people'): AwaitingPoll => ({
  ...{ accountId: 1, instanceId },
  ...{ resource: mappedObject, mappedObject },
});

/** Polls that await a mapping, and the names that are mapped on an instance. */
function start(awaiting: readonly AwaitingPoll[], mapped: (instanceId: number) => readonly string[]) {
  const scopes: PollScope[] = [];
  const resumed: number[] = [];
  const failures: Error[] = [];
  let wakes = 0;
  const missing = createMissingMappings({
    store: {
      findAwaiting: async (scope, { after, limit }) => {
        const failure = failures.pop();
        if (failure !== undefined) throw failure;
        if (after.instanceId === 0) scopes.push(scope);
        return awaiting.filter(({ instanceId }) => instanceId > after.instanceId).slice(0, limit);
      },
      resume: async (polls) => resumed.push(...polls.map(({ instanceId }) => instanceId)),
    },
    resources: {
      mappingVersionOf: async ({ id }, objectName) => (mapped(id).includes(objectName) ? 'version' : undefined),
    },
    getInstances: async (keys) => keys as unknown as Awaited<ReturnType<MissingMappingPorts['getInstances']>>,
    clock: { ...SYSTEM_CLOCK, after: (_ms, call) => SYSTEM_CLOCK.after(0, call) },
    log: pino({ level: 'silent' }),
    wake: () => void wakes++,
  });
  return { ...missing, scopes, resumed, failures, wakes: () => wakes };
}

describe('polls that await a mapping', () => {
  it('are resumed where something maps their object, and nowhere else', async () => {
    const all = [pollOf(1), pollOf(2), pollOf(3, 'places')];
    const { noteChange, resumed, wakes, stop } = start(all, (id) => (id === 2 ? ['people'] : ['animals']));
    noteChange({ accountId: 1 });
    await until(() => wakes() === 1);
    await stop();
    expect(resumed).to.deep.equal([2]);
  });

  it('wake no poller while none of them is mapped', async () => {
    const { noteChange, scopes, wakes, stop } = start([pollOf(1)], () => []);
    noteChange();
    await until(() => scopes.length === 1);
    await stop();
    expect([scopes, wakes()]).to.deep.equal([[{}], 0]);
  });

  it('are found in all batches', async () => {
    const all = Array.from({ length: 1_201 }, (_, index) => pollOf(index + 1));
    const { noteChange, resumed, stop } = start(all, () => ['people']);
    noteChange();
    await until(() => resumed.length === all.length);
    await stop();
  });

  it('are looked for once for a burst of changes, and everywhere when a message may be lost', async () => {
    const { noteChange, scopes, stop } = start([], () => []);
    noteChange({ organizationId: 9 });
    for (let times = 0; times < 3; times++) noteChange({ accountId: 1, instanceId: 2 });
    noteChange({ accountId: 1 });
    await until(() => scopes.length === 3);
    expect(scopes).to.deep.equal([{ organizationId: 9 }, { accountId: 1, instanceId: 2 }, { accountId: 1 }]);
    noteChange({ organizationId: 9 });
    noteChange({ accountId: 1 });
    noteChange();
    await until(() => scopes.length === 5);
    await stop();
    expect(scopes.slice(3)).to.deep.equal([{ organizationId: 9 }, {}]);
  });

  it('are looked for again when that failed', async () => {
    const { noteChange, failures, resumed, stop } = start([pollOf(1)], () => ['people']);
    failures.push(new Error('The database is away.'));
    noteChange({ accountId: 1 });
    await until(() => resumed.length === 1);
    await stop();
  });
});
