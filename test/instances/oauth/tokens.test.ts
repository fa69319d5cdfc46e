import { expect } from 'chai';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { type TokenProcess, useStage } from './tokens-setup.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

describe('access tokens', () => {
  const stage = useStage();
  let service: TokenProcess;

  beforeEach(async () => {
    service = await stage.startProcess();
  });

  it('come from memory without a query or a decryption once they were asked for', async () => {
    const instance = await stage.connect();
    const other = await stage.startProcess();
    expect(await other.current(instance)).to.equal(instance.grant.accessToken);
    expect([other.countQueries(), other.decryptions()]).to.deep.equal([1, 1]);
    for (let calls = 0; calls < 100; calls++) await other.current(instance);
    expect([other.countQueries(), other.decryptions()]).to.deep.equal([0, 1]);
  });

  it('are read once for all who ask for them at the same time', async () => {
    const instance = await stage.connect();
    const other = await stage.startProcess();
    await Promise.all(Array.from({ length: 50 }, () => other.current(instance)));
    expect(other.countQueries()).to.equal(1);
  });

  it('are stored encrypted, for their row alone', async () => {
    const one = await stage.connect();
    const other = await stage.connect();
    const rows = await stage.database.knex('oauth_token').select('tokens').whereIn('instance_id', [one.id, other.id]);
    expect(JSON.stringify(rows)).to.not.include(one.grant.accessToken).and.not.include(one.grant.refreshToken);
    await stage.database.knex('oauth_token').where({ instance_id: other.id }).update({ tokens: rows[0]?.tokens });
    let failure: unknown;
    await service.current(other).catch((error) => {
      failure = error;
    });
    expect(failure).to.have.nested.property('cause.name', 'DecryptionError');
  });

  it('are refreshed in the background from shortly before their end, while calls go on with the old one', async () => {
    const instance = await stage.connect();
    await stage.passTime(55 * MINUTE_MS);
    expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    await until(async () => (await service.current(instance)) !== instance.grant.accessToken);
    expect(stage.provider.presentations()).to.equal(1);
    expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
  });

  it('are refreshed before use when they end within 30 s, by 50 calls at once and one request', async () => {
    const instance = await stage.connect();
    await stage.passTime(60 * MINUTE_MS - 29 * SECOND_MS);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => service.current(instance)));
    expect(new Set(tokens)).to.have.property('size', 1);
    expect(tokens).to.not.include(instance.grant.accessToken);
    expect(stage.provider.presentations()).to.equal(1);
  });

  it('are refreshed with a few queries, however many calls wait for it', async () => {
    const instance = await stage.connect();
    const other = await stage.startProcess();
    await other.current(instance);
    await stage.passTime(60 * MINUTE_MS);
    other.countQueries();
    await Promise.all(Array.from({ length: 50 }, () => other.current(instance)));
    expect(other.countQueries(), 'a reading, the lease, the commit, the announcement').to.be.at.most(4);
  });

  it('are refreshed time and again, each time with the refresh token that came last', async () => {
    const instance = await stage.connect();
    for (let refreshes = 1; refreshes <= 5; refreshes++) {
      await stage.passTime(60 * MINUTE_MS);
      expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
      expect(stage.provider.presentations()).to.equal(refreshes);
    }
    expect(stage.provider.reuses()).to.equal(0);
    expect(await stage.row(instance)).to.include({ generation: 6, lease_id: null, interrupted: false });
  });

  it('keep their refresh token when the provider sends none', async () => {
    const reusable = await stage.startProcess({
      endpoint:
        () =>
        async ({ grantType, parameters }) => {
          expect(grantType).to.equal('refresh_token');
          return { accessToken: `for ${parameters.refresh_token}`, expiresInSeconds: 60, values: {} };
        },
    });
    const instance = await stage.connect();
    for (let refreshes = 0; refreshes < 2; refreshes++) {
      await stage.passTime(60 * MINUTE_MS);
      expect(await reusable.current(instance)).to.equal(`for ${instance.grant.refreshToken}`);
    }
  });

  it('that were refused are replaced once, for all calls that had them', async () => {
    const instance = await stage.connect();
    const refused = await service.current(instance);
    stage.provider.endAccess();
    const replaced = await Promise.all(Array.from({ length: 50 }, () => service.replace(instance, refused)));
    expect(new Set(replaced)).to.have.property('size', 1);
    expect(stage.provider.accepts(replaced[0] ?? '')).to.equal(true);
    expect(await service.replace(instance, refused), 'a late call').to.equal(replaced[0]);
    expect(stage.provider.presentations()).to.equal(1);
  });

  it('without an expiry stay until the provider refuses them', async () => {
    const instance = await stage.connect({ change: ({ expiresInSeconds: _, ...grant }) => grant });
    await stage.passTime(365 * 24 * 60 * MINUTE_MS);
    expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    await service.replace(instance, instance.grant.accessToken);
    expect(stage.provider.presentations()).to.equal(1);
  });

  it('without an expiry live as long as the connector says', async () => {
    const instance = await stage.connect({
      auth: { accessTokenSeconds: 600 },
      change: ({ expiresInSeconds: _, ...grant }) => grant,
    });
    await stage.passTime(10 * MINUTE_MS);
    expect(await service.current(instance)).to.not.equal(instance.grant.accessToken);
  });

  it('from client credentials are asked for anew at their end, once', async () => {
    const instance = await stage.connect({
      auth: { grant: 'clientCredentials' },
      change: ({ refreshToken: _, ...grant }) => grant,
    });
    await stage.passTime(60 * MINUTE_MS);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => service.current(instance)));
    expect(new Set(tokens)).to.have.property('size', 1);
    expect(stage.provider.accepts(tokens[0] ?? '')).to.equal(true);
    expect(stage.provider.presentations(), 'no refresh token is needed').to.equal(0);
  });

  it('without a refresh token stay valid until they end, and then say that the user must come back', async () => {
    const instance = await stage.connect({ change: ({ refreshToken: _, ...grant }) => grant });
    await stage.passTime(60 * MINUTE_MS - SECOND_MS);
    expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    await stage.passTime(SECOND_MS);
    const failure = await failureOf(service.current(instance));
    expect(failure.message).to.equal(
      `Instance ${instance.id} cannot call Strict. The provider refuses to refresh the access of this instance (it issued no refresh token). Authenticate it again.`,
    );
    expect(stage.refusals).to.have.length(1);
  });

  it('without a refresh token are not given up for one refusal, which may be about something else', async () => {
    const instance = await stage.connect({ change: ({ refreshToken: _, ...grant }) => grant });
    const failure = await failureOf(service.replace(instance, instance.grant.accessToken));
    expect(failure).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED', status: 424 });
    expect(await stage.row(instance)).to.include({ refused_reason: null });
  });

  it('of an instance that is invalid anyway are replaced once a minute at most', async () => {
    const instance = { ...(await stage.connect()), valid: false };
    const first = await service.replace(instance, instance.grant.accessToken);
    expect(await failureOf(service.replace(instance, first))).to.have.property('code', 'INSTANCE_CREDENTIALS_FAILED');
    expect(stage.provider.presentations()).to.equal(1);
    await stage.passTime(MINUTE_MS);
    await service.replace(instance, first);
    expect(stage.provider.presentations()).to.equal(2);
  });

  it('are there for connectors with OAuth only', async () => {
    const instance = await stage.connect();
    const connector = { ...instance.connector, auth: { type: 'none' } as const };
    expect(service.tokens.of({ ...instance, connector })).to.equal(undefined);
  });

  it('that are missing are an error of the instance', async () => {
    const instance = await stage.connect();
    await stage.database.knex('oauth_token').where({ instance_id: instance.id }).delete();
    const failure = await failureOf(service.current(instance));
    expect(failure.message).to.equal(
      `Instance ${instance.id} cannot call Strict. It has no tokens. Authenticate this instance.`,
    );
  });

  it('of a new authentication replace the old ones in every process, and forget a refusal', async () => {
    const other = await stage.startProcess();
    const instance = await stage.connect();
    stage.provider.revoke(instance.grant.accessToken);
    await failureOf(service.replace(instance, instance.grant.accessToken));
    const fresh = stage.provider.issue();
    await failureOf(other.current(instance));
    await stage.database.knex.transaction((via) => service.tokens.store(via, instance, fresh));
    for (const process of [service, other]) {
      await until(async () => {
        const token = await process.current(instance).catch(() => undefined);
        return token === fresh.accessToken;
      });
    }
    expect(await stage.row(instance)).to.include({ generation: 2, refused_reason: null, failures: 0 });
  });

  it('that are read while new ones are stored are not kept', async () => {
    const instance = await stage.connect();
    const fresh = stage.provider.issue();
    await stage.database.knex.transaction(async (via) => {
      await service.tokens.store(via, instance, fresh);
      expect(await service.current(instance)).to.equal(instance.grant.accessToken);
    });
    await until(async () => (await service.current(instance)) === fresh.accessToken);
  });
});
