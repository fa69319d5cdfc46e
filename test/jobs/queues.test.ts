import { expect } from 'chai';
import { createQueues } from '../../src/jobs/queues.ts';

describe('the queue idempotency.purge', () => {
  it('deletes every hour what is older than 24 hours', async () => {
    const calls: Date[] = [];
    const queues = createQueues({
      now: () => new Date('2026-03-02T12:00:00Z'),
      purgeIdempotencyRecords: async (before) => calls.push(before),
    });
    const queue = queues['idempotency.purge'];
    expect(queue.schedule).to.match(/^\d+ \* \* \* \*$/);
    expect(await queue.handle()).to.deep.equal({ kind: 'done' });
    expect(calls).to.deep.equal([new Date('2026-03-01T12:00:00Z')]);
  });
});
