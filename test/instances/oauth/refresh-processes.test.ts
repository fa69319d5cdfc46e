import { expect } from 'chai';
import { createLogger } from '../../../src/log.ts';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { diesAt, pausesAt, useStage } from './tokens-setup.ts';

const HOUR_MS = 3_600_000;

describe('refreshes of several processes', () => {
  const stage = useStage();

  it('are one, for 50 calls of two processes that meet an expired token', async () => {
    const processes = [await stage.startProcess(), await stage.startProcess()];
    const instance = await stage.connect();
    for (let round = 1; round <= 3; round++) {
      await stage.passTime(HOUR_MS);
      const calls = Array.from({ length: 50 }, (_, call) => processes[call % 2]?.current(instance));
      const tokens = await Promise.all(calls);
      expect(new Set(tokens)).to.have.property('size', 1);
      expect(stage.provider.accepts(tokens[0] ?? '')).to.equal(true);
      expect(stage.provider.presentations()).to.equal(round);
    }
  });

  it('are one, for 50 calls of two processes whose token was refused in mid-life', async () => {
    const processes = [await stage.startProcess(), await stage.startProcess()];
    const instance = await stage.connect();
    stage.provider.endAccess();
    const calls = Array.from({ length: 50 }, (_, call) =>
      processes[call % 2]?.replace(instance, instance.grant.accessToken),
    );
    expect(new Set(await Promise.all(calls))).to.have.property('size', 1);
    expect(stage.provider.presentations()).to.equal(1);
  });

  for (const step of ['responded', 'intended'] as const) {
    it(`let nobody see the new access token before it is stored: paused where it is ${step}`, async () => {
      const slow = pausesAt(step);
      const [first, second] = [await stage.startProcess(slow), await stage.startProcess()];
      const instance = await stage.connectExpired();
      let arrived = 0;
      const arrive = (token: string) => {
        arrived++;
        return token;
      };
      const asked = first.current(instance).then(arrive);
      await slow.reached;
      const others = [first, second, first, second].map((process) => process.current(instance).then(arrive));
      expect(await stage.row(instance)).to.include({ generation: 1 });
      expect(arrived).to.equal(0);
      slow.release();
      expect(new Set(await Promise.all([asked, ...others]))).to.have.property('size', 1);
      expect(stage.provider.presentations()).to.equal(1);
    });
  }

  it('are waited for by looking at the database when no announcement comes', async () => {
    const slow = pausesAt('responded');
    const silent = diesAt('committed');
    const first = await stage.startProcess({ onStep: (step, key) => slow.onStep(step) ?? silent.onStep?.(step, key) });
    let looks = 0;
    const second = await stage.startProcess({ timing: { pollMs: 20 }, onStep: () => void looks++ });
    const instance = await stage.connectExpired();
    first.ask(instance);
    await slow.reached;
    const call = second.current(instance);
    await until(async () => looks >= 2);
    slow.release();
    await silent.reached;
    expect(stage.provider.accepts(await call)).to.equal(true);
    expect(stage.provider.presentations()).to.equal(1);
  });

  it('are not waited for without end', async () => {
    const stuck = diesAt('intended');
    const first = await stage.startProcess(stuck);
    const second = await stage.startProcess({ timing: { pollMs: 10, waitMs: 50 } });
    const instance = await stage.connectExpired();
    first.ask(instance);
    await stuck.reached;
    expect(await failureOf(second.current(instance))).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(stage.provider.presentations()).to.equal(0);
  });

  it('keep what they were granted while the database is away, and store it when it is back', async () => {
    const slow = pausesAt('responded');
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    const log = createLogger({ level: 'error', destination });
    const service = await stage.startProcess({ ...slow, log, random: () => 0 });
    const instance = await stage.connectExpired();
    const call = service.current(instance);
    await slow.reached;
    await stage.database.knex.raw('alter table oauth_token rename to oauth_token_away');
    try {
      slow.release();
      await until(async () => lines.length >= 2);
    } finally {
      await stage.database.knex.raw('alter table oauth_token_away rename to oauth_token');
    }
    expect(lines.join()).to.include('could not store refreshed tokens; trying again');
    expect(stage.provider.accepts(await call)).to.equal(true);
    expect(await stage.row(instance)).to.include({ generation: 2, lease_id: null });
    expect(stage.provider.presentations()).to.equal(1);
  });

  it('are waited for at a stop', async () => {
    const slow = pausesAt('responded');
    const service = await stage.startProcess(slow);
    const instance = await stage.connectExpired();
    service.ask(instance);
    await slow.reached;
    const closing = service.tokens.close(10_000);
    slow.release();
    await closing;
    expect(await stage.row(instance)).to.include({ generation: 2 });
  });

  it('are not waited for at a stop longer than it may take', async () => {
    const stuck = diesAt('responded');
    const service = await stage.startProcess(stuck);
    const instance = await stage.connectExpired();
    service.ask(instance);
    await stuck.reached;
    await service.tokens.close(20);
    expect(await stage.row(instance)).to.include({ generation: 1 });
  });
});
