import { expect } from 'chai';
import type { RequestToken } from '../../../src/instances/oauth/token-endpoint.ts';
import { TokenError } from '../../../src/instances/oauth/token-failure.ts';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { type ProcessOverrides, pausesAt, type TestInstance, type TokenProcess, useStage } from './tokens-setup.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'oauth.api.secret';
const REASON =
  "The provider refuses the client id or secret of this instance (invalid_client: no such client). Correct oauth.api.secret in its configuration. You don't need to authenticate the instance again.";

describe('a client that the provider refuses', () => {
  const stage = useStage();
  let goodSecret: string | undefined;
  let oauthError: string;
  let askedWith: unknown[];

  beforeEach(() => {
    goodSecret = undefined;
    oauthError = 'invalid_client';
    askedWith = [];
  });

  /** Looks at the client before the grant, as RFC 6749, 5.2 has it. */
  const authenticating =
    (strict: RequestToken): RequestToken =>
    async (request, signal) => {
      const secret = request.config[SECRET];
      askedWith.push(secret);
      if (secret === goodSecret) return strict(request, signal);
      throw new TokenError('refused', 'It failed.', { oauthError, providerMessage: 'no such client' });
    };

  const start = (overrides: ProcessOverrides = {}) => stage.startProcess({ ...overrides, endpoint: authenticating });

  /** The client was changed at the provider, and the access has run out. */
  async function connectAndChangeClient(): Promise<TestInstance> {
    const instance = await stage.connectExpired();
    goodSecret = 'new';
    return instance;
  }

  const works = async (service: TokenProcess, instance: TestInstance) =>
    stage.provider.accepts(await service.current(instance));

  for (const error of ['invalid_client', 'unauthorized_client']) {
    it(`makes the instance invalid once, and is asked with no more: ${error}`, async () => {
      oauthError = error;
      const processes = [await start(), await start()];
      const instance = await connectAndChangeClient();
      const failures = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          failureOf(processes[index % 2]?.current(instance) ?? Promise.reject()),
        ),
      );
      const reason = REASON.replace('invalid_client', error);
      for (const { code, message } of failures) {
        expect(code).to.equal('INSTANCE_CREDENTIALS_FAILED');
        expect(message).to.equal(`Instance ${instance.id} cannot call Strict. ${reason}`);
      }
      await stage.passTime(24 * HOUR_MS);
      await failureOf(processes[0]?.current(instance) ?? Promise.reject());
      expect(stage.refusals).to.deep.equal([{ id: instance.id, reason }]);
      expect([askedWith.length, stage.provider.presentations()]).to.deep.equal([1, 0]);
      expect(await stage.row(instance)).to.include({ refused_kind: 'client', lease_id: null, generation: 1 });
    });
  }

  it('is asked with again when it was put right, with the refresh token that was kept', async () => {
    const [service, other] = [await start(), await start()];
    const instance = await connectAndChangeClient();
    await failureOf(service.current(instance));
    await failureOf(other.current(instance));
    const changed = await stage.changeSettings(instance, { [SECRET]: 'new' }, service);
    expect(await stage.row(instance)).to.include({ refused_kind: null, refused_reason: null, generation: 1 });
    expect(await works(service, changed)).to.equal(true);
    // The message of the change may still be on its way, and then the refusal of before is known without a request.
    await until(() => works(other, changed).catch(() => false));
    expect([stage.provider.presentations(), stage.provider.reuses()]).to.deep.equal([1, 0]);
    expect(stage.refusals).to.have.length(1);
  });

  it('makes the instance invalid once more when it was not put right after all', async () => {
    const service = await start();
    const instance = await connectAndChangeClient();
    await failureOf(service.current(instance));
    const changed = await stage.changeSettings(instance, { [SECRET]: 'wrong' }, service);
    for (let calls = 0; calls < 5; calls++) await failureOf(service.current(changed));
    expect(askedWith).to.deep.equal([undefined, 'wrong']);
    expect(stage.refusals).to.have.length(2);
  });

  it('does not make good a grant that was refused', async () => {
    const service = await start();
    const instance = await stage.connect();
    stage.provider.revoke(instance.grant.accessToken);
    await stage.passTime(HOUR_MS);
    await failureOf(service.current(instance));
    goodSecret = 'new';
    const changed = await stage.changeSettings(instance, { [SECRET]: 'new' }, service);
    expect(await stage.row(instance)).to.include({ refused_kind: 'grant' });
    await failureOf(service.current(changed));
    expect(askedWith).to.deep.equal([undefined]);
  });

  it('is not blamed for the secret of before, which a refresh under way was asking with', async () => {
    const slow = pausesAt('intended');
    const service = await start(slow);
    const instance = await connectAndChangeClient();
    const call = works(service, instance);
    await slow.reached;
    await stage.changeSettings(instance, { [SECRET]: 'new' }, service);
    slow.release();
    expect(await call).to.equal(true);
    expect(askedWith).to.deep.equal([undefined, 'new']);
    expect(stage.refusals).to.deep.equal([]);
  });

  it('is not blamed either when its secret is changed at the last moment before the refusal is noted', async () => {
    const instance = await connectAndChangeClient();
    const changed = await stage.changeSettings(instance, { [SECRET]: 'new' });
    // The first look was just before the change.
    const looks = [instance, changed];
    const service = await start({ get: async () => looks.shift() ?? changed });
    expect(await works(service, instance)).to.equal(true);
    expect(askedWith).to.deep.equal([undefined, undefined, 'new']);
    expect(stage.refusals).to.deep.equal([]);
  });
});
