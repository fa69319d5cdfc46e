import { expect } from 'chai';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, type Tenant, useTenants } from './support/tenants.ts';

function budgetOf({ headers }: ApiAnswer): Record<string, string | null> {
  const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
  return Object.fromEntries(names.map((name) => [name.slice('ratelimit-'.length), headers.get(name)]));
}

const NONE = { limit: null, remaining: null, reset: null };

describe('the limits of callers', () => {
  // So few a minute that none comes back while the tests run: the first after 10 s.
  const service = useApp({ RATE_LIMIT_USER: '6', RATE_LIMIT_ACCOUNT: '8' });
  const tenants = useTenants(service);

  const ask = (tenant: Tenant, token?: string) =>
    service.call(token === undefined ? '/elements' : '/Products', { headers: authorizationOf(tenant, token) });

  it('are told on platform calls, and a refusal says when to come back', async () => {
    const { token } = await service.createInstance('odata', SHOP);
    const first = await ask(service);
    const { reset, ...counts } = budgetOf(first);
    expect(counts).to.deep.equal({ limit: '6', remaining: '4' });
    // Two tokens take 20 s to come back, less what the making of the instance took.
    expect(Number(reset)).to.be.within(11, 20);

    // A call on an instance counts, but tells the provider's budget, if any.
    const query = await ask(service, token);
    expect(query.status).to.equal(200);
    expect(budgetOf(query)).to.deep.equal(NONE);
    // So does one with a wrong token: it costs a query.
    const wrongToken = await ask(service, 'no-token');
    expectProblem(wrongToken, 'UNAUTHENTICATED');
    expect(budgetOf(await ask(service))).to.deep.include({ remaining: '1' });
    await ask(service);

    for (const response of [await ask(service), await ask(service, token)]) {
      const seconds = Number(response.headers.get('retry-after'));
      const message = `Too many requests of this user: the limit is 6 a minute. Try again in ${seconds} seconds.`;
      expectProblem(response, 'RATE_LIMITED', message);
      expect(seconds).to.be.within(1, 10);
      expect(budgetOf(response)).to.deep.include({ limit: '6', remaining: '0' });
    }
  });

  it('are those of an account too, whoever of its users asks', async () => {
    expect(budgetOf(await ask(tenants.colleague))).to.deep.include({ limit: '8', remaining: '1' });
    expect((await ask(tenants.colleague)).status).to.equal(200);
    const message = /^Too many requests of this account: the limit is 8 a minute\. /;
    expectProblem(await ask(tenants.colleague), 'RATE_LIMITED', message);
  });

  it('hurt nobody else, in the same organization or another', async () => {
    for (const tenant of [tenants.sibling, tenants.stranger]) {
      expect(budgetOf(await ask(tenant))).to.deep.include({ limit: '6', remaining: '5' });
    }
  });
});

describe('without limits of callers', () => {
  const service = useApp({ RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' });

  it('nothing is told and nothing refused', async () => {
    const response = await service.call('/elements');
    expect(response.status).to.equal(200);
    expect(budgetOf(response)).to.deep.equal(NONE);
  });
});
