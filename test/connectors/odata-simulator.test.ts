import { describeConnector, startTarget } from '../connector-suite.ts';

const guid = (number: number) => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`;

describeConnector({
  name: 'odata on its simulator',
  start: () =>
    startTarget({
      element: 'odata',
      configuration: { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true },
    }),
  writes: {
    Products: {
      create: (number) => ({ Id: 9000 + number, Name: "New O'Neil", Stock: 3, Active: true, ReleasedOn: '2024-02-29' }),
    },
    Customers: { create: (number) => ({ Id: guid(number), Name: `Customer ${number}` }) },
    Orders: { create: (number) => ({ Code: `new/${number}'x`, Paid: false }) },
    OrderLines: { create: (number) => ({ OrderCode: `new, ${number}=1`, Line: number, Quantity: 2 }) },
  },
});
