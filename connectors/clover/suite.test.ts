import { describeConnector, loggedIn } from '#connector/suite';
import clover from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(clover, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    orders: {
      create: (number) => ({ title: `Table ${number}`, note: "O'Brien", state: 'open', testMode: true }),
    },
    customers: { create: (number) => ({ firstName: `New ${number}`, lastName: "O'Brien" }) },
    items: { create: (number) => ({ name: `Item ${number}`, price: 1205, priceType: 'FIXED', hidden: true }) },
    employees: { create: (number) => ({ name: `New ${number}`, nickname: "O'Brien", role: 'EMPLOYEE' }) },
  },
});
