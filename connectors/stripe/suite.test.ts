import { describeConnector } from '#connector/suite';
import stripe from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** The ids of records of the simulator. */
const CUSTOMER = 'cus_Sim0000000001';
const CHARGE = 'ch_Sim0000000003';
/** Stripe stores no empty texts. */
const alteredTexts = [''];

describeConnector(stripe, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: {
    customers: {
      create: (number) => ({ name: `New ${number} O'Neil`, email: `new${number}@example.com`, balance: -150 }),
      freeTexts: ['name', 'description', 'metadata.tier'],
      alteredTexts,
    },
    charges: {
      create: (number) => ({ amount: 100 + number, currency: 'usd', customer: CUSTOMER, description: "It's new" }),
      freeTexts: ['description'],
      alteredTexts,
    },
    subscriptions: {
      create: () => ({ customer: CUSTOMER, items: [{ price: 'price_Sim0000000001' }], description: "It's new" }),
      freeTexts: ['description'],
      alteredTexts,
      neverShown: ['items'],
    },
    invoices: {
      create: (number) => ({ customer: CUSTOMER, description: `New ${number}` }),
      freeTexts: ['description', 'footer'],
      alteredTexts,
    },
    payment_intents: {
      create: (number) => ({ amount: 100 + number, currency: 'eur', description: "It's new" }),
      freeTexts: ['description'],
      alteredTexts,
    },
    products: {
      create: (number) => ({ name: `New ${number}`, active: true }),
      freeTexts: ['description'],
      alteredTexts,
    },
    prices: {
      create: (number) => ({ currency: 'usd', unit_amount: number, product: 'prod_Sim0000000001' }),
      freeTexts: ['nickname'],
      alteredTexts,
    },
    refunds: { create: (number) => ({ charge: CHARGE, amount: number }), freeTexts: ['metadata.tier'], alteredTexts },
  },
});
