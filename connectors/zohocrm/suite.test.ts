import { CHECKS, describeConnector, describeSubject, loggedIn, type Samples, type WriteSample } from '#connector/suite';
import zohocrm from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

/** An empty text is no value. */
const alteredTexts = [''];
const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({
  ...{ create, freeTexts, alteredTexts },
});

const SAMPLES: Samples = {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    Leads: sample(
      (number) => ({ Last_Name: `It's ${number}`, Company: 'Zoë & Söhne', Annual_Revenue: 15.05, Email_Opt_Out: true }),
      ...['First_Name', 'Phone', 'External'],
    ),
    Contacts: sample((number) => ({ Last_Name: `New ${number}`, Interests: ['golf', 'chess'] }), 'First_Name', 'Title'),
    Accounts: sample((number) => ({ Account_Name: `Account ${number}`, Employees: 7 }), 'Billing_City'),
    Deals: sample((number) => ({ Deal_Name: `Deal ${number}`, Stage: 'Closed Won', Closing_Date: '2024-02-29' })),
    Cases: sample((number) => ({ Subject: `Case ${number}`, Status: 'New', Case_Origin: 'Web' }), 'Description'),
    Tasks: sample((number) => ({ Subject: `Task ${number}`, Due_Date: '2024-02-29' }), 'Description'),
    Products: sample((number) => ({ Product_Name: `Product ${number}`, Unit_Price: 1.5 }), 'Product_Code'),
    Pets: sample((number) => ({ Name: `Pet ${number}`, Weight: 4.2 }), 'Note_47'),
  },
};

describeConnector(zohocrm, createSimulator, SAMPLES);

/** The other answers to what Zoho CRM does not document: filters must be right in either case. */
describeSubject(
  'zohocrm that compares texts as written',
  async () => ({
    connector: zohocrm,
    createSimulator: (options) => createSimulator({ ...options, text: 'as written', matchesMissing: false }),
    samples: SAMPLES,
  }),
  CHECKS.filter(({ name }) => /^(?:measures every declared operator|returns exactly the rows)/.test(name)),
);
