import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import shopify from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({
  create,
  freeTexts,
  // Shopify returns more members of them than were sent.
  neverShown: ['lineItems'],
});
const shippingAddress = {
  ...{
    firstName: 'Zoë',
    lastName: "O'Neil",
    company: 'Snow',
    address1: 'Main St 1',
    address2: 'Floor 2',
    city: 'Ottawa',
  },
  ...{ provinceCode: 'ON', countryCode: 'CA', zip: 'K1A 0A1', phone: '+16135550100' },
};

describeConnector(shopify, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    orders: sample(
      (number) => ({
        ...{ email: `new${number}@example.com`, note: "It's new", tags: ['a', 'b'], test: true },
        lineItems: [
          { title: 'Consulting', quantity: 2, priceSet: { shopMoney: { amount: '15.05', currencyCode: 'USD' } } },
        ],
      }),
      'note',
    ),
    products: sample(
      (number) => ({ title: `It's ${number}`, vendor: 'Zoë', status: 'DRAFT', tags: ['a'] }),
      'descriptionHtml',
    ),
    customers: sample(
      (number) => ({ firstName: "D'Arcy", lastName: `No ${number}`, email: `new${number}@example.com` }),
      ...['note', 'lastName'],
    ),
    draftOrders: sample(
      (number) => ({
        ...{ email: `new${number}@example.com`, note: `Draft ${number}`, shippingAddress },
        lineItems: [
          {
            title: 'Consulting',
            quantity: 2,
            originalUnitPriceWithCurrency: { amount: '15.05', currencyCode: 'USD' },
          },
        ],
      }),
      'note',
    ),
  },
});
