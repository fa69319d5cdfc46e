import { useState } from 'preact/hooks';
import { ConsoleReadsSwitch, consoleReadsOf } from '../parts/console-reads.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty } from '../parts/show.tsx';
import { useMay } from '../who.ts';
import { CallCharts } from './calls.tsx';
import { MetricChart } from './metrics.tsx';
import { RANGES, rangeOf } from './range.ts';

/** Shows failures, latencies and volumes over time. */
export function Usage() {
  const may = useMay();
  const address = useQuery();
  const [version, setVersion] = useState(0);
  const range = rangeOf(address.query.range);
  if (!may('viewAccountLogs'))
    return (
      <Empty title="You may not see the usage of this account.">
        <p>
          You need the privilege <code>viewAccountLogs</code>. Ask an administrator of the organization for it.
        </p>
      </Empty>
    );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Usage</h1>
        <div class="row">
          <ConsoleReadsSwitch {...address} />
          <fieldset class="segments" aria-label="Range">
            {[...RANGES].map(([name, each]) => (
              <button
                key={name}
                type="button"
                aria-pressed={each === range}
                onClick={() => address.change({ range: name })}
              >
                {each.title}
              </button>
            ))}
          </fieldset>
          <button type="button" onClick={() => setVersion(version + 1)}>
            Refresh
          </button>
        </div>
      </header>
      <CallCharts range={range} turn={version} {...address}>
        <MetricChart range={range} turn={version} {...address} />
      </CallCharts>
      <p class="small soft">
        Counted by {range.interval}, in UTC. The last interval has not ended yet.
        {!consoleReadsOf(address.query).consoleReads &&
          ' The figures leave out the reads of the console itself, except those of earlier releases.'}
      </p>
    </div>
  );
}
