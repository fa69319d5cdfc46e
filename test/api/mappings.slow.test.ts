import { expect } from 'chai';
import { bodyOf, pluck, useSharedApp } from '../support/app.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createUser, useTenants } from './support/tenants.ts';

const KEY = { path: 'key', type: 'string' };
const ORDERS = { vendorName: 'Orders', fields: [{ path: 'key', vendorPath: 'Code' }] };

/** As clients of the original export it. */
const EXPORTED = {
  definition: {
    createdDate: '2021-01-15 08:45:21.121334',
    fields: [{ displayName: '', level: 'organization', path: 'add', type: 'string' }],
    objectName: 'exportedTask',
    vdrShared: true,
    vdrShareLevel: 'organization',
  },
  transformation: {
    odata: {
      configuration: [
        { level: 'account', type: 'addToDocumentation' },
        { level: 'account', type: 'inherit' },
        { level: 'account', properties: { fromVendor: false, toVendor: false }, type: 'passThrough' },
      ],
      elementKey: 'odata',
      fields: [
        { level: 'organization', path: 'add', type: 'string', vendorPath: 'allocationCodeID', vendorType: 'string' },
      ],
      isLegacy: false,
      objectName: 'exportedTask',
      script: {
        body: 'done();',
        filterEmptyResponse: false,
        level: 'organization',
        mimeType: 'application/javascript',
      },
      scripts: [{ body: 'done();', level: 'organization' }],
      vendorName: 'Task',
    },
  },
  vdrName: 'exportedTask',
  vdrVersion: 'v2',
};

