import { expect } from 'chai';
import { DEMO_CONFIGURATION } from '../../connectors/stripe/simulator.ts';
import { useApp } from '../support/app.ts';
import { useInstance } from './support/instances.ts';

/** The factor from a currency to Stripe's smallest unit. Source: docs.stripe.com/currencies. */
const FACTORS: Readonly<Record<string, number>> = { usd: 100, eur: 100, jpy: 1, kwd: 1000, isk: 100 };

interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
}

describe('amounts of the catalogue, over currencies', () => {
  const service = useApp({ SIMULATORS_PORT: '0', EGRESS_ALLOW: '127.0.0.1' });
  const instance = useInstance(service, 'stripe', { ...DEMO_CONFIGURATION, simulator: true });
  let minor: ReadonlyMap<string, Payment>;

  before(async () => {
    const all: readonly Payment[] = await instance.get('/payment_intents', { query: { pageSize: 200 } });
    minor = new Map(all.map((payment) => [payment.id, payment]));
    await service.change('POST', '/organizations/objects/payments/definitions?fromSystem=true');
  });

  const federated = (where: string): Promise<readonly Payment[]> =>
    service.get('/federated/payments', { query: { where, pageSize: 200 } });
  const majorOf = ({ amount, currency }: Payment) => amount / (FACTORS[currency] ?? Number.NaN);

  it('are those of the provider in units of each currency', async () => {
    const rows = await federated('id IS NOT NULL');
    expect(rows).to.have.length(minor.size);
    expect(new Set(rows.map(({ currency }) => currency))).to.deep.equal(new Set(Object.keys(FACTORS)));
    for (const row of rows) expect(row.amount).to.equal(majorOf(minor.get(row.id) ?? row));
  });

  const TESTS: readonly (readonly [where: string, matches: (amount: number, currency: string) => boolean])[] = [
    ['amount > 10', (amount) => amount > 10],
    ['amount >= 2.1 AND amount < 500', (amount) => amount >= 2.1 && amount < 500],
    ['amount = 4', (amount) => amount === 4],
    ['amount IN (0.3, 5, 1200)', (amount) => [0.3, 5, 1200].includes(amount)],
    ['amount != 4', (amount) => amount !== 4],
    ["amount > 2 AND currency = 'kwd'", (amount, currency) => amount > 2 && currency === 'kwd'],
    ["amount = 700 AND currency = 'jpy'", (amount, currency) => amount === 700 && currency === 'jpy'],
    ["amount > 1000 OR currency = 'isk'", (amount, currency) => amount > 1000 || currency === 'isk'],
    ['amount = 0.0005', () => false],
  ];
  for (const [where, matches] of TESTS) {
    it(`are filtered in a federated list: ${where}`, async () => {
      const meant = [...minor.values()].filter((payment) => matches(majorOf(payment), payment.currency));
      const found = await federated(where);
      expect(new Set(found.map(({ id }) => id))).to.deep.equal(new Set(meant.map(({ id }) => id)));
      if (!where.endsWith('0.0005')) expect(meant).to.not.be.empty;
    });
  }

  it('are written in units of the currency', async () => {
    const body = { amount: 1999, currency: 'jpy' };
    const made: Payment = await instance.change('POST', '/payments', body);
    expect(made).to.include(body);
    const stored: Payment = await instance.get(`/payment_intents/${made.id}`);
    expect(stored.amount).to.equal(1999);
    await instance.change('PATCH', `/payments/${made.id}`, { amount: 7 });
    const changed: Payment = await instance.get(`/payment_intents/${made.id}`);
    expect(changed.amount).to.equal(7);
  });
});
