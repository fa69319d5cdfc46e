import { expect } from 'chai';
import type { RequestToken } from '../../../src/instances/oauth/token-endpoint.ts';
import { TokenError, type TokenFailureKind } from '../../../src/instances/oauth/token-failure.ts';
import { createLogger } from '../../../src/log.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';
import { type ProcessOverrides, useStage } from './tokens-setup.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

describe('a refresh that fails', () => {
  const stage = useStage();
  let failures: Error[];

  beforeEach(() => {
    failures = [];
  });

  /** Does its work, and then fails as the test says. */
  const failing =
    (strict: RequestToken): RequestToken =>
    async (...asked) => {
      const failure = failures.shift();
      if (failure === undefined) return strict(...asked);
      if (isUnknown(failure)) await strict(...asked);
      throw failure;
    };

  const isUnknown = (failure: Error) => !(failure instanceof TokenError) || failure.kind === 'unknown';
  const failure = (kind: TokenFailureKind, details = {}) => new TokenError(kind, 'It failed.', details);
  const start = (overrides: ProcessOverrides = {}) =>
    stage.startProcess({ random: () => 1, ...overrides, endpoint: failing });

  for (const kind of ['unreachable', 'unknown'] as const) {
    it(`leaves the instance valid and tells callers when to come back: ${kind}`, async () => {
      const service = await start();
      const instance = await stage.connectExpired();
      failures.push(failure(kind, { providerMessage: 'busy' }));
      const error = await failureOf(service.current(instance));
      expect(error).to.include({ code: 'PROVIDER_UNAVAILABLE', retryAfterSeconds: 1, providerMessage: 'busy' });
      expect(error.message).to.equal('Strict did not renew the access of this instance. Try again in 1 s.');
      expect(stage.refusals).to.deep.equal([]);
      expect(await stage.row(instance)).to.include({
        failures: 1,
        refused_reason: null,
        lease_id: null,
        interrupted: kind === 'unknown',
      });
    });
  }

  it('is measured by what came of it, like one that does not fail', async () => {
    const metrics = createMetrics({ processMetrics: false });
    const service = await start({ metrics });
    for (const kind of ['unreachable', 'unknown', 'refused'] as const) {
      const instance = await stage.connectExpired();
      failures.push(failure(kind));
      await failureOf(service.current(instance));
    }
    const instance = await stage.connectExpired();
    await service.current(instance);
    const measured = (await metrics.registry.getMetricsAsJSON()).find(
      ({ name }) => name === 'causeway_token_refresh_duration_seconds',
    );
    const counts = measured?.values.filter(
      (value) => 'metricName' in value && /_count$/.test(String(value.metricName)),
    );
    const outcomes = ['unreachable', 'unknown', 'refused', 'granted'];
    expect(counts?.map(({ labels, value }) => [labels, value])).to.deep.equal(
      outcomes.map((outcome) => [{ element: 'strict', outcome }, 1]),
    );
  });

  it('is not repeated before its time, in no process', async () => {
    const processes = [await start(), await start()];
    const instance = await stage.connectExpired();
    failures.push(failure('unreachable', { retryAfterMs: 20_000 }));
    for (const service of processes) {
      expect(await failureOf(service.current(instance))).to.include({ retryAfterSeconds: 20 });
    }
    expect(stage.provider.presentations()).to.equal(0);
    await stage.passTime(20 * SECOND_MS);
    for (const service of processes) expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
    expect(stage.provider.presentations()).to.equal(1);
    expect(await stage.row(instance)).to.include({ failures: 0, retry_at: null });
  });

  it('is not repeated by a process that has not heard of it', async () => {
    const instance = await stage.connect();
    const service = await start();
    await service.current(instance);
    const retry_at = new Date(Date.now() + 20 * SECOND_MS);
    await stage.database.knex('oauth_token').where({ instance_id: instance.id }).update({ retry_at });
    const { accessToken } = instance.grant;
    expect(await failureOf(service.replace(instance, accessToken))).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(stage.provider.presentations()).to.equal(0);
  });

  it('waits longer with every failure', async () => {
    const service = await start();
    const instance = await stage.connectExpired();
    const waits: (number | undefined)[] = [];
    for (let round = 0; round < 4; round++) {
      failures.push(failure('unreachable'));
      const { retryAfterSeconds = 0 } = await failureOf(service.current(instance));
      waits.push(retryAfterSeconds);
      await stage.passTime(retryAfterSeconds * SECOND_MS);
    }
    expect(waits).to.deep.equal([1, 2, 4, 8]);
  });

  it('does not keep callers from an access token that is still good', async () => {
    const service = await start();
    const instance = await stage.connect();
    await stage.passTime(HOUR_MS - 10 * SECOND_MS);
    failures.push(failure('unreachable'));
    expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    expect(await service.current(instance), 'while waiting for the next try').to.equal(instance.grant.accessToken);
    await stage.passTime(10 * SECOND_MS);
    expect(await service.current(instance)).to.not.equal(instance.grant.accessToken);
  });

  it('does not disturb callers when it happens in the background, and asks no more often than it may', async () => {
    const service = await start();
    const instance = await stage.connect();
    await stage.passTime(HOUR_MS - 60 * SECOND_MS);
    failures.push(failure('unreachable'));
    expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    await until(async () => (await stage.row(instance)).failures === 1);
    for (let calls = 0; calls < 20; calls++) await service.current(instance);
    expect(stage.provider.presentations()).to.equal(0);
  });

  it('gives an instance up once when the provider refuses, with its words', async () => {
    const processes = [await start(), await start()];
    const instance = await stage.connect();
    stage.provider.revoke(instance.grant.accessToken);
    await stage.passTime(HOUR_MS);
    const reason =
      'The provider refuses to refresh the access of this instance (invalid_grant: the refresh token was used before or revoked). Authenticate it again.';
    const errors = await Promise.all(
      Array.from({ length: 20 }, (_, index) => failureOf(processes[index % 2]?.current(instance) ?? Promise.reject())),
    );
    for (const { code, message } of errors) {
      expect(code).to.equal('INSTANCE_CREDENTIALS_FAILED');
      expect(message).to.equal(`Instance ${instance.id} cannot call Strict. ${reason}`);
    }
    expect(stage.refusals).to.deep.equal([{ id: instance.id, reason }]);
    expect(stage.provider.presentations()).to.equal(1);
    await stage.passTime(24 * HOUR_MS);
    await failureOf(processes[0]?.current(instance) ?? Promise.reject());
    expect(stage.provider.presentations(), 'never asked again').to.equal(1);
  });

  it('is not noted as refused when what hangs on it cannot be noted too', async () => {
    let isBroken = true;
    const refused: number[] = [];
    const service = await start({
      invalidate: async ({ id }) => {
        if (isBroken) throw new Error('no event could be stored');
        refused.push(id);
      },
    });
    const instance = await stage.connect();
    stage.provider.revoke(instance.grant.accessToken);
    await stage.passTime(HOUR_MS);
    const error = await service.current(instance).catch((caught) => caught);
    expect(error).to.have.property('message', 'no event could be stored');
    expect(await stage.row(instance)).to.include({ refused_reason: null });
    isBroken = false;
    await stage.passTime(30 * SECOND_MS);
    await failureOf(service.current(instance));
    expect(refused).to.deep.equal([instance.id]);
  });

  it('says that an answer was lost when the provider refuses the token that was sent before', async () => {
    const service = await start();
    const instance = await stage.connectExpired();
    failures.push(failure('unknown'));
    await failureOf(service.current(instance));
    await stage.passTime(SECOND_MS);
    const { message } = await failureOf(service.current(instance));
    expect(message).to.include('A token refresh was interrupted before its result could be stored');
    expect(stage.refusals).to.have.length(1);
    expect(stage.provider.presentations()).to.equal(2);
  });

  it('recovers from a lost answer where the provider has a grace period', async () => {
    const service = await start();
    const instance = await stage.connectExpired({ graceMs: 10 * SECOND_MS });
    failures.push(failure('unknown'));
    await failureOf(service.current(instance));
    await stage.passTime(SECOND_MS);
    expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
    expect(await stage.row(instance)).to.include({ interrupted: false, failures: 0 });
  });

  it('does not blame a lost answer for a refusal that has another cause', async () => {
    const service = await start();
    const instance = await stage.connectExpired({ graceMs: 10 * SECOND_MS });
    failures.push(failure('unknown'), failure('refused', { oauthError: 'invalid_scope' }));
    await failureOf(service.current(instance));
    await stage.passTime(SECOND_MS);
    const { message } = await failureOf(service.current(instance));
    expect(message).to.include('refuses to refresh the access of this instance (invalid_scope)');
  });

  it('logs what is no failure of the token endpoint, and treats it as a lost answer', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'error', destination: { write: (line) => lines.push(line) } });
    const service = await start({ log });
    const instance = await stage.connectExpired();
    failures.push(new TypeError('a fault of ours'));
    expect(await failureOf(service.current(instance))).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(lines.join()).to.include('a fault of ours');
    expect(await stage.row(instance)).to.include({ interrupted: true });
  });

  it('is given up after 20 s, and may have been granted', async () => {
    const clock = createVirtualClock();
    const asked = Promise.withResolvers<void>();
    const silent: RequestToken = (_request, signal) => {
      asked.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(failure('unknown')));
      });
    };
    const service = await stage.startProcess({ clock, endpoint: () => silent });
    const instance = await stage.connectExpired();
    const call = failureOf(service.current(instance));
    await asked.promise;
    await clock.advance(20 * SECOND_MS - 1);
    expect(await stage.row(instance)).to.include({ failures: 0, interrupted: false });
    await clock.advance(1);
    expect(await call).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(await stage.row(instance)).to.include({ failures: 1, interrupted: true, lease_id: null });
    expect(clock.untilNext(), 'nothing is waited for any more').to.equal(undefined);
  });

  it('ends with the patience of the caller, not with that of the provider', async () => {
    const { promise: never } = Promise.withResolvers<never>();
    const service = await stage.startProcess({ timing: { waitMs: 50 }, endpoint: () => () => never });
    const instance = await stage.connectExpired();
    expect(await failureOf(service.current(instance))).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    const reason = new Error('the caller went away');
    const error = await service.current(instance, AbortSignal.abort(reason)).catch((caught) => caught);
    expect(error).to.equal(reason);
  });
});
