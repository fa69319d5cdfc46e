import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import xero from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const CONTACT = '1f3c2b1a-0000-4000-8000-000000000001';
const INVOICE = '2f3c2b1a-0000-4000-8000-000000000001';
const LINES = [{ Description: 'Consulting', Quantity: 2, UnitAmount: 15.05, AccountCode: '200' }];
/** Xero stores an empty text as none. */
const alteredTexts = [''];
const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({
  create,
  freeTexts,
  alteredTexts,
  // Xero returns more members of them than were sent.
  neverShown: ['LineItems', 'Contact', 'Account', 'BankAccount', 'Invoice'],
});

describeConnector(xero, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    contacts: sample(
      (number) => ({ Name: `It's ${number}`, FirstName: 'Zoë', EmailAddress: `new${number}@example.com` }),
      ...['FirstName', 'LastName', 'AccountNumber'],
    ),
    invoices: sample(
      () => ({ Type: 'ACCREC', ContactID: CONTACT, Date: '2024-02-29', DueDate: '2024-03-31', LineItems: LINES }),
      'Reference',
    ),
    payments: sample(() => ({ InvoiceID: INVOICE, Account: { Code: '200' }, Date: '2024-02-29', Amount: 1.5 })),
    accounts: sample((number) => ({ Code: `9${number}`, Name: `Account ${number}`, Type: 'EXPENSE' }), 'Description'),
    items: sample((number) => ({ Code: `Item ${number}`, Name: `It's ${number}` }), 'Name', 'Description'),
    creditnotes: sample(
      () => ({ Type: 'ACCRECCREDIT', ContactID: CONTACT, Date: '2024-02-29', LineItems: LINES }),
      'Reference',
    ),
    banktransactions: sample(
      () => ({
        Type: 'SPEND',
        Contact: { ContactID: CONTACT },
        BankAccount: { Code: '200' },
        Date: '2024-02-29',
        LineItems: LINES,
      }),
      'Reference',
    ),
  },
});
