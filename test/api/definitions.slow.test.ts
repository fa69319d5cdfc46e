import { expect } from 'chai';
import { CLIENTS } from '../../connectors/keap/simulator.ts';
import { pluck, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';

const CALLBACK_URL = 'https://app.example.com/callback';

/** The bodies of definitions and transformations, line by line as appendix B of the contract has them. */
describe('definitions and transformations', () => {
  const service = useSharedApp();
  const { get, change } = service;
  let instanceId: number;
  let token: string;

  before(async () => {
    ({ id: instanceId, token } = await connectKeap());
  });

  async function connectKeap(): Promise<{ id: number; token: string }> {
    const client = { apiKey: 'demo-client', apiSecret: CLIENTS['demo-client']?.secret ?? '' };
    const query = { ...client, callbackUrl: CALLBACK_URL, simulator: 'true' };
    const body = await service.get('/elements/keap/oauth/url', { query });
    const response = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
    const configuration = {
      'oauth.api.key': client.apiKey,
      'oauth.api.secret': client.apiSecret,
      'oauth.callback.url': CALLBACK_URL,
      simulator: true,
    };
    return service.createInstance('keap', configuration, { providerData: { code } });
  }

  it('are stored and shown as the contract has them', async () => {
    const account = `/accounts/${service.accountId}`;
    const instance = `/instances/${instanceId}`;

    expectProblem(
      await service.call('/organizations/objects/definitions'),
      'NOT_FOUND',
      'There are no definitions at the level organization.',
    );
    const key = { path: 'key', type: 'string' };
    expect(await change('POST', '/organizations/objects/definitions', { people: { fields: [key] } })).to.deep.equal({
      people: { fields: [{ ...key, level: 'organization' }], level: 'organization' },
    });
    const ofAccount = {
      objectName: 'people',
      level: 'account',
      fields: [{ path: 'mail', type: 'string', level: 'account' }],
    };
    const mail = { fields: [{ path: 'mail', type: 'string' }] };
    expect(await change('POST', `${account}/objects/people/definitions`, mail)).to.deep.equal(ofAccount);
    expect(await get(`${account}/objects/people/definitions`)).to.deep.equal(ofAccount);
    expect(await get('/accounts/objects/people/definitions')).to.deep.equal(ofAccount);

    const configuration = [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }];
    const fields = [
      { path: 'key', vendorPath: 'id' },
      { path: 'changed', type: 'date', vendorPath: 'update_time' },
    ];
    const stored = await change('POST', '/organizations/elements/keap/transformations/people', {
      vendorName: 'contacts',
      fields,
      configuration,
    });
    expect(stored).to.deep.equal({
      objectName: 'people',
      vendorName: 'contacts',
      level: 'organization',
      startDate: stored.startDate,
      isLegacy: false,
      fields: [
        { path: 'key', type: 'string', vendorPath: 'id', level: 'organization' },
        { path: 'changed', type: 'date', vendorPath: 'update_time', level: 'organization' },
      ],
      configuration,
    });
    expect(Math.abs(Date.parse(stored.startDate) - Date.now())).to.be.below(60_000);
    // A field that the definition did not have is one of it now.
    expect((await get('/organizations/objects/people/definitions')).fields).to.deep.equal([
      { ...key, level: 'organization' },
      { path: 'changed', type: 'date', level: 'organization' },
    ]);

    const ofInstance = {
      vendorName: 'contacts',
      fields: [{ path: 'mail', vendorPath: 'email_addresses[0].email' }],
      configuration: [{ type: 'inherit' }],
    };
    await change('POST', `${instance}/transformations/people`, ofInstance);
    const merged = await get(`${instance}/transformations/people`);
    expect(merged.fields).to.deep.equal([
      { path: 'key', type: 'string', vendorPath: 'id', level: 'organization' },
      { path: 'changed', type: 'date', vendorPath: 'update_time', level: 'organization' },
      { path: 'mail', type: 'string', vendorPath: 'email_addresses[0].email', level: 'instance' },
    ]);
    expect(merged.level).to.equal('instance');
    const byToken = await service.call('/instances/transformations/people', { token });
    expect(byToken.body).to.deep.equal(merged);
    expect(byToken.headers.get('elements-element-instance-id')).to.equal(String(instanceId));

    await change('PATCH', '/organizations/objects/people', { objectName: 'persons' });
    expect((await service.call('/organizations/objects/people/definitions')).status).to.equal(404);
    expect((await get(`${instance}/transformations/persons`)).fields).to.have.length(3);
    expect((await get(`${account}/objects/persons/definitions`)).fields).to.have.length(1);
    expectProblem(
      await service.send('DELETE', '/organizations/objects/persons/definitions'),
      'CONFLICT',
      `The definition 'persons' is used by the transformations of keap (organization), of instance ${instanceId}. Delete the transformations first.`,
    );

    const person = {
      name: 'person',
      fields: [{ path: 'id', type: 'string', associatedLevel: 'organization' }],
      elementInstanceIds: [],
      mappedElementIds: [],
    };
    await change('PUT', '/common-resources', person);
    await change('POST', '/organizations/elements/1008/transformations/person', {
      vendorName: 'contacts',
      fields: [{ path: 'id', vendorPath: 'id' }],
    });
    expect(await get('/common-resources/person')).to.deep.equal({
      name: 'person',
      fields: [
        {
          path: 'id',
          type: 'string',
          associatedLevel: 'organization',
          associatedId: (await get('/organizations/me')).id,
        },
      ],
      elementInstanceIds: [],
      mappedElementIds: [1008],
    });
    expect(await get('/common-resources/person/usages')).to.deep.equal({ formulaUsages: [] });
    const names = pluck(await get('/common-resources'), 'name');
    expect(names).to.deep.equal(['person', 'persons']);
    expect((await get('/common-resources/persons')).elementInstanceIds).to.deep.equal([instanceId]);
  });

  it('are changed and deleted, and found in the audit log', async () => {
    const path = '/organizations/objects/deals';
    const map = '/organizations/elements/keap/transformations/deals';
    const body = { fields: [{ path: 'id', type: 'string' }] };
    await change('POST', `${path}/definitions`, body);
    expectProblem(
      await service.send('POST', `${path}/definitions`, body),
      'CONFLICT',
      "The definition 'deals' exists already at the level organization. Use PUT to change a definition.",
    );
    const transformation = { vendorName: 'opportunities', fields: [{ path: 'id', vendorPath: 'id' }] };
    await change('POST', map, transformation);
    expectProblem(
      await service.send('POST', map, transformation),
      'CONFLICT',
      "The transformation 'deals' for 'keap' exists already at the level organization. Use PUT to change it.",
    );
    const named = [...transformation.fields, { path: 'name', type: 'string', vendorPath: 'opportunity_title' }];
    expect((await change('PUT', map, { ...transformation, fields: named })).fields).to.have.length(2);
    await change('DELETE', `${map}?propagate=true`, undefined);
    expectProblem(await service.call(map), 'NOT_FOUND');
    // No field is left, and nothing uses the definition.
    expectProblem(await service.call(`${path}/definitions`), 'NOT_FOUND');
    const log = await get('/audit-logs/common-resources/deals');
    const entries = log.map(({ action, status }: { action: string; status: number }) => `${action} ${status}`);
    expect(entries).to.deep.equal(['delete 200', 'update 200', 'create 409', 'create 200', 'create 409', 'create 200']);
    expect(log[1].changes.fields.to).to.have.length(2);
  });
});
