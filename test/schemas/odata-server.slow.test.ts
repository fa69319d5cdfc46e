import { expect } from 'chai';
import { findSubscription, useReceiver, verify } from '../api/events/receiving.ts';
import { useApp } from '../support/app.ts';
import { type CapServer, startCapServer } from '../support/cap-server.ts';
import { ask, CHECKED, changesByObject, changesOf, checkNow, untilChecked, untilWatched, watchOf } from './watching.ts';

describe('the model of SAP CAP', function models() {
  this.timeout(120_000);
  const service = useApp({ SIMULATORS_PORT: 'off' }, CHECKED);
  const receiver = useReceiver();
  let cap: CapServer;

  before(async () => {
    cap = await startCapServer();
  });
  after(() => cap?.stop());

  it('changes, and each change is reported once, after an outage that reports none', async () => {
    const url = receiver.open('cap');
    const { id } = await service.createInstance('odata', {
      'base.url': cap.url,
      'event.notification.enabled': true,
      'event.notification.callback.url': url,
      'event.poller.refresh_interval': 600,
      'event.objects': 'Contracts',
    });
    await ask(service, `/instances/${id}/watches/Documents`, 'PUT');
    for (const name of ['Documents', 'Contracts']) await untilWatched(service, id, name);
    expect(await watchOf(service, id, 'Contracts')).to.deep.include({ requested: false, polls: ['Contracts'] });

    // A check that is still running would fail, too.
    await untilChecked(service, id);
    await cap.stop();
    await checkNow(service, id);
    expect(await watchOf(service, id, 'Documents')).to.include({ state: 'watched', failures: 1 });
    expect(await changesOf(service, id)).to.deep.equal([]);

    cap = await startCapServer({
      port: cap.port,
      changeModel: (model) =>
        model
          .replace(
            'key code  : String(200);\n        title : String(200);',
            'key code  : String(200);\n        pages : Integer;',
          )
          .replace('changedAt : Timestamp @cds.on.insert: $now @cds.on.update: $now;', 'revision  : Integer;')
          .replace('name      : String(100);', 'name      : Integer;'),
    });
    await checkNow(service, id);
    await checkNow(service, id);

    const byObject = await changesByObject(service, id);
    expect(byObject.size).to.equal(2);
    expect(byObject.get('Documents')).to.deep.include({ added: ['pages'], removed: ['title'], changed: [] });
    expect(byObject.get('Contracts')).to.deep.include({
      added: ['revision'],
      removed: ['changedAt'],
      breaks: { mappings: [], polls: [{ resource: 'Contracts', fields: ['changedAt'] }], formulas: [] },
    });
    const events = await receiver.waitFor(url, 2);
    const { secret } = await findSubscription(service, url);
    for (const event of events) expect(verify(event, secret)).to.deep.equal(event.body);
    const types = events.map(({ body: { type, data } }) => `${type} ${data.objectName}`).toSorted();
    expect(types).to.deep.equal(['schema.changed Contracts', 'schema.changed Documents']);
    const [notice, ...others] = await ask(service, "/notifications?where=type = 'schema.broken'");
    expect(others).to.deep.equal([]);
    expect(notice.data).to.deep.include({ objectName: 'Contracts', elementKey: 'odata' });
  });
});
