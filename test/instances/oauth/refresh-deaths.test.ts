import { expect } from 'chai';
import type { RefreshStep } from '../../../src/instances/oauth/tokens/refresh.ts';
import { silentLog } from '../../support/database.ts';
import { anyFailureOf, failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { type ConnectOptions, diesAt, type ProcessOverrides, pausesAt, useStage } from './tokens-setup.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const LEASE_MS = 30 * SECOND_MS;
const INTERRUPTED = 'A token refresh was interrupted before its result could be stored';

describe('a process that refreshes', () => {
  const stage = useStage();

  describe('and dies', () => {
    /** The instance after a process died at this step and another one took over. */
    async function survive(step: RefreshStep, graceMs?: number) {
      const dying = diesAt(step);
      const first = await stage.startProcess(dying);
      const second = await stage.startProcess({ timing: { pollMs: 10 } });
      const instance = await stage.connectExpired(graceMs === undefined ? {} : { graceMs });
      first.ask(instance);
      await dying.reached;
      return { instance, second };
    }

    it('before its intent is written, another begins at once', async () => {
      const { instance, second } = await survive('intending');
      expect(stage.provider.accepts(await second.current(instance))).to.equal(true);
      expect(await stage.row(instance)).to.include({ generation: 2, interrupted: false });
      expect(stage.provider.reuses()).to.equal(0);
    });

    it('before it asked the provider, another begins when the lease has run out', async () => {
      const { instance, second } = await survive('intended');
      const waiting = second.current(instance);
      await stage.passTime(LEASE_MS);
      expect(stage.provider.accepts(await waiting)).to.equal(true);
      expect(await stage.row(instance)).to.include({ generation: 2, interrupted: false });
      expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([1, 0]);
    });

    it('with the answer in its hands, the token from before is tried once more, which a grace period allows', async () => {
      const { instance, second } = await survive('responded', 60 * SECOND_MS);
      await stage.passTime(LEASE_MS);
      expect(stage.provider.accepts(await second.current(instance))).to.equal(true);
      expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([2, 1]);
      expect(stage.refusals).to.deep.equal([]);
    });

    it('with the answer in its hands, and no grace: the instance says once what happened, and asks no more', async () => {
      const { instance, second } = await survive('responded');
      await stage.passTime(LEASE_MS);
      const errors = await Promise.all([failureOf(second.current(instance)), failureOf(second.current(instance))]);
      for (const { message } of errors) expect(message).to.include(INTERRUPTED);
      await stage.passTime(HOUR_MS);
      await failureOf(second.current(instance));
      expect(stage.refusals).to.have.length(1);
      expect(stage.provider.presentations()).to.equal(2);
    });

    it('after it has stored the answer, nothing is lost', async () => {
      const { instance, second } = await survive('committed');
      expect(stage.provider.accepts(await second.current(instance))).to.equal(true);
      expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([1, 0]);
    });
  });

  describe('and is late', () => {
    /** A process that has its answer and does not go on, and one that may take over from it. */
    async function delay({ graceMs, ...overrides }: ProcessOverrides & ConnectOptions = {}) {
      const { reached, release, onStep } = pausesAt('responded');
      const [first, second] = [await stage.startProcess({ onStep }), await stage.startProcess(overrides)];
      const instance = await stage.connectExpired({ graceMs });
      const late = first.current(instance);
      await reached;
      return { instance, second, late, release };
    }

    it('it does not present the refresh token after its lease, when another may have used it', async () => {
      const { reached, release, onStep } = pausesAt('intended');
      const [first, second] = [await stage.startProcess({ onStep }), await stage.startProcess()];
      const instance = await stage.connectExpired();
      const late = first.current(instance);
      await reached;
      await stage.passTime(LEASE_MS);
      const newer = await second.current(instance);
      release();
      expect(await late).to.equal(newer);
      expect(stage.provider.accepts(newer)).to.equal(true);
      expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([1, 0]);
    });

    it('it begins anew after its lease when no other did', async () => {
      const { reached, release, onStep } = pausesAt('intended');
      const first = await stage.startProcess({ onStep });
      const instance = await stage.connectExpired();
      const late = first.current(instance);
      await reached;
      await stage.passTime(LEASE_MS);
      release();
      expect(stage.provider.accepts(await late)).to.equal(true);
      expect(stage.provider.presentations()).to.equal(1);
      expect(await stage.row(instance)).to.include({ generation: 2, lease_id: null, interrupted: false });
    });

    it('its answer is stored after an outage that is longer than its lease, and no other presents the used token', async () => {
      const { reached, release, onStep } = pausesAt('responded');
      let failures = 0;
      const log = Object.assign(Object.create(silentLog), { error: () => void failures++ });
      const first = await stage.startProcess({ onStep, log, random: () => 0.5 });
      const second = await stage.startProcess({ timing: { graceMs: 20_000, pollMs: 50 } });
      const instance = await stage.connectExpired();
      const late = first.current(instance);
      await reached;
      const { knex } = stage.database;
      await stage.passTime(LEASE_MS);
      await knex.raw('alter table oauth_token rename to oauth_token_away');
      release();
      await until(() => failures > 0);
      await anyFailureOf(second.current(instance));
      await knex.raw('alter table oauth_token_away rename to oauth_token');
      const [one, two] = await Promise.all([late, second.current(instance)]);
      expect(one).to.equal(two);
      expect(stage.provider.accepts(one)).to.equal(true);
      expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([1, 0]);
      expect(stage.refusals).to.deep.equal([]);
      expect(await stage.row(instance)).to.include({ generation: 2, lease_id: null, interrupted: false });
    });

    it('its answer is thrown away if a newer one is there', async () => {
      const { instance, second, late, release } = await delay({ graceMs: HOUR_MS });
      await stage.passTime(LEASE_MS);
      const newer = await second.current(instance);
      release();
      expect(await late).to.equal(newer);
      expect(await stage.row(instance)).to.include({ generation: 2 });
    });

    it('its answer is thrown away if the user authenticated again meanwhile', async () => {
      const { instance, second, late, release } = await delay();
      const fresh = stage.provider.issue();
      await stage.database.knex.transaction((via) => second.tokens.store(via, instance, fresh));
      release();
      expect(await late).to.equal(fresh.accessToken);
      expect(await second.current(instance)).to.equal(fresh.accessToken);
    });

    it('its answer revives an instance that was given up meanwhile', async () => {
      const { instance, second, late, release } = await delay();
      await stage.passTime(LEASE_MS);
      await failureOf(second.current(instance));
      release();
      const revived = await late;
      expect(await second.current(instance)).to.equal(revived);
      expect(stage.recovered).to.deep.equal([instance.id]);
      expect(await stage.row(instance)).to.include({ generation: 2, refused_reason: null, interrupted: true });
    });

    it('its answer is replaced by that of the one who holds the lease, which is newer', async () => {
      const slower = pausesAt('responded');
      const { instance, second, late, release } = await delay({ graceMs: HOUR_MS, onStep: slower.onStep });
      await stage.passTime(LEASE_MS);
      const last = second.current(instance);
      await slower.reached;
      release();
      const one = await late;
      slower.release();
      const two = await last;
      expect(one).to.not.equal(two);
      expect(await (await stage.startProcess()).current(instance)).to.equal(two);
      expect(await stage.row(instance)).to.include({ generation: 3, lease_id: null });
    });

    it('a refusal of what it replaced does not touch its tokens', async () => {
      const [asked, judged] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const endpoint: ProcessOverrides['endpoint'] =
        (strict) =>
        async (...request) => {
          asked.resolve();
          await judged.promise;
          return strict(...request);
        };
      const { instance, second, late, release } = await delay({ endpoint });
      await stage.passTime(LEASE_MS);
      const refused = second.current(instance);
      await asked.promise;
      release();
      const token = await late;
      judged.resolve();
      expect(await refused).to.equal(token);
      expect(stage.refusals).to.deep.equal([]);
      expect(await stage.row(instance)).to.include({ generation: 2, lease_id: null, refused_reason: null });
    });
  });
});