describe('the levels of definitions and transformations', () => {
  const service = useSharedApp();
  const { get, change } = service;
  const tenants = useTenants(service);
  const shop = useInstance(service, 'odata', SHOP);

  const pathsOf = (definition: { fields: readonly { path: string }[] }) => definition.fields.map(({ path }) => path);

  it('have their own fields each, and inherit those of the levels above', async () => {
    const levels = {
      organization: ['/organizations', '/organizations/elements/odata'],
      account: [`/accounts/${service.accountId}`, `/accounts/${service.accountId}/elements/odata`],
      instance: [`/instances/${shop.id}`, `/instances/${shop.id}`],
    };
    for (const [level, [base, elements]] of Object.entries(levels)) {
      const body = { fields: [{ path: level, type: 'string' }] };
      await change('POST', `${base}/objects/leveled/definitions`, body);
      await change('POST', `${elements}/transformations/leveled`, {
        vendorName: 'Orders',
        fields: [{ path: level, vendorPath: 'Code' }],
        configuration: [{ type: 'inherit' }],
      });
    }
    for (const [level, [base]] of Object.entries(levels))
      expect(pathsOf(await get(`${base}/objects/leveled/definitions`))).to.deep.equal([level]);
    const shown = await get(`/instances/${shop.id}/transformations/leveled`);
    expect(shown.fields.map(({ path, level }: { path: string; level: string }) => [path, level])).to.deep.equal([
      ['organization', 'organization'],
      ['account', 'account'],
      ['instance', 'instance'],
    ]);
    const list = await get(`/instances/${shop.id}/transformations`);
    expect(list.leveled).to.deep.equal(shown);
    // What was read is sent back: the fields of other levels stay where they are.
    const answer = await service.send('PUT', `/instances/${shop.id}/transformations/leveled`, shown);
    expect(answer.headers.get('elements-error')).to.equal(null);
    expect({ ...bodyOf(answer), startDate: '' }).to.deep.equal({ ...shown, startDate: '' });
    expect(pathsOf(await get('/organizations/objects/leveled/definitions'))).to.deep.equal(['organization']);
  });

  it('are changed by those who may: the fields of others are ignored, and named', async () => {
    const { headers } = { headers: authorizationOf(tenants.colleague) };
    const body = { fields: [KEY] };
    const refused = await service.send('POST', '/organizations/objects/rights/definitions', body, { headers });
    expectProblem(refused, 'FORBIDDEN', /manageOrganization/);
    await change('POST', '/organizations/objects/rights/definitions', body);
    const fields = [
      { path: 'key', type: 'string', level: 'organization' },
      { path: 'theirs', type: 'string', level: 'organization' },
      { path: 'ours', type: 'string', level: 'account' },
    ];
    const answer = await service.send('POST', '/accounts/objects/rights/definitions', { fields }, { headers });
    expect(pathsOf(bodyOf(answer))).to.deep.equal(['ours']);
    expect(answer.headers.get('elements-error')).to.equal(
      "The field 'theirs' was ignored, because you may not change the level organization.",
    );
    expect(pathsOf(await get('/organizations/objects/rights/definitions'))).to.deep.equal(['key']);
    // An administrator of the organization changes both with the same request.
    await change('PUT', '/accounts/objects/rights/definitions', { fields });
    expect(pathsOf(await get('/organizations/objects/rights/definitions'))).to.deep.equal(['key', 'theirs']);
    const user = await createUser(service, { accountId: service.accountId, name: 'plain', role: 'default-user' });
    const message = /editCommonObjects/;
    expectProblem(await user.send('PUT', '/accounts/objects/rights/definitions', body), 'FORBIDDEN', message);
    const own = `/instances/${shop.id}/objects/rights/definitions`;
    expect((await user.send('POST', own, body)).status).to.equal(200);
    expect((await user.call(own)).status).to.equal(200);
  });

  it('are apart by organization and by account', async () => {
    await change('POST', '/organizations/objects/apart/definitions', { fields: [KEY] });
    expectProblem(await tenants.stranger.call('/organizations/objects/apart/definitions'), 'NOT_FOUND');
    const body = { fields: [{ path: 'other', type: 'number' }] };
    await tenants.stranger.change('POST', '/organizations/objects/apart/definitions', body);
    expect(pathsOf(await get('/organizations/objects/apart/definitions'))).to.deep.equal(['key']);
    await change('POST', '/accounts/objects/apart/definitions', { fields: [{ path: 'mine', type: 'string' }] });
    expectProblem(await tenants.sibling.call('/accounts/objects/apart/definitions'), 'NOT_FOUND');
    const seen = await tenants.sibling.get('/common-resources/apart');
    expect(pathsOf(seen)).to.deep.equal(['key']);
    expectProblem(
      await tenants.sibling.send('POST', `/instances/${shop.id}/objects/apart/definitions`, body),
      'NOT_FOUND',
    );
  });

  it('need a definition above a transformation, and no contradiction between the levels', async () => {
    expectProblem(
      await service.send('POST', '/accounts/elements/odata/transformations/undefined', ORDERS),
      'NOT_FOUND',
      "There is no definition 'undefined' at the level account or above it. Create the definition before its transformations.",
    );
    await change('POST', '/organizations/objects/clash/definitions', { fields: [{ path: 'a', type: 'string' }] });
    const below = await service.send('POST', '/accounts/objects/clash/definitions', {
      fields: [{ path: 'a.b', type: 'string' }],
    });
    expect(faultsOf(below)).to.deep.equal({
      'body.fields.0.path':
        "body.fields.0.path cannot be used: 'a.b' lies in 'a', which is of the type string at the level organization, not object.",
    });
    const mapped = await service.send('POST', '/accounts/elements/odata/transformations/clash', {
      ...ORDERS,
      fields: [{ path: 'a[0]', vendorPath: 'Code' }],
    });
    expect(Object.keys(faultsOf(mapped))).to.deep.equal(['body.fields.0.path']);
  });

  it('are renamed together, unless a level below has the new name', async () => {
    await change('POST', '/organizations/objects/before/definitions', { fields: [KEY] });
    await change('POST', '/accounts/objects/before/definitions', { fields: [KEY] });
    await change('POST', '/accounts/objects/taken/definitions', { fields: [KEY] });
    expectProblem(
      await service.send('PATCH', '/organizations/objects/before', { objectName: 'taken' }),
      'CONFLICT',
      "A level below organization has 'taken' already. Choose another name.",
    );
    expectProblem(
      await service.send('PATCH', '/accounts/objects/before', { objectName: 'taken' }),
      'CONFLICT',
      "The definition 'taken' exists already at the level account. Use PUT to change a definition.",
    );
    await change('PATCH', '/accounts/objects/before', { objectName: 'after' });
    expect(pathsOf(await get('/organizations/objects/before/definitions'))).to.deep.equal(['key']);
    const reserved = await service.send('PATCH', '/accounts/objects/after', { objectName: 'objects' });
    expect(faultsOf(reserved)).to.deep.equal({
      'body.objectName':
        "body.objectName must not be 'objects', because paths of the platform begin with /objects. Choose another name.",
    });
  });

  it('are written where a transformation says, by PUT /transformations', async () => {
    await change('POST', '/organizations/objects/placed/definitions', { fields: [KEY] });
    const body = {
      objectName: 'placed',
      elementInstanceId: shop.id,
      vendorName: 'Orders',
      fields: [{ path: 'key', vendorPath: 'Code', associatedLevel: 'organization' }],
    };
    expect((await change('PUT', '/transformations', body)).level).to.equal('organization');
    expectProblem(await service.call(`/instances/${shop.id}/transformations/placed`), 'NOT_FOUND');
    const own = { ...body, fields: [...body.fields, { path: 'mine', type: 'string', vendorPath: 'CustomerId' }] };
    expect((await change('PUT', '/transformations', own)).level).to.equal('instance');
    expect(pathsOf(await get(`/instances/${shop.id}/transformations/placed`))).to.deep.equal(['mine']);
    const { elementInstanceId: _, ...nowhere } = body;
    expect(faultsOf(await service.send('PUT', '/transformations', nowhere))).to.deep.equal({
      'body.elementKey': 'body.elementKey is missing. Name the element, or an instance with elementInstanceId.',
    });
    const named = { ...nowhere, elementKey: 'odata', level: 'account', fields: [{ path: 'key', vendorPath: 'Code' }] };
    expect((await change('PUT', '/transformations', named)).level).to.equal('account');
  });

  it('are taken over from the catalogue', async () => {
    const catalogue = await get('/accounts/objects/definitions?systemOnly=true');
    expect(catalogue.contacts.level).to.equal('system');
    const path = '/accounts/objects/contacts/definitions';
    const taken = await change('POST', `${path}?fromSystem=true`);
    expect(taken.level).to.equal('account');
    expect(pathsOf(taken)).to.deep.equal(pathsOf(catalogue.contacts));
    const mapped = await get('/accounts/elements/keap/transformations/contacts');
    expect(mapped.vendorName).to.equal('contacts');
    expectProblem(await service.send('POST', `${path}?fromSystem=true`), 'CONFLICT');
    expectProblem(
      await service.send('POST', '/accounts/objects/contact/definitions?fromSystem=true'),
      'NOT_FOUND',
      "There is no definition in the catalogue 'contact'. Did you mean 'contacts'?",
    );
    const clone = await change('POST', '/vdrs/contacts/clone?level=organization');
    expect([clone.level, clone.name]).to.deep.equal(['organization', 'contacts']);
    expect(await get('/organizations/elements/keap/transformations')).to.not.have.property('contacts');
    const listed = pluck(await get('/vdrs?where=name%3D%27contacts%27'), 'level');
    expect(listed.toSorted()).to.deep.equal(['account', 'organization']);
    expect(await get('/vdrs?systemOnly=true')).to.deep.include({
      ...{ id: 'contacts', name: 'contacts', objectName: 'contacts', level: 'system' },
    });
  });

  it('are imported from a file of the original, exported, and imported again', async () => {
    const imported = await change('PUT', '/vdrs/import', EXPORTED);
    expect(imported).to.deep.include({ name: 'exportedTask', level: 'organization', elementKeys: ['odata'] });
    const stored = await get('/organizations/elements/odata/transformations/exportedTask');
    expect(stored.vendorName).to.equal('Task');
    expect(stored.script.body).to.equal('done();');
    expect(pluck(stored.configuration, 'type')).to.deep.equal(['addToDocumentation', 'inherit', 'passThrough']);
    const file = await get('/vdrs/exportedTask/export');
    expect(file.definition.fields).to.deep.equal([{ path: 'add', type: 'string', level: 'organization' }]);
    expect(file.transformation.odata).to.deep.include({ vendorName: 'Task', elementKey: 'odata' });
    await change('PUT', '/vdrs/import', file);
    const again = await get('/vdrs/exportedTask/export');
    expect({ ...again.transformation.odata, startDate: '' }).to.deep.equal({
      ...file.transformation.odata,
      startDate: '',
    });
    expectProblem(
      await service.send('PUT', '/vdrs/import', { ...EXPORTED, vdrVersion: 'v1' }),
      'REQUEST_INVALID',
      "body.vdrVersion must not be 'v1', an old form of scripts that does not exist here. Send v2.",
    );
  });

  it('are deleted as common resources at all levels that the caller may change', async () => {
    const fields = [
      { path: 'a', type: 'string', associatedLevel: 'organization' },
      { path: 'b', type: 'string', associatedLevel: 'account' },
      { path: 'c', type: 'string', associatedLevel: 'instance', associatedId: shop.id },
    ];
    const put = await change('PUT', '/common-resources', { name: 'whole', fields });
    expect(
      put.fields.map(({ path, associatedId }: { path: string; associatedId: number }) => [path, associatedId]),
    ).to.deep.equal([
      ['a', service.organizationId],
      ['b', service.accountId],
      ['c', shop.id],
    ]);
    await change('PATCH', '/common-resources/whole', { name: 'renamed' });
    expectProblem(await service.call('/common-resources/whole'), 'NOT_FOUND');
    await change('DELETE', '/common-resources/renamed');
    expectProblem(await service.call('/common-resources/renamed'), 'NOT_FOUND');
    expectProblem(await service.call(`/instances/${shop.id}/objects/renamed/definitions`), 'NOT_FOUND');
  });

  it('say where a field of a common resource is wrong, whatever its level is', async () => {
    const fields = [
      { path: 'a', type: 'string', associatedLevel: 'account' },
      { path: 'b', type: 'string', associatedLevel: 'organization' },
      { path: 'c', type: 'text', associatedLevel: 'account' },
    ];
    const put = (given: readonly object[]) =>
      service.send('PUT', '/common-resources', { name: 'wrong', fields: given });
    expect(Object.keys(faultsOf(await put(fields)))).to.deep.equal(['body.fields.2.type']);
    expect(faultsOf(await put([{ path: 'a', type: 'string', associatedLevel: 'system' }]))).to.deep.equal({
      'body.fields':
        "body.fields has a field with the associatedLevel 'system'. It must be one of instance, account, organization.",
    });
    const ofInstance = { path: 'a', type: 'string', associatedLevel: 'instance' };
    expect(faultsOf(await put([ofInstance]))).to.deep.equal({
      'body.fields': 'body.fields has a field of an instance without the id of the instance as associatedId.',
    });
    expectProblem(await put([{ ...ofInstance, associatedId: 987_654 }]), 'NOT_FOUND');
  });

  it('list the aliases of an element', async () => {
    const aliases = await get('/elements/keap/transformations');
    for (const { name, vendorName } of aliases) {
      expect(name).to.be.a('string');
      expect(vendorName).to.be.a('string');
    }
    expect(await get('/elements/odata/transformations')).to.deep.equal([]);
  });
});
