import { describeConnector, startTarget } from '../connector-suite.ts';

describeConnector({
  name: 'bamboohr',
  start: () =>
    startTarget({
      element: 'bamboohr',
      configuration: { username: 'demo-key', 'company.name': 'acme', simulator: true },
    }),
  writes: {
    employees: {
      create: (number) => ({
        firstName: `New ${number}`,
        lastName: "O'Brien",
        hireDate: '2024-02-29',
        payRate: 15.05,
        customField4402: true,
      }),
      // The other texts are chosen from lists of the account.
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
