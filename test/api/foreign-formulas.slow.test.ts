import { expect } from 'chai';
import { pluck, useSharedApp } from '../support/app.ts';

/** A formula as a file of the original: members that the service does not know are among them. */
type Exported = Readonly<Record<string, unknown>>;

const step = (name: string, type: string, properties: object, more: object = {}) => ({
  name,
  type,
  properties,
  onSuccess: [],
  onFailure: [],
  ...more,
});
const script = (name: string, body: string, onSuccess: readonly string[], onFailure: readonly string[] = []) =>
  step(name, name.startsWith('is') ? 'filter' : 'script', { body }, { onSuccess, onFailure });

/** Exported with ids and owners: https://github.com/cloud-elements/devportal/tree/master/download. */
const WITH_IDS: Exported = {
  id: 42787,
  name: 'Sync people',
  userId: 6337,
  accountId: 3932,
  createdDate: '2017-10-17T18:49:56Z',
  steps: [
    {
      id: 93901,
      ...step('CreatePerson', 'elementRequest', {
        api: '/hubs/ecommerce/myPerson',
        // A text that was meant as a reference, and is none.
        body: 'steps.ReadPerson.response.body',
        elementInstanceId: `\${config.DestinationInstance}`,
        method: 'POST',
      }),
    },
    { id: 93899, ...script('IsNew', "done(trigger.event.eventType === 'CREATED');", ['ReadPerson']) },
    {
      id: 93900,
      ...step(
        'ReadPerson',
        'elementRequest',
        {
          api: `/hubs/crm/myPerson/\${trigger.event.objectId}`,
          elementInstanceId: `\${config.OriginInstance}`,
          method: 'GET',
        },
        { onSuccess: ['CreatePerson'] },
      ),
    },
  ],
  triggers: [
    {
      id: 36517,
      onSuccess: ['IsNew'],
      onFailure: [],
      type: 'event',
      async: true,
      name: 'trigger',
      properties: { elementInstanceId: `\${config.OriginInstance}` },
    },
  ],
  active: true,
  singleThreaded: false,
  configuration: [
    { id: 44255, key: 'OriginInstance', name: 'OriginInstance', type: 'elementInstance', required: true },
    { id: 44256, key: 'DestinationInstance', name: 'DestinationInstance', type: 'elementInstance', required: true },
  ],
};

/** As people write it: no more members than are needed, keys with dots, and the old short form of references. */
const SHORT: Exported = {
  name: 'CRM ==> Email',
  description: 'Sends a message.',
  configuration: [
    { name: 'crm.instance', type: 'elementInstance', key: 'crm.instance' },
    { name: 'messaging.instance', type: 'elementInstance', key: 'messaging.instance' },
  ],
  triggers: [{ type: 'event', properties: { elementInstanceId: `\${crm.instance}` }, onSuccess: ['filter-events'] }],
  steps: [
    {
      name: 'filter-events',
      type: 'filter',
      properties: { body: "done(trigger.event.eventType === 'UPDATED');" },
      onSuccess: ['make-body'],
    },
    { name: 'make-body', type: 'script', properties: { body: "done({ subject: 'x' });" }, onSuccess: ['send'] },
    {
      name: 'send',
      type: 'elementRequest',
      properties: {
        method: 'POST',
        elementInstanceId: `\${messaging.instance}`,
        api: '/hubs/messaging/messages',
        body: `\${steps.make-body}`,
      },
    },
  ],
};

/** With a stream, blank properties, and references in another case than the names. */
const STREAM: Exported = {
  accountId: 4321,
  singleThreaded: false,
  createdDate: '2017-05-26T15:41:17Z',
  configuration: [
    { name: 'from', id: 24324, type: 'elementInstance', key: 'from', required: true },
    { name: 'objectName', id: 24322, type: 'value', key: 'objectName', required: true },
  ],
  name: 'Transfer',
  active: true,
  id: 11496,
  triggers: [
    { async: true, name: 'trigger', onFailure: [], id: 10604, type: 'manual', properties: {}, onSuccess: ['isReady'] },
  ],
  steps: [
    script('buildMetaData', 'let data = {};\n\ndone({ metaData: data });', ['stream']),
    step('stream', 'elementRequestStream', {
      uploadElementInstanceId: `\${config.from}`,
      uploadMethod: 'POST',
      uploadQuery: `\${steps.buildMetadata.metaData}`,
      uploadApi: `/hubs/crm/bulk/\${config.objectname}`,
      uploadFormData: '',
      downloadMethod: 'GET',
      downloadElementInstanceId: `\${config.from}`,
      downloadApi: `/hubs/crm/bulk/\${trigger.args.id}/\${config.objectname}`,
    }),
    script('isReady', "done(trigger.args.status === 'COMPLETED');", ['buildMetaData']),
  ],
  userId: 1234,
};

const SCHEDULED: Exported = {
  name: 'Each working day',
  configuration: [{ name: 'from', id: 24317, type: 'elementInstance', key: 'from', required: true }],
  triggers: [
    {
      async: true,
      name: 'trigger',
      onFailure: [],
      id: 10602,
      type: 'scheduled',
      properties: { cron: '0 0 1 ? * MON,TUE,WED,THU,FRI *' },
      onSuccess: ['query'],
    },
  ],
  steps: [
    step('query', 'elementRequest', { method: 'POST', elementInstanceId: `\${config.from}`, api: '/bulk/query' }),
  ],
};

