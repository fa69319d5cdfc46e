import { HOSTILE_TEXTS } from '#connector/simulator';
import { describeConnector, loggedIn } from '#connector/suite';
import quickbooks from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

/** Texts that QuickBooks does not store as they are: a text of blanks removes a value. */
const alteredTexts = HOSTILE_TEXTS.filter((text) => text.trim() === '');

/** The lines as QuickBooks numbers and completes them. */
const LINES = [
  {
    ...{ Id: '1', LineNum: 1, Amount: 31.5, DetailType: 'SalesItemLineDetail' },
    SalesItemLineDetail: { ItemRef: { value: '1' } },
  },
  { Amount: 31.5, DetailType: 'SubTotalLineDetail', SubTotalLineDetail: {} },
];
const COSTS = [
  {
    ...{ Id: '1', Amount: 12.05, DetailType: 'AccountBasedExpenseLineDetail' },
    AccountBasedExpenseLineDetail: { AccountRef: { value: '1' } },
  },
];

function sample(create: (number: number) => Readonly<Record<string, unknown>>, ...freeTexts: readonly string[]) {
  return { alteredTexts, create, freeTexts };
}

const sale = (number: number) => ({ DocNumber: `N-${number}`, 'CustomerRef.value': '1', Line: LINES });

describeConnector(quickbooks, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  // The other texts are names, are short, or have fixed values.
  writes: {
    customers: sample(
      (number) => ({ DisplayName: `New ${number} O'Neil`, 'BillAddr.City': 'Bayshore', Active: true }),
      'CompanyName',
      'Notes',
    ),
    vendors: sample(
      (number) => ({ DisplayName: `New vendor ${number}`, CompanyName: "O'Neil" }),
      'CompanyName',
      'AcctNum',
    ),
    employees: sample(
      (number) => ({ DisplayName: `New employee ${number}`, GivenName: 'New', FamilyName: "O'Neil" }),
      'EmployeeNumber',
    ),
    items: sample((number) => ({ Name: `New ${number}`, Type: 'Service', UnitPrice: 12.05 }), 'Sku', 'Description'),
    accounts: sample((number) => ({ Name: `New ${number}`, AccountType: 'Expense' }), 'Description'),
    invoices: sample(sale, 'PrivateNote', 'TrackingNum'),
    estimates: sample(sale, 'PrivateNote', 'AcceptedBy'),
    'sales-receipts': sample(sale, 'PrivateNote'),
    payments: sample((number) => ({ 'CustomerRef.value': '1', TotalAmt: number + 0.5 }), 'PrivateNote'),
    bills: sample((number) => ({ DocNumber: `N-${number}`, 'VendorRef.value': '1', Line: COSTS }), 'PrivateNote'),
  },
});
