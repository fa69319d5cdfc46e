import { expect } from 'chai';
import type { RequestToken } from '../../../src/instances/oauth/token-endpoint.ts';
import { theRow } from '../../support/database.ts';
import { type ProcessOverrides, pausesAt, useStage } from './tokens-setup.ts';

const HOUR_MS = 3_600_000;
const MOVED = { 'api.url': 'https://moved.strict.example.com' };

describe('values that come with refreshed tokens', () => {
  const stage = useStage();

  const telling =
    (strict: RequestToken): RequestToken =>
    async (...asked) => ({ ...(await strict(...asked)), values: MOVED });
  const start = (overrides: ProcessOverrides = {}) => stage.startProcess({ ...overrides, endpoint: telling });

  it('are passed on when the instance has others, once the tokens are stored', async () => {
    const generations: unknown[] = [];
    const service = await start({
      adoptValues: async ({ accountId, id, values }, via) => {
        const row = await theRow(via('oauth_token').where({ account_id: accountId, instance_id: id }));
        generations.push([row.generation, values]);
      },
    });
    const instance = await stage.connectExpired();
    await service.current(instance);
    expect(generations).to.deep.equal([[2, MOVED]]);
  });

  it('are not passed on when the instance has them already', async () => {
    const service = await start();
    const instance = await stage.connectExpired();
    await service.current({ ...instance, config: { ...MOVED, other: true } });
    expect(stage.adopted).to.deep.equal([]);
  });

  it('do not cost the tokens when they cannot be written, and are told again by the next refresh', async () => {
    let isBroken = true;
    const service = await start({
      adoptValues: async ({ id }) => {
        if (isBroken) throw new Error('no configuration could be written');
        adopted.push(id);
      },
    });
    const adopted: number[] = [];
    const instance = await stage.connectExpired();
    expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
    expect(await stage.row(instance)).to.include({ generation: 2, lease_id: null, refused_reason: null });
    isBroken = false;
    await stage.passTime(HOUR_MS);
    expect(stage.provider.accepts(await service.current(instance))).to.equal(true);
    expect(adopted).to.deep.equal([instance.id]);
  });

  it('are left alone when the instance was authenticated again in between: those are newer', async () => {
    const slow = pausesAt('committed');
    const service = await start(slow);
    const instance = await stage.connectExpired();
    const call = service.current(instance);
    await slow.reached;
    await stage.database.knex.transaction((via) => service.tokens.store(via, instance, stage.provider.issue()));
    slow.release();
    await call;
    expect(stage.adopted).to.deep.equal([]);
  });
});
