import { describeSubject } from '#connector/suite';
import odata from '../../connectors/odata/index.ts';
import { startCapServer } from '../support/cap-server.ts';

/** SAP CAP takes text in the shape of an instant for one, and adds its milliseconds. */
const alteredTexts = ['2024-02-29T08:30:00Z'];

const guid = (number: number) => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`;

const writes = {
  Products: {
    alteredTexts,
    create: (number: number) => ({
      ID: 9000 + number,
      title: "New O'Neil",
      stock: 3,
      active: true,
      released: '2024-02-29',
    }),
  },
  Reviews: { alteredTexts, create: (number: number) => ({ ID: guid(number), text: 'Fine', stars: 3 }) },
  OrderLines: { create: (number: number) => ({ orderNumber: `new, ${number}=1`, line: number, quantity: 2 }) },
  Documents: { alteredTexts, create: (number: number) => ({ code: `new/${number}'x`, title: 'New' }) },
  Contracts: { alteredTexts, create: (number: number) => ({ ID: 9000 + number, name: 'New' }) },
  Pages: { alteredTexts, create: (number: number) => ({ ID: 9000 + number, title: 'New', score: 1 }) },
};

describeSubject('odata on a real OData server', async () => {
  const { url, stop } = await startCapServer();
  return { connector: odata, samples: { configuration: { 'base.url': url }, writes }, stop };
});
