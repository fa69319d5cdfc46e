import { expect } from 'chai';
import { AppError } from '../../src/errors.ts';
import { createFailedAuthorizations } from '../../src/http/failed-authorizations.ts';
import { expectProblem } from '../api/support/expect-problem.ts';
import { authorizationOf, useTenants } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

describe('wrong secrets', () => {
  const service = useApp({ TRUST_PROXY: '127.0.0.1' });
  const tenants = useTenants(service);

  const ask = (authorization: string, address: string) =>
    service.call('/elements', { headers: { authorization, 'x-forwarded-for': address } });

  it('of one address are looked up 20 times, then never at once', async () => {
    expect((await ask(authorizationOf(service).authorization, '192.0.2.1')).status).to.equal(200);
    for (let guess = 0; guess < 20; guess++) {
      expectProblem(await ask(`User guess-${guess}, Organization x`, '192.0.2.1'), 'UNAUTHENTICATED');
    }
    const refused = await ask('User guess-20, Organization x', '192.0.2.1');
    expectProblem(
      refused,
      'RATE_LIMITED',
      'Too many requests with wrong secrets came from this address. Try again in 1 second.',
    );
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(refused.headers.get('ratelimit-remaining')).to.equal('0');
  });

  it('do not shut out whoever shares the address and was good before, nor other addresses', async () => {
    for (let guess = 0; guess < 21; guess++) await ask(`User more-${guess}, Organization x`, '2001:db8:0:1::7');
    const { authorization } = authorizationOf(service);
    expect((await ask(authorization, '2001:db8:0:1::7')).status).to.equal(200);
    const { authorization: unseen } = authorizationOf(tenants.stranger);
    // Another address of the same customer is the same network.
    expectProblem(await ask(unseen, '2001:db8:0:1:ffff::8'), 'RATE_LIMITED');
    expect((await ask(unseen, '2001:db8:0:2::7')).status).to.equal(200);
    expect((await ask(unseen, '2001:db8:0:1::7')).status).to.equal(200);
  });

  it('are not the wrong tokens of whoever is known', async () => {
    const { authorization } = authorizationOf(service, 'no-token');
    for (let guess = 0; guess < 25; guess++) {
      expectProblem(await ask(authorization, '192.0.2.3'), 'UNAUTHENTICATED');
    }
    expectProblem(await ask('User another-guess, Organization x', '192.0.2.3'), 'UNAUTHENTICATED');
  });

  it('are not those of an address that the caller invents', async () => {
    for (let guess = 0; guess < 20; guess++) {
      await ask(`User invented-${guess}, Organization x`, `203.0.113.${guess}, 192.0.2.2`);
    }
    expectProblem(await ask('User invented-20, Organization x', '203.0.113.99, 192.0.2.2'), 'RATE_LIMITED');
  });
});

describe('createFailedAuthorizations', () => {
  const wrong = async (): Promise<never> => {
    throw new AppError('UNAUTHENTICATED', 'wrong');
  };

  function setUp() {
    const clock = createVirtualClock();
    // To the cache that keeps them, 0 is no time.
    void clock.advance(1);
    let lookUps = 0;
    const failed = createFailedAuthorizations(clock);
    const guess = async (secrets: string, network = 'here') => {
      const before = lookUps;
      await failed
        .attempt({ network, secrets }, async () => {
          lookUps += 1;
          return wrong();
        })
        .catch(() => {});
      return lookUps > before;
    };
    const succeed = (secrets: string, network = 'here') => failed.attempt({ network, secrets }, async () => {});
    return {
      failed,
      guess,
      succeed,
      pass: (ms: number) => clock.advance(ms),
      lookUps: () => lookUps,
    };
  }

  async function exhaust(guess: (secrets: string) => Promise<boolean>): Promise<void> {
    for (let number = 0; number < 20; number++) expect(await guess(`free-${number}`)).to.equal(true);
  }

  it('makes each further failure wait twice as long, up to 64 seconds', async () => {
    const { guess, pass } = setUp();
    await exhaust(guess);
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 64, 64]) {
      await pass(seconds * 1000 - 1);
      expect(await guess(`early-${seconds}`), `before ${seconds} s`).to.equal(false);
      await pass(1);
      expect(await guess(`due-${seconds}`), `after ${seconds} s`).to.equal(true);
    }
  });

  it('forgets after 15 minutes without a failure', async () => {
    const { guess, pass } = setUp();
    await exhaust(guess);
    await pass(15 * 60_000 + 1);
    await exhaust(guess);
  });

  it('does not let a guesser who has a good secret begin anew', async () => {
    const { guess, succeed } = setUp();
    await succeed('good');
    for (let number = 0; number < 20; number++) {
      expect(await guess(`wrong-${number}`)).to.equal(true);
      await succeed('good');
    }
    expect(await guess('one more')).to.equal(false);
  });

  it('looks up at most 200 secrets of one address at a time, however fast they come', async () => {
    const { failed, lookUps } = setUp();
    let started = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const attempts = Array.from({ length: 1_000 }, (_, number) =>
      failed
        .attempt({ network: 'here', secrets: `${number}` }, async () => {
          started += 1;
          await promise;
          return wrong();
        })
        .catch(({ code }) => code),
    );
    resolve();
    const codes = await Promise.all(attempts);
    expect(started).to.equal(200);
    expect(lookUps()).to.equal(0);
    expect(codes.filter((code) => code === 'RATE_LIMITED')).to.have.length(800);
  });

  it('counts many requests with one secret as one look-up under way', async () => {
    const { failed } = setUp();
    const attempts = Array.from({ length: 1_000 }, () =>
      failed.attempt({ network: 'here', secrets: 'the same' }, async () => {}),
    );
    await Promise.all(attempts);
  });

  it('lets a secret pass that was good before, until it is no longer', async () => {
    const { guess, succeed } = setUp();
    await succeed('good', 'elsewhere');
    await exhaust(guess);
    await succeed('good');
    expect(await guess('good')).to.equal(true);
    expect(await guess('good')).to.equal(false);
  });

  it('counts no failure that is not about secrets', async () => {
    const { failed, guess } = setUp();
    const unavailable = async (): Promise<never> => {
      throw new AppError('OVERLOADED', 'The service cannot reach its database at the moment. Try again later.');
    };
    for (let number = 0; number < 100; number++) {
      await failed.attempt({ network: 'here', secrets: `${number}` }, unavailable).catch(() => {});
    }
    await exhaust(guess);
  });
});
