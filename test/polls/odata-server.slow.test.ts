import { expect } from 'chai';
import odata from '../../connectors/odata/index.ts';
import { findSubscription, useReceiver, verify } from '../api/events/receiving.ts';
import { useApp } from '../support/app.ts';
import { type CapServer, startCapServer } from '../support/cap-server.ts';
import { pollOf, runNow, untilRun } from './things.ts';

describe('a record that changes in SAP CAP', () => {
  const service = useApp({ SIMULATORS_PORT: 'off' }, { connectors: [odata] });
  const receiver = useReceiver();
  let cap: CapServer;

  before(async function start() {
    this.timeout(60_000);
    cap = await startCapServer();
  });
  after(() => cap?.stop());

  /** As another program does that works on the same service. */
  async function write(method: string, path: string, body?: object): Promise<void> {
    const response = await fetch(`${cap.url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).to.equal(true);
  }

  it('is an event, signed so that the published library of Standard Webhooks takes it', async function poll() {
    this.timeout(60_000);
    const url = receiver.open('cap');
    const { id } = await service.createInstance('odata', {
      'base.url': cap.url,
      'event.notification.enabled': true,
      'event.notification.callback.url': url,
      'event.poller.refresh_interval': 600,
      'event.objects': 'Contracts',
    });
    await untilRun(service, id, { resource: 'Contracts' });
    expect(await pollOf(service, id, 'Contracts')).to.include({ method: 'window', events: 0 });

    await write('POST', 'Contracts', { ID: 4711, name: 'Before' });
    await runNow(service, id, 'Contracts');
    await write('PATCH', 'Contracts(4711)', { name: 'After' });
    await runNow(service, id, 'Contracts');

    const events = await receiver.waitFor(url, 2);
    const { secret } = await findSubscription(service, url);
    for (const event of events) expect(verify(event, secret)).to.deep.equal(event.body);
    expect(events.map(({ body: { type, data } }) => [type, data.objectId, data.object.name])).to.deep.equal([
      ['Contracts.updated', '4711', 'Before'],
      ['Contracts.updated', '4711', 'After'],
    ]);
    expect(await runNow(service, id, 'Contracts')).to.include({ events: 2, failures: 0 });
  });
});
