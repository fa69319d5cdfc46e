import { describeConnector } from '#connector/suite';
import bamboohr from './index.ts';
import { createSimulator } from './simulator.ts';

describeConnector(bamboohr, createSimulator, {
  folder: import.meta.dirname,
  configuration: { username: 'demo-key', 'company.name': 'acme' },
  writes: {
    employees: {
      create: (number) => ({
        firstName: `New ${number}`,
        lastName: "O'Brien",
        hireDate: '2024-02-29',
        payRate: 15.05,
        customField4402: true,
      }),
      // The values of the other texts come from lists of the account.
      freeTexts: [
        'firstName',
        'lastName',
        'middleName',
        'employeeNumber',
        'homeEmail',
        'mobilePhone',
        'address1',
        'city',
      ],
    },
  },
});
