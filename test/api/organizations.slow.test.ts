import { expect } from 'chai';
import { type ApiCall, pluck, useApp } from '../support/app.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { authorizationOf, type Tenant, useTenants, withDatabase } from './support/tenants.ts';

describe('the organization', () => {
  const service = useApp();
  const tenants = useTenants(service);

  const as = (tenant: Tenant, path: string, call: ApiCall = {}) =>
    service.call(path, { ...call, headers: { ...authorizationOf(tenant), ...call.headers } });
  const secretsFor = async (tenant: Tenant) => (await as(tenant, '/organizations/me/secrets')).body;
  const rotate = (body: object, tenant: Tenant = service) =>
    as(tenant, '/organizations/me/secrets', { method: 'POST', body });

  it('is shown to everybody of it', async () => {
    const body = await service.get('/organizations/me');
    expect(Object.keys(body)).to.have.members(['id', 'name', 'createdDate']);
    expect((await as(tenants.sibling, '/organizations/me')).body).to.deep.equal(body);
    expect((await as(tenants.stranger, '/organizations/me')).body).to.include({ name: 'Another one' });
  });

  it('is renamed by its administrators, as it was read', async () => {
    const read = await service.get('/organizations/me');
    const patch = (body: object, tenant: Tenant = service) =>
      as(tenant, '/organizations/me', { method: 'PATCH', body });
    expect((await patch({ ...read, name: ' Example Inc. ' })).body).to.deep.equal({ ...read, name: 'Example Inc.' });
    expect((await patch({ id: read.id })).body).to.include({ name: 'Example Inc.' });
    expect(Object.keys(faultsOf(await patch({ id: 2, secret: 'x' })))).to.deep.equal(['body.id', 'body.secret']);
    expect(Object.keys(faultsOf(await patch({ name: ' ' })))).to.deep.equal(['body.name']);
    expectProblem(await patch({ name: 'Mine' }, tenants.sibling), 'FORBIDDEN', /manageOrganization/);
    expect((await as(tenants.stranger, '/organizations/me')).body).to.include({ name: 'Another one' });
  });

  it('shows its secrets to who may modify security, and to nobody else', async () => {
    const [current, ...others] = await secretsFor(service);
    expect(current).to.include({ secret: service.organizationSecret }).and.not.to.have.property('expiresDate');
    expect(others).to.deep.equal([]);
    expectProblem(await as(tenants.sibling, '/organizations/me/secrets'), 'FORBIDDEN', /modifySecurity/);
    expectProblem(await rotate({}, tenants.colleague), 'FORBIDDEN', /modifySecurity/);
    const strangers = await secretsFor(tenants.stranger);
    expect(pluck(strangers, 'secret')).to.deep.equal([tenants.stranger.organizationSecret]);
  });

  it('shows a secret from before secrets were kept to who calls with it', async () => {
    const { stranger } = tenants;
    const whose = { organization_id: 2 };
    await withDatabase(service, (knex) => knex('organization_secret').where(whose).update({ secret: null }));
    expect((await secretsFor(stranger))[0]).to.include({ secret: stranger.organizationSecret });
    const { body } = await rotate({}, stranger);
    const [current, before] = await secretsFor({ ...stranger, organizationSecret: body.secret });
    expect(current).to.include({ id: body.id, secret: body.secret });
    expect(before).to.have.property('expiresDate');
    expect(before).not.to.have.property('secret');
  });

  it('takes no other overlap than up to a week', async () => {
    for (const overlapSeconds of [-1, 604_801, 1.5, '60'])
      expect(Object.keys(faultsOf(await rotate({ overlapSeconds })))).to.deep.equal(['body.overlapSeconds']);
  });

  it('has a new secret and, for as long as it says, the one before', async () => {
    const startMs = Date.now();
    const { body: next } = await rotate({ overlapSeconds: 3600 });
    expect(next).to.have.keys('id', 'secret', 'createdDate');
    const rotated = { ...service, organizationSecret: next.secret };
    const [current, before] = await secretsFor(rotated);
    expect(current).to.deep.equal(next);
    expect(before.secret).to.equal(service.organizationSecret);
    const overlapMs = Date.parse(before.expiresDate) - startMs;
    expect(overlapMs).to.be.within(3_600_000, 3_660_000);
    for (const tenant of [service, rotated, { ...tenants.sibling, organizationSecret: next.secret }])
      expect((await as(tenant, '/organizations/me')).status).to.equal(200);
    const { body: last } = await rotate({ overlapSeconds: 0 }, rotated);
    for (const tenant of [service, rotated]) expectProblem(await as(tenant, '/organizations/me'), 'UNAUTHENTICATED');
    const onlyOne = { ...service, organizationSecret: last.secret };
    expect(await secretsFor(onlyOne)).to.deep.equal([last]);
    // Two at the same time take turns.
    const both = await Promise.all([rotate({}, onlyOne), rotate({}, onlyOne)]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    const shown = await secretsFor(onlyOne);
    expect(shown).to.have.length(3);
    expect(shown.filter((secret: object) => !('expiresDate' in secret))).to.have.length(1);
  });
});
