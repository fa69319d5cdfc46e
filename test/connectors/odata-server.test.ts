import { describeConnector, startTarget, type Target } from '../connector-suite.ts';
import { startCapServer } from '../support/cap-server.ts';

/** SAP CAP takes text in the shape of an instant for one, and adds its milliseconds. */
const alteredTexts = ['2024-02-29T08:30:00Z'];

const guid = (number: number) => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`;

describeConnector({
  name: 'odata on a real OData server',
  start: startOnServer,
  writes: {
    Products: {
      alteredTexts,
      create: (number) => ({ ID: 9000 + number, title: "New O'Neil", stock: 3, active: true, released: '2024-02-29' }),
    },
    Reviews: { alteredTexts, create: (number) => ({ ID: guid(number), text: 'Fine', stars: 3 }) },
    OrderLines: { create: (number) => ({ orderNumber: `new, ${number}=1`, line: number, quantity: 2 }) },
    Documents: { alteredTexts, create: (number) => ({ code: `new/${number}'x`, title: 'New' }) },
    Contracts: { alteredTexts, create: (number) => ({ ID: 9000 + number, name: 'New' }) },
    Pages: { alteredTexts, create: (number) => ({ ID: 9000 + number, title: 'New', score: 1 }) },
  },
});

async function startOnServer(): Promise<Target> {
  const server = await startCapServer();
  try {
    const target = await startTarget({ element: 'odata', configuration: { 'base.url': server.url } });
    const stop = async () => {
      await target.stop();
      await server.stop();
    };
    return { ...target, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
