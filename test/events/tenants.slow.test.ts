import { expect } from 'chai';
import { theRow } from '../support/database.ts';
import { deliveries } from '../support/event-rows.ts';
import { newEvent, quickSchedules, type TestEngine, useEngines } from '../support/events.ts';
import { type Behaviour, hang, status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

/** Eight pushes to each of them would take every place. */
const HANGING_URLS = 150;
const EVENTS_OF_EACH = 10;
const QUIET_INSTANCE = 1_000;
const QUIET_EVENTS = 40;
/** Longer than the test waits: what hangs hangs to its end. */
const OPTIONS = { attemptTimeoutMs: 60_000 };

describe('a tenant whose receivers hang', () => {
  const bench = useEngines();
  let quietAccount = 0;

  before(async () => {
    const quiet = { organization_id: 1, name: 'Quiet', external_id: 'Quiet' };
    quietAccount = (await theRow(bench.knex('account').insert(quiet).returning('id'))).id;
  });

  async function sendHanging({ urls, events }: TestEngine, eventsOfEach = EVENTS_OF_EACH): Promise<void> {
    const paths = Array.from({ length: HANGING_URLS }, (_, index) => `/hanging-${index}`);
    for (const [index, path] of paths.entries()) {
      bench.receiver.answer(path, hang);
      urls.set(index, bench.receiver.url + path);
    }
    const ofEach = Array.from({ length: eventsOfEach }, () => paths.keys().toArray());
    await events.accept(ofEach.flat().map((index) => newEvent(index)));
  }

  async function sendQuiet({ urls, events }: TestEngine): Promise<void> {
    urls.set(QUIET_INSTANCE, `${bench.receiver.url}/quiet`);
    const event = newEvent(QUIET_INSTANCE, { accountId: quietAccount });
    for (let sent = 0; sent < QUIET_EVENTS; sent++) await events.accept([event]);
  }

  /** Everything of the quiet one is delivered. */
  function untilQuiet(): Promise<void> {
    return until(async () => (await bench.knex('delivery').where({ account_id: quietAccount })).length === 0);
  }

  it('does not keep another from its deliveries', async () => {
    bench.receiver.answer('/quiet', status(204));
    const engine = await bench.start({ options: OPTIONS });
    await sendHanging(engine);
    await until(async () => (await engine.measure('causeway_deliveries_in_flight')) > 400);
    await sendQuiet(engine);
    await untilQuiet();
    expect(await engine.measure('causeway_deliveries_in_flight')).to.be.within(400, 600);
  });

  it('does not keep another from its retries and from what comes by the sweep', async () => {
    bench.receiver.answer('/quiet', failFirst());
    const schedules = quickSchedules(5, 200);
    // Nothing goes from memory: all of it is brought by the sweep, of which one tenant alone could fill what it brings.
    const options = { ...OPTIONS, schedules, maxLaneDeliveries: 0, maxSwept: 800, sweepBackstopMs: 100 };
    const engine = await bench.start({ options });
    await sendHanging(engine);
    await until(async () => (await engine.measure('causeway_deliveries_in_flight')) >= 300);
    await sendQuiet(engine);
    await untilQuiet();
  });

  it('does not keep another from its deliveries by ordered events', async () => {
    bench.receiver.answer('/quiet', status(204));
    const engine = await bench.start({
      options: { ...OPTIONS, maxSwept: 100, maxLaneDeliveries: 0, sweepBackstopMs: 100 },
    });
    for (let index = 0; index < HANGING_URLS; index++) engine.sources.set(index, { ordered: true });
    await sendHanging(engine, 1);
    await until(async () => (await engine.measure('causeway_deliveries_in_flight')) >= 50);
    await sendQuiet(engine);
    await untilQuiet();
    expect(await engine.measure('causeway_deliveries_held')).to.be.at.most(51);
  });

  it('does not keep another from the same host', async () => {
    bench.receiver.answer('/quiet', status(204));
    const engine = await bench.start({ options: { ...OPTIONS, attemptTimeoutMs: 2_000 } });
    await sendHanging(engine);
    await until(async () => (await engine.measure('causeway_delivery_lanes_blocked')) >= 3);
    // One breaker for all of them: most were never tried more than at first, and wait unattempted.
    await sendQuiet(engine);
    await untilQuiet();
    const parked = (await deliveries(bench.knex)).filter(
      ({ state, attempts }) => state === 'waiting' && attempts === 0,
    );
    for (const { due } of parked) expect(Number(due) - Date.now()).to.be.at.most(60_000);
  });
});

/** 500 to the first push of each event, so that none uses up its retries however they are spread; 204 to the others. */
function failFirst(): Behaviour {
  const seen = new Set<unknown>();
  return (response, request) => {
    const id = request.headers['webhook-id'];
    const behave = status(seen.has(id) ? 204 : 500);
    seen.add(id);
    behave(response, request);
  };
}
