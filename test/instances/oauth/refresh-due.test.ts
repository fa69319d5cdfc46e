import { expect } from 'chai';
import { useDatabase } from '../../support/database.ts';
import { createStage, type Stage, type TokenProcess } from './tokens-setup.ts';

const MINUTE_MS = 60_000;

describe('refreshDue', () => {
  const database = useDatabase();
  const signal = new AbortController().signal;
  let stage: Stage;
  let service: TokenProcess;

  beforeEach(async () => {
    stage = createStage(database);
    service = await stage.startProcess();
  });
  afterEach(async () => {
    await stage.close();
    await database.knex('oauth_token').delete();
  });

  it('refreshes what ends soon, and nothing else', async () => {
    const soon = await Promise.all(Array.from({ length: 12 }, () => stage.connect()));
    await stage.passTime(50 * MINUTE_MS);
    const later = await stage.connect();
    await stage.passTime(5 * MINUTE_MS);
    expect(await service.tokens.refreshDue(signal)).to.equal(12);
    expect(await service.tokens.refreshDue(signal)).to.equal(0);
    expect(await service.current(later)).to.equal(later.grant.accessToken);
    for (const instance of soon) expect(await service.current(instance)).to.not.equal(instance.grant.accessToken);
    expect(stage.provider.presentations()).to.equal(12);
  });

  it('refreshes more than one batch', async () => {
    await Promise.all(Array.from({ length: 120 }, () => stage.connect()));
    await stage.passTime(55 * MINUTE_MS);
    expect(await service.tokens.refreshDue(signal)).to.equal(120);
  });

  it('asks the provider once for each though several processes run it at the same time', async () => {
    const processes = [service, await stage.startProcess(), await stage.startProcess()];
    await Promise.all(Array.from({ length: 10 }, () => stage.connect()));
    await stage.passTime(55 * MINUTE_MS);
    await Promise.all(processes.map(({ tokens }) => tokens.refreshDue(signal)));
    expect(stage.provider.presentations()).to.equal(10);
  });

  it('leaves tokens of a short life to those who use them, and those that cannot be renewed alone', async () => {
    await stage.connect({ change: (grant) => ({ ...grant, expiresInSeconds: 200 }) });
    await stage.connect({ change: ({ refreshToken: _, ...grant }) => grant });
    await stage.passTime(59 * MINUTE_MS);
    expect(await service.tokens.refreshDue(signal)).to.equal(0);
  });

  it('leaves tokens of an account that was deleted to their end, and keeps those of one that rests', async () => {
    const account = () => database.knex('account');
    await stage.connect();
    await stage.passTime(55 * MINUTE_MS);
    await account().update({ deleted_at: database.knex.fn.now() });
    expect(await service.tokens.refreshDue(signal)).to.equal(0);
    await account().update({ deleted_at: null, active: false });
    expect(await service.tokens.refreshDue(signal)).to.equal(1);
    await account().update({ active: true });
  });

  it('goes on after one that fails', async () => {
    const broken = await stage.connect();
    const good = await stage.connect();
    stage.provider.revoke(broken.grant.accessToken);
    await stage.passTime(55 * MINUTE_MS);
    expect(await service.tokens.refreshDue(signal)).to.equal(1);
    expect(stage.refusals.map(({ id }) => id)).to.deep.equal([broken.id]);
    expect(await service.current(good)).to.not.equal(good.grant.accessToken);
  });

  it('begins nothing more when it is told to stop', async () => {
    await stage.connect();
    await stage.passTime(55 * MINUTE_MS);
    expect(await service.tokens.refreshDue(AbortSignal.abort())).to.equal(0);
  });
});
