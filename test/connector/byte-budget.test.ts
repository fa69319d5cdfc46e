import { expect } from 'chai';
import { createByteBudget } from '../../src/connector/client/index.ts';
import { failureOf } from '../support/failures.ts';
import { createGzipBomb, endless, json, status } from '../support/misbehaving-server.ts';
import { type ClientSetup, setUpClient } from './client-setup.ts';

describe('the memory for answers of providers', () => {
  it('has room until all of it is taken, and again when it is given back', () => {
    const budget = createByteBudget(100);
    const [one, two, three] = [budget.open(1), budget.open(2), budget.open(3)];
    expect([one.take(50), two.take(40), three.take(11), three.take(10)]).to.deep.equal([true, true, false, true]);
    one.give(20);
    expect([three.take(21), three.take(20), budget.heldBytes()]).to.deep.equal([false, true, 100]);
    for (const hold of [one, two, three]) hold.close();
    expect(budget.heldBytes()).to.equal(0);
  });

  it('is shared: whatever an account takes, there is half for the others', () => {
    const budget = createByteBudget(100);
    const greedy = Array.from({ length: 10 }, () => budget.open(1));
    expect(greedy.filter((hold) => hold.take(10))).to.have.length(5);
    expect(budget.open(2).take(50)).to.equal(true);
  });

  it('counts what is kept of a hold, and nothing once it is closed', () => {
    const budget = createByteBudget(100);
    const hold = budget.open(1);
    hold.take(40);
    hold.keep(10);
    expect(budget.heldBytes()).to.equal(10);
    hold.close();
    hold.close();
    expect([hold.take(1000), budget.heldBytes()]).to.deep.equal([true, 0]);
    hold.give(500);
    expect(budget.heldBytes()).to.equal(0);
  });

  describe('of calls', () => {
    const MB = 1024 * 1024;
    let setup: ClientSetup;
    let budget: ReturnType<typeof createByteBudget>;
    beforeEach(async () => {
      budget = createByteBudget(8 * MB);
      setup = await setUpClient({ budget });
    });
    afterEach(() => setup.close());

    const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));

    it('is taken for what an answer is parsed to, not for its text any more', async () => {
      const hold = budget.open(1);
      setup.server.answer('/api/rows', json(rows(20_000)));
      await setup.client.send(setup.call({ hold }), { path: '/rows' });
      const characters = JSON.stringify(rows(20_000)).length;
      expect(budget.heldBytes()).to.be.within(characters + 20_000 * 48, characters + 20_000 * 100);
      hold.close();
      expect(budget.heldBytes()).to.equal(0);
    });

    it('is given back at the end of a call that nobody counts', async () => {
      setup.server.answer('/api/rows', json(rows(20_000)));
      await setup.send({ path: '/rows' });
      expect(budget.heldBytes()).to.equal(0);
    });

    it('ends an answer that has no room while it comes, packed or not, and keeps nothing of it', async () => {
      const hold = budget.open(1);
      setup.server.answer('/api/plain', endless(20 * MB));
      setup.server.answer('/api/packed', await createGzipBomb(20 * MB));
      setup.server.answer(
        '/api/tiny',
        status(200, { 'content-type': 'application/json' }, `[${'{},'.repeat(99_999)}{}]`),
      );
      for (const path of ['/plain', '/packed', '/tiny']) {
        const { code, retryAfterSeconds } = await failureOf(setup.client.send(setup.call({ hold }), { path }));
        expect([code, retryAfterSeconds], path).to.deep.equal(['OVERLOADED', 2]);
        hold.keep(0);
      }
      expect(setup.server.requests).to.have.length(3);
      expect(setup.server.bytesSent()).to.be.below(18 * MB);
    });

    it('holds a file as long as its answer', async () => {
      const hold = budget.open(1);
      setup.server.answer('/api/file', status(200, { 'content-type': 'application/pdf' }, Buffer.alloc(MB)));
      await setup.client.sendForFile(setup.call({ hold }), { path: '/file' });
      expect(budget.heldBytes()).to.equal(MB);
    });
  });
});
