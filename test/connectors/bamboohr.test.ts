import { describeConnector, startTarget } from '../connector-suite.ts';

const CHOICES = ['department', 'employmentHistoryStatus', 'customField4401'];

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
    },
  },
});
