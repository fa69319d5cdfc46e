import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSimulator } from '../../connectors/odata/simulator.ts';
import { type ConnectorSuite, describeConnector, startTarget, type Target } from '../connector-suite.ts';

const guid = (number: number) => `aaaaaaaa-0000-4000-8000-${String(number).padStart(12, '0')}`;

const writes: NonNullable<ConnectorSuite['writes']> = {
  Products: {
    create: (number) => ({ Id: 9000 + number, Name: "New O'Neil", Stock: 3, Active: true, ReleasedOn: '2024-02-29' }),
  },
  Customers: { create: (number) => ({ Id: guid(number), Name: `Customer ${number}` }) },
  Orders: { create: (number) => ({ Code: `new/${number}'x`, Paid: false }) },
  OrderLines: { create: (number) => ({ OrderCode: `new, ${number}=1`, Line: number, Quantity: 2 }) },
};

describeConnector({
  name: 'odata on its simulator',
  start: () =>
    startTarget({
      element: 'odata',
      configuration: { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true },
    }),
  writes,
});

describeConnector({
  name: 'odata on a service that ignores cases, ends pages early and answers changes with nothing',
  start: startOnLooseService,
  writes,
  ownTextOrder: true,
});

async function startOnLooseService(): Promise<Target> {
  const server = createServer((request, response) => simulator.handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The service listens on no port.');
  const origin = `http://127.0.0.1:${address.port}`;
  const simulator = createSimulator({
    baseUrl: origin,
    collation: 'ignoring case',
    maxPageSize: 90,
    links: 'relative',
    answersChanges: 'without record',
  });
  const target = await startTarget({ element: 'odata', configuration: { 'base.url': `${origin}/odata/v4/shop` } });
  const stop = async () => {
    await target.stop();
    server.close();
    server.closeAllConnections();
  };
  return { ...target, stop };
}
