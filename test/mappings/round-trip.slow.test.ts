import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { assertNone, catalogueOf } from './catalogue-runs.ts';
import { type Oddities, roundTrip } from './round-trip.ts';
import { startSimulated } from './simulated.ts';

/** Objects that the demo accounts lack. */
const ABSENT = ['salesforce leads'];

/** Objects whose records cannot be created through their mapping alone. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  'intercom incidents': 'Intercom requires a type and contacts, which the definition of incidents does not have.',
  'quickbooks products': 'QuickBooks requires a type, which the definition of products does not have.',
  'redmine time-entries': 'Redmine requires an activity where none is the default, and the mapping has none.',
  'salesforce files': 'Salesforce requires PathOnClient, which the definition of files does not have.',
  'shopify orders': 'Shopify requires line items, which the mapping does not have.',
  'xero invoices': 'Xero requires a type, which the definition of invoices does not have.',
  'xero payments': 'Xero requires an invoice and an account, which the definition of payments does not have.',
  'zohocrm incidents': 'Zoho CRM requires the origin of a case, which the definition of incidents does not have.',
};

/** Stripe requires a name beside a shipping address, and the definition of customers has none. */
const STRIPE_SHIPPING = ['street', 'city', 'state', 'postalCode', 'country'].map((name) => `shippingAddress.${name}`);
const IN_TWILIO = 'Twilio lets a message only be emptied or canceled.';

/** By element and object. */
const ODDITIES: Readonly<Record<string, Oddities>> = {
  'box folders': { values: { name: 'New folder' }, changed: { name: 'Newer folder' } },
  'connectwise accounts': { values: { number: 'NewCompany' }, changed: { number: 'NewerCompany' } },
  'fortnox customers': { values: { id: '9001' } },
  'fortnox vendors': { values: { id: '9001' } },
  'fortnox items': { values: { id: '9001' } },
  // Fortnox calculates the amounts of lines.
  'fortnox invoices': { values: { id: '9001', lines: linesOf(1) }, changed: { lines: linesOf(2) } },
  'fortnox orders': { values: { id: '9001' } },
  'fortnox products': { values: { id: '9001' } },
  'hubspot contacts': { values: { email: 'new@example.com' }, changed: { email: 'newer@example.com' } },
  'quickbooks employees': { values: { displayName: 'New employee' }, changed: { displayName: 'Newer employee' } },
  'quickbooks customers': { values: { name: 'New customer' }, changed: { name: 'Newer customer' } },
  'quickbooks vendors': { values: { name: 'New vendor' }, changed: { name: 'Newer vendor' } },
  'quickbooks items': { values: { name: 'New item' }, changed: { name: 'Newer item' } },
  'stripe customers': {
    values: Object.fromEntries(STRIPE_SHIPPING.map((name) => [name, null])),
    fixed: {
      ...Object.fromEntries(STRIPE_SHIPPING.map((name) => [name, 'Stripe requires a name beside it.'])),
      balance: 'A new customer has no currency.',
    },
  },
  'stripe payments': { fixed: { currency: 'Stripe keeps the amount in the smallest unit.' } },
  'twilio messages': { values: { to: '+46735551234' }, fixed: { body: IN_TWILIO, status: IN_TWILIO } },
};

function linesOf(quantity: number) {
  return [{ amount: 10.5 * quantity, description: 'Hammer', itemId: '1', quantity, unitPrice: 10.5 }];
}

describe('what is written through a mapping of the catalogue', function runs() {
  this.timeout(600_000);
  const tally = { created: 0, values: 0, updates: 0 };

  for (const key of readdirSync(OWN_CONNECTORS)) {
    it(`is what is read, of ${key}`, async () => {
      const simulated = await startSimulated(key);
      const faults: string[] = [];
      try {
        for (const mapping of await catalogueOf(key)) {
          const name = `${key} ${mapping.objectName}`;
          if (ABSENT.includes(name) || Object.hasOwn(UNWRITABLE, name)) continue;
          simulated.reset();
          faults.push(...(await roundTrip(simulated, mapping, ODDITIES[name.replace('oauth ', ' ')] ?? {}, tally)));
        }
      } finally {
        await simulated.stop();
      }
      assertNone(faults);
    });
  }

  it('was tried with many values', () => {
    expect(tally.created).to.be.greaterThan(50);
    expect(tally.updates).to.be.greaterThan(400);
    expect(tally.values).to.be.greaterThan(1300);
  });
});
