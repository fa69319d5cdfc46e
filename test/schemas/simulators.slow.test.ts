import { expect } from 'chai';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import servicenow from '../../connectors/servicenow/index.ts';
import { useReceiver } from '../api/events/receiving.ts';
import { useApp } from '../support/app.ts';
import { type ChangingSimulators, startChangingSimulators } from '../support/changing-simulators.ts';
import { ask, CHECKED, changesByObject, changesOf, checkNow, untilWatched, watchOf } from './watching.ts';

interface Field {
  readonly name: string;
  readonly [property: string]: unknown;
}

const SERVICENOW = { username: 'admin', password: 'demo-password', 'company.name': 'demo', simulator: true };

describe('the fields of providers that describe themselves', function discovering() {
  this.timeout(60_000);
  const overrides = { ...CHECKED, connectors: [salesforce, servicenow], simulatorsUrl: '' };
  let simulators: ChangingSimulators;
  before(async () => {
    simulators = await startChangingSimulators();
    Object.assign(overrides, { simulatorsUrl: simulators.url });
  });
  after(() => simulators?.stop());
  beforeEach(() => simulators.restore());
  const service = useApp({ SIMULATORS_PORT: 'off' }, overrides);
  const receiver = useReceiver();

  async function create(element: string, configuration: object, objects: string): Promise<readonly [number, string]> {
    const url = receiver.open(element);
    const { id } = await service.createInstance(element, {
      ...configuration,
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': url,
      'event.vendor.type': 'polling',
      'event.objects': objects,
      'event.poller.refresh_interval': 600,
    });
    return [id, url];
  }

  it('of Salesforce change by a describe of the object, and a failed describe changes nothing', async () => {
    const [id, url] = await create('salesforce', CONNECTED, 'Contact');
    await ask(service, `/instances/${id}/watches/Account`, 'PUT');
    for (const name of ['Contact', 'Account']) await untilWatched(service, id, name);
    await ask(service, `/instances/${id}/objects/people/definitions`, 'POST', {
      fields: [{ path: 'mail', type: 'string' }],
    });
    await ask(service, `/instances/${id}/transformations/people`, 'POST', {
      vendorName: 'Contact',
      fields: [{ path: 'mail', vendorPath: 'Email' }],
    });

    simulators.failWith(/\/sobjects\/Contact\/describe$/, 500);
    await checkNow(service, id);
    expect((await watchOf(service, id, 'Contact')).lastError).to.match(/^PROVIDER_/);
    expect(await watchOf(service, id, 'Account')).to.include({ state: 'watched' });
    expect(await changesOf(service, id)).to.deep.equal([]);

    simulators.change(/\/sobjects\/Contact\/describe$/, (body) => {
      const described: { readonly fields: readonly Field[] } = Object(body);
      const fields = described.fields
        .filter(({ name }) => name !== 'Email')
        .map((field) => (field.name === 'LastName' ? { ...field, updateable: false } : field));
      const [first] = fields;
      return {
        ...described,
        fields: [...fields, { ...first, name: 'Nickname__c', label: 'Nickname', type: 'string' }],
      };
    });
    await checkNow(service, id);
    await checkNow(service, id);
    const changes = await changesOf(service, id);
    expect(changes).to.have.length(1);
    expect(changes[0]).to.deep.include({ objectName: 'Contact', added: ['Nickname__c'], removed: ['Email'] });
    expect(changes[0].changed).to.deep.equal([
      { field: 'LastName', from: { updateable: true }, to: { updateable: false } },
    ]);
    expect(changes[0].breaks.mappings).to.deep.equal([
      { objectName: 'people', fields: ['Email'], mappedFields: ['mail'] },
    ]);
    const events = await receiver.waitFor(url, 1);
    expect(events.map(({ body: { type, data } }) => [type, data.objectName])).to.deep.equal([
      ['schema.changed', 'Contact'],
    ]);
    const { token } = await ask(service, `/instances/${id}`);
    const { fields } = (await service.call('/objects/Contact/metadata', { token })).body;
    expect(fields.map(({ name }: Field) => name))
      .to.include('Nickname__c')
      .and.not.include('Email');
  });

  it('of ServiceNow change by the dictionary, also those of the table that another one extends', async () => {
    const [id, url] = await create('servicenow', SERVICENOW, 'incident');
    await ask(service, `/instances/${id}/watches/problem`, 'PUT');
    for (const name of ['incident', 'problem']) await untilWatched(service, id, name);

    simulators.failWith(/sys_dictionary/, 403);
    await checkNow(service, id);
    expect(await watchOf(service, id, 'incident')).to.include({ state: 'watched', failures: 1 });
    expect(await changesOf(service, id)).to.deep.equal([]);

    // The column is one of `task`, which both tables extend.
    simulators.change(/sys_dictionary/, (body) => {
      const { result }: { readonly result: readonly Field[] } = Object(body);
      return {
        result: result
          .filter(({ element }) => element !== 'sys_updated_on')
          .flatMap((row) =>
            row.element === 'short_description' && row.name === 'task'
              ? [row, { ...row, element: 'u_cost_center', column_label: 'Cost center' }]
              : [row],
          ),
      };
    });
    await checkNow(service, id);
    await checkNow(service, id);
    const byObject = await changesByObject(service, id);
    expect([...byObject.keys()].toSorted()).to.deep.equal(['incident', 'problem']);
    for (const change of byObject.values())
      expect(change).to.deep.include({ added: ['u_cost_center'], removed: ['sys_updated_on'] });
    expect(byObject.get('incident')).to.deep.nested.include({
      'breaks.polls': [{ resource: 'incident', fields: ['sys_updated_on'] }],
    });
    const events = await receiver.waitFor(url, 2);
    expect(events.map(({ body: { data } }) => data.objectName).toSorted()).to.deep.equal(['incident', 'problem']);
  });

  it('below a record are watched, too: those of a poll, of a formula and of a request', async () => {
    const [id, url] = await create('salesforce', CONNECTED, '');
    const account = '0015g0000000001AAA';
    await ask(service, `/instances/${id}`, 'PATCH', {
      configuration: {
        'event.poller.configuration': JSON.stringify({
          contacts: {
            url: `/hubs/crm/accounts/${account}/contacts?where=LastModifiedDate>='\${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'`,
          },
        }),
      },
    });
    const formula = await ask(service, '/formulas', 'POST', {
      name: 'Tasks',
      configuration: [{ key: 'crm', type: 'elementInstance', required: true }],
      triggers: [{ type: 'manual', onSuccess: ['read', 'odd'] }],
      steps: ['/Account/${trigger.args.id}/Tasks?fields=Subject', '/Account/1/Nothing'].map((api, at) => ({
        name: at === 0 ? 'read' : 'odd',
        type: 'elementRequest',
        properties: { elementInstanceId: '${config.crm}', method: 'GET', api },
      })),
    });
    await ask(service, `/formulas/${formula.id}/instances`, 'POST', { name: 'x', configuration: { crm: String(id) } });
    const requested = await ask(service, `/instances/${id}/watches/accounts%2Fopportunities`, 'PUT');
    expect(requested).to.include({ objectName: 'Account/Opportunities', requested: true });
    for (const name of ['Account/Contacts', 'Account/Tasks', 'Account/Opportunities'])
      await untilWatched(service, id, name);
    expect(await watchOf(service, id, 'Account/Contacts')).to.deep.include({ polls: ['contacts'] });
    const watches = await ask(service, `/instances/${id}/watches`);
    expect(watches.map(({ objectName }: { readonly objectName: string }) => objectName)).to.have.members([
      ...['Account/Contacts', 'Account/Tasks', 'Account/Opportunities'],
    ]);
    const unknown = await service.call(`/instances/${id}/watches/Account%2FContactz`, { method: 'PUT' });
    expect([unknown.status, unknown.body.message]).to.satisfy(
      ([status, message]: [number, string]) => status === 404 && message.includes("Did you mean 'Contacts'?"),
    );

    simulators.change(/\/sobjects\/(?:Contact|Task)\/describe$/, (body) => {
      const described: { readonly fields: readonly Field[] } = Object(body);
      const lost = ['LastModifiedDate', 'Subject'];
      return { ...described, fields: described.fields.filter(({ name }) => !lost.includes(name)) };
    });
    await checkNow(service, id);
    await checkNow(service, id);
    const byObject = await changesByObject(service, id);
    expect([...byObject.keys()].toSorted()).to.deep.equal(['Account/Contacts', 'Account/Tasks']);
    expect(byObject.get('Account/Contacts')).to.deep.nested.include({
      removed: ['LastModifiedDate'],
      'breaks.polls': [{ resource: 'contacts', fields: ['LastModifiedDate'] }],
    });
    expect(byObject.get('Account/Tasks')).to.deep.nested.include({ 'breaks.formulas[0].fields': ['Subject'] });
    await receiver.waitFor(url, 2);
    await ask(service, `/instances/${id}/watches/Account%2FOpportunities`, 'DELETE');
    expect(await watchOf(service, id, 'Account/Opportunities')).to.equal(undefined);
  });
});
