import { expect } from 'chai';
import { attemptsOf } from '../support/event-rows.ts';
import { newEvent, useEngines } from '../support/events.ts';
import { status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

describe('the engine of events, by the clock on the wall', () => {
  const bench = useEngines();
  const { startFor } = bench;

  it('makes a retry at its second, woken by nothing but its timer', async () => {
    bench.receiver.answer('/timer', status(500), status(204));
    const schedules = {
      5: { offsetsMs: [1_500], shortestIntervalMs: 1_500 },
      9: { offsetsMs: [1_500], shortestIntervalMs: 1_500 },
    };
    const engine = await startFor('/timer', { options: { schedules } });
    await engine.events.accept([newEvent(1)]);
    await until(async () => (await attemptsOf(bench.knex)).length === 2);
    const [first, second] = await attemptsOf(bench.knex);
    expect(Number(second?.attempted_at) - Number(first?.attempted_at)).to.be.within(1_490, 2_000);
  });
});
