import type { ODataSimulatorOptions } from '../../connectors/odata/simulator.ts';
import { type ConnectorSuite, describeConnector, startTarget, type Target } from '../connector-suite.ts';
import { startODataService } from '../support/odata-service.ts';

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
  start: () => startOnLooseService(),
  writes,
  ownTextOrder: true,
});

describeConnector({
  name: 'odata on a service that refuses what servers of Apache Olingo refuse, and keeps doubles',
  start: () =>
    startOn({
      quirks: {
        failsOnNull: true,
        failsOnPageSizeBesideTop: true,
        tellsBytesFromIntegers: true,
        keepsDoubles: true,
        escapesInPatterns: true,
      },
    }),
  writes,
});

const startOnLooseService = () =>
  startOn({
    collation: 'ignoring case',
    maxPageSize: 90,
    links: 'relative',
    answersChanges: 'without record',
  });

async function startOn(options: Partial<ODataSimulatorOptions>): Promise<Target> {
  const service = await startODataService(options);
  const target = await startTarget({ element: 'odata', configuration: { 'base.url': service.url } });
  const stop = async () => {
    await target.stop();
    await service.stop();
  };
  return { ...target, stop };
}
