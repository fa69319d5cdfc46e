import { describeSubject } from '#connector/suite';
import odata from '../../connectors/odata/index.ts';
import { WRITES } from '../../connectors/odata/simulator/samples.ts';
import type { ODataSimulatorOptions } from '../../connectors/odata/simulator.ts';
import { startODataService } from '../support/odata-service.ts';

describeOnService(
  'odata on a service that ignores cases, ends pages early and answers changes with nothing',
  { collation: 'ignoring case', maxPageSize: 90, links: 'relative', answersChanges: 'without record' },
  { ownTextOrder: true },
);

describeOnService('odata on a service that refuses what servers of Apache Olingo refuse, and keeps doubles', {
  quirks: {
    failsOnNull: true,
    failsOnPageSizeBesideTop: true,
    tellsBytesFromIntegers: true,
    keepsDoubles: true,
    escapesInPatterns: true,
  },
});

/** Outside of the platform: nobody tells it which host was meant. */
function describeOnService(name: string, options: Partial<ODataSimulatorOptions>, more: { ownTextOrder?: true } = {}) {
  describeSubject(name, async () => {
    const { url, stop } = await startODataService(options);
    return { connector: odata, samples: { configuration: { 'base.url': url }, writes: WRITES, ...more }, stop };
  });
}