/** A resource of the first engine: https://github.com/cloud-elements/doctor-core/tree/master/test/assets. */
const RESOURCE: Exported = {
  id: 71404,
  name: 'resource',
  steps: [
    step('contacts', 'elementRequest', { elementInstanceId: `\${config.crm}`, method: 'GET', api: '/contacts' }),
    script('isOdd', 'let a = Math.random();\n\ndone(a > 0.5);', [], ['contacts']),
  ],
  triggers: [
    { onSuccess: ['isOdd'], onFailure: [], type: 'manual', async: true, active: true, name: 'trigger', properties: {} },
  ],
  method: 'GET',
  uri: '/v1Resource',
  engine: 'v1',
  active: true,
  debugLoggingEnabled: true,
  singleThreaded: false,
  api: 'GET /v1Resource',
  configuration: [{ key: 'crm', name: 'crm', type: 'elementInstance', required: false }],
};

/** With a sub-formula, which the export contains as a whole, a loop, requests to the platform, and scripts kept beside the file. */
const WITH_SUB_FORMULA: Exported = {
  active: true,
  configuration: [{ key: 'origin', name: 'origin', required: true, type: 'elementInstance' }],
  debugLoggingEnabled: false,
  debugLoggingExpires: '2020-05-05T20:09:20Z',
  engine: 'v3',
  formulaTemplateId: null,
  id: 111610,
  name: 'With a sub-formula',
  singleThreaded: false,
  stepNames: ['isCreated'],
  steps: [
    step('isCreated', 'filter', {}, { onSuccess: ['executions'], onFailure: ['read'] }),
    step(
      'executions',
      'request',
      { api: `/formulas/\${info.formulaId}/instances/\${info.formulaInstanceId}/executions`, method: 'GET' },
      { onSuccess: ['each'] },
    ),
    step('each', 'loop', { list: `\${steps.executions.response.body}` }, { onSuccess: ['read'], onFailure: ['sub'] }),
    step(
      'read',
      'elementRequest',
      {
        api: `/incidents/\${trigger.event.objectId}`,
        elementInstanceId: `\${config.origin}`,
        method: 'GET',
        path: '',
        query: '',
      },
      { onSuccess: ['each'] },
    ),
    step('sub', 'formula', { formulaId: '154451' }, { description: 'sub-formula' }),
  ],
  subFormulas: [RESOURCE],
  triggers: [
    {
      async: true,
      name: 'trigger',
      onFailure: [],
      onSuccess: ['isCreated'],
      properties: { elementInstanceId: `\${config.origin}` },
      type: 'event',
    },
  ],
};

const FILES = { WITH_IDS, SHORT, STREAM, SCHEDULED, RESOURCE, WITH_SUB_FORMULA };

/** The members of a file that its meaning depends on, with what the service adds to those that are left out. */
function meaningOf({ name, configuration, triggers, steps, engine, method, uri }: Exported) {
  const parts = (given: unknown): readonly Exported[] => (Array.isArray(given) ? given : []);
  const next = ({ onSuccess = [], onFailure = [] }: Exported) => ({ onSuccess, onFailure });
  return {
    name,
    engine: engine ?? 'v3',
    method,
    uri,
    configuration: parts(configuration).map((one) => [one.key, one.name, one.type, one.required ?? false]),
    triggers: parts(triggers).map((one) => [one.type, one.properties, next(one)]),
    steps: parts(steps).map((one) => [one.name, one.description, one.type, one.properties, next(one)]),
  };
}

describe('formulas of the original', () => {
  const service = useSharedApp();
  const { change } = service;

  for (const [name, file] of Object.entries(FILES)) {
    it(`are imported unchanged, and exported as they were: ${name}`, async () => {
      const { id, userId, accountId } = await change('POST', '/formulas', file);
      expect({ userId, accountId }).to.deep.equal({ userId: service.userId, accountId: service.accountId });
      const exported = await change('GET', `/formulas/${id}/export`);
      expect(meaningOf(exported)).to.deep.equal(meaningOf(file));
      expect(JSON.stringify(exported)).not.to.match(/"(?:id|userId|accountId|createdDate)":/);
      // Another formula cannot be the same resource.
      await change('PATCH', `/formulas/${id}`, { method: null, uri: null });
      const again = await change('POST', '/formulas', exported);
      expect(await change('GET', `/formulas/${again.id}/export`)).to.deep.equal(exported);
    });

    it(`replace a formula of theirs: ${name}`, async () => {
      const { id } = await change('POST', '/formulas', { name: String(file.name) });
      const replaced = await change('PUT', `/formulas/${id}`, { ...file, id, method: null, uri: null, api: null });
      expect(meaningOf({ ...replaced })).to.deep.equal({ ...meaningOf(file), method: undefined, uri: undefined });
    });
  }

  it('are found by their names, as the tool of the original looks for them', async () => {
    await change('POST', '/formulas', { name: 'found by name' });
    const body = await service.get("/formulas?where=name in ('found by name','another')");
    expect(pluck(body, 'name')).to.deep.equal(['found by name']);
  });
});
