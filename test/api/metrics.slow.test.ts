import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import { useApp } from '../support/app.ts';
import { resetBeforeAnswer, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { SHOP } from './support/simulated.ts';

describe('GET /metrics', () => {
  const service = useApp();
  const provider = useMisbehavingServer();

  async function scrape(): Promise<string[]> {
    const response = await fetch(`${service.app.url}/metrics`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
    return (await response.text()).split('\n');
  }

  /** The value of a series, 0 before it exists. */
  async function measured(series: string): Promise<number> {
    const line = (await scrape()).find((text) => text.startsWith(`${series} `)) ?? ' 0';
    return Number(line.slice(line.lastIndexOf(' ')));
  }

  it('tells which program it is', async () => {
    const series = `causeway_build_info{version="${manifest.version}",node_version="${process.version}"}`;
    expect(await measured(series)).to.equal(1);
  });

  it('counts requests by operation and class of status', async () => {
    const series = (operation: string, status: string) =>
      `causeway_http_request_duration_seconds_count{operation="${operation}",status="${status}"}`;
    const before = await measured(series('getInstance', '4xx'));
    await service.call('/instances/999');
    await service.call('/instances/998');
    await service.call('/elements');
    await service.call('/nothing');
    await until(async () => (await measured(series('getInstance', '4xx'))) === before + 2);
    expect(await measured(series('listElements', '2xx'))).to.equal(1);
    expect(await measured(series('none', '4xx'))).to.equal(1);
    expect(await measured(series('getMetrics', '2xx'))).to.be.greaterThan(0);
  });

  it('counts calls of providers by element and outcome', async () => {
    const series = (outcome: string) =>
      `causeway_provider_call_duration_seconds_count{element="odata",outcome="${outcome}"}`;
    const before = await measured(series('2xx'));
    await service.createInstance('odata', SHOP);
    expect(await measured(series('2xx'))).to.be.greaterThan(before);

    const create = (behaviour: string) =>
      service.send('POST', '/instances', {
        element: { key: 'odata' },
        name: 'x',
        configuration: { 'base.url': `${provider.url}/${behaviour}` },
      });
    provider.answer('/refusing/', status(404));
    provider.answer('/refusing/$metadata', status(404));
    provider.answer('/resetting/', resetBeforeAnswer);
    provider.answer('/resetting/$metadata', resetBeforeAnswer);
    expect((await create('refusing')).body.code).to.equal('PROVIDER_CREDENTIALS_INVALID');
    expect((await create('resetting')).body.code).to.equal('PROVIDER_UNAVAILABLE');
    for (const outcome of ['4xx', 'reset']) await until(async () => (await measured(series(outcome))) > 0);
  });

  it('has the refreshes of tokens', async () => {
    expect(await scrape()).to.include('# TYPE causeway_token_refresh_duration_seconds histogram');
  });

  it('tells how many connections to the database are used, free and waited for', async () => {
    await service.call('/instances');
    const series = (state: string) => `causeway_database_connections{state="${state}"}`;
    // Those who work in the background use one now and then.
    await until(async () => (await scrape()).includes(`${series('used')} 0`));
    expect(await measured(series('free'))).to.be.greaterThan(0);
    expect(await measured(series('waiting'))).to.equal(0);
  });

  it('tells how the process does', async () => {
    const lines = await scrape();
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
      'process_cpu_seconds_total',
    ]) {
      expect(
        lines.some((line) => line.startsWith(`${name} `)),
        name,
      ).to.equal(true);
    }
  });

  it('names no caller, no secret and no path', async () => {
    const text = (await scrape()).join('\n');
    expect(text).not.to.include(service.userSecret).and.not.include('/elements/api-v2');
  });
});
