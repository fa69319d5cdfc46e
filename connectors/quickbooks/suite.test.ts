import { describeConnector } from '#connector/suite';
import quickbooks from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

/** Empty text takes a value away. */
const alteredTexts = [''];
const LINES = [
  { DetailType: 'SalesItemLineDetail', Amount: 31.5, SalesItemLineDetail: { ItemRef: { value: '1' } } },
];
const COSTS = [
  {
    DetailType: 'AccountBasedExpenseLineDetail',
    Amount: 12.05,
    AccountBasedExpenseLineDetail: { AccountRef: { value: '1' } },
  },
];

describeConnector(quickbooks, createSimulator, {
  folder: import.meta.dirname,
  configuration: {
    ...DEMO_CONFIGURATION,
    'oauth.user.token': DEMO_ACCESS_TOKEN,
    'oauth.api.key': 'demo-client',
    'oauth.api.secret': CLIENTS['demo-client']?.secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  },
  writes: {
    customers: {
      alteredTexts,
      create: (number) => ({ DisplayName: `New ${number} O'Neil`, GivenName: 'New', Active: true }),
    },
    vendors: { alteredTexts, create: (number) => ({ DisplayName: `New vendor ${number}`, CompanyName: "O'Neil" }) },
    employees: {
      alteredTexts,
      create: (number) => ({ DisplayName: `New employee ${number}`, GivenName: 'New', FamilyName: "O'Neil" }),
    },
    items: { alteredTexts, create: (number) => ({ Name: `New ${number}`, Type: 'Service', UnitPrice: 12.05 }) },
    accounts: { alteredTexts, create: (number) => ({ Name: `New ${number}`, AccountType: 'Expense' }) },
    invoices: {
      alteredTexts,
      create: (number) => ({ DocNumber: `N-${number}`, 'CustomerRef.value': '1', Line: LINES }),
    },
    estimates: {
      alteredTexts,
      create: (number) => ({ DocNumber: `N-${number}`, 'CustomerRef.value': '1', Line: LINES }),
    },
    'sales-receipts': { alteredTexts, create: (number) => ({ DocNumber: `N-${number}`, Line: LINES }) },
    payments: { alteredTexts, create: (number) => ({ 'CustomerRef.value': '1', TotalAmt: number + 0.5 }) },
    bills: {
      alteredTexts,
      create: (number) => ({ DocNumber: `N-${number}`, 'VendorRef.value': '1', Line: COSTS }),
    },
  },
});
