/** Returns a GUID for the records that the suite creates. Each number has another one. */
const guid = (number: number) => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const WRITES = {
  Products: {
    create: (number: number) => ({
      Id: 9000 + number,
      Name: "New O'Neil",
      Stock: 3,
      Active: true,
      ReleasedOn: '2024-02-29',
    }),
  },
  Customers: { create: (number: number) => ({ Id: guid(number), Name: `Customer ${number}` }) },
  Orders: { create: (number: number) => ({ Code: `new/${number}'x`, Paid: false }) },
  OrderLines: { create: (number: number) => ({ OrderCode: `new, ${number}=1`, Line: number, Quantity: 2 }) },
};
