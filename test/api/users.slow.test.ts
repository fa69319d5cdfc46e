import { expect } from 'chai';
import { PRIVILEGES, type Privilege } from '../../src/accounts/privileges.ts';
import type { ErrorCode } from '../../src/errors.ts';
import { type ApiAnswer, type ApiCall, ORGANIZATION_SECRET, pluck, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { nextPageOf, rowsOf } from './support/pages.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { authorizationOf, readEverything, updateRows, useTenants, withDatabase } from './support/tenants.ts';

const lackOf = (privilege: Privilege, needs = 'This needs') =>
  `${needs} the privilege ${privilege} (${PRIVILEGES[privilege][0]}), and none of your roles has it. Ask an administrator of the organization.`;

function problemOf(response: ApiAnswer, code: ErrorCode): ApiAnswer['body'] {
  expectProblem(response, code);
  return response.body;
}

describe('users', function users() {
  this.timeout(60_000);
  const service = useApp();
  const tenants = useTenants(service);
  let made = 0;

  /** A call with somebody's secret; the first user's otherwise, who administers the organization. */
  const call = (path: string, { by, ...input }: ApiCall & { readonly by?: string } = {}) =>
    service.call(path, {
      ...input,
      headers: {
        ...(by !== undefined && authorizationOf({ ...service, userSecret: by })),
        ...input.headers,
      },
    });

  async function ok(path: string, input: Parameters<typeof call>[1] = {}): Promise<ApiAnswer['body']> {
    const response = await call(path, input);
    expect(response.status, `${input.method ?? 'GET'} ${path} ${JSON.stringify(response.body)}`).to.equal(200);
    return response.body;
  }

  /** @returns the record with its secret */
  function add(input: object = {}, path = '/organizations/users') {
    made++;
    const body = { email: `user-${made}@example.com`, firstName: 'First', lastName: `Last ${made}`, ...input };
    return ok(path, { method: 'POST', body });
  }

  const isKnown = async (secret: string) => (await call('/users/me', { by: secret })).status === 200;

  describe('a user who is added', () => {
    it('is of the default account and a default-user, and calls with the secret of the answer', async () => {
      const { secret, ...user } = await add({ email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Lovelace' });
      expect(user).to.deep.include({
        ...{ email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Lovelace', fullName: 'Ada Lovelace' },
        ...{ externalId: null, active: true, accountId: 1, roles: ['default-user'], lastLoginDate: null },
      });
      expect(secret).to.match(/^[\w-]{43}$/);
      expect(await ok('/users/me', { by: secret })).to.deep.equal(user);
      expect(await ok('/users/ada@example.COM')).to.deep.equal(user);
      expect(await ok(`/organizations/users/${user.id}`)).to.deep.equal(user);
      expect(await ok(`/accounts/1/users/${user.id}`)).to.deep.equal(user);
    });

    it('is of the account of the path, of the body, or of the header', async () => {
      const other = tenants.sibling.accountId;
      const headers = { 'Elements-Account-Id': String(other) };
      expect((await add({}, `/accounts/${other}/users`)).accountId).to.equal(other);
      expect((await add({ accountId: other })).accountId).to.equal(other);
      const body = { email: 'header@example.com', firstName: 'A', lastName: 'B' };
      expect((await ok('/organizations/users', { method: 'POST', body, headers })).accountId).to.equal(other);
    });

    it('may be inactive, and have another name elsewhere, and the roles that are said', async () => {
      const user = await add({ active: false, externalId: 'employee-1', roles: ['default-user', 'admin', 'admin'] });
      expect(user).to.deep.include({ active: false, externalId: 'employee-1', roles: ['admin', 'default-user'] });
      expect(await isKnown(user.secret)).to.equal(false);
      expect((await add({ roles: [] })).roles).to.deep.equal([]);
    });

    it('has an e-mail address that nobody else of the organization has, in any case', async () => {
      await add({ email: 'grace@example.com' });
      const body = { email: 'GRACE@example.com', firstName: 'A', lastName: 'B' };
      for (const path of ['/organizations/users', `/accounts/${tenants.sibling.accountId}/users`]) {
        const error = problemOf(await call(path, { method: 'POST', body }), 'CONFLICT');
        expect(error.message).to.equal('A user with the e-mail GRACE@example.com already exists in the organization.');
        expect(error.details).to.deep.include({ path: '/body/email', message: error.message });
      }
      const headers = authorizationOf(tenants.stranger);
      expect((await call('/organizations/users', { method: 'POST', body, headers })).status).to.equal(200);
    });

    it('is added once with an Idempotency-Key', async () => {
      const body = { email: 'once@example.com', firstName: 'A', lastName: 'B' };
      const input = { method: 'POST', body, headers: { 'Idempotency-Key': 'add once' } };
      expect(await ok('/organizations/users', input)).to.deep.equal(await ok('/organizations/users', input));
      const shown = await ok('/audit-logs', {
        query: { where: "target = 'user' AND action IN ('create', 'show')", pageSize: 2 },
      });
      expect(pluck(shown, 'action')).to.deep.equal(['show', 'create']);
    });

    const NO_ACCOUNT = 'There is no account 999999.';
    const NO_EMAIL = 'body.email must match pattern "^[^\\s@]+@[^\\s@]+$".';
    const NO_ROLE = "Unknown role 'admim'. Did you mean 'admin'?";
    const refused: readonly (readonly [string, object, number, string, string | undefined])[] = [
      ['no e-mail', { email: undefined }, 400, 'body.email is missing.', '/body/email'],
      ['a text that is none', { email: 'ada' }, 400, NO_EMAIL, '/body/email'],
      ['a role that there is not', { roles: ['default-user', 'admim'] }, 400, NO_ROLE, '/body/roles/1'],
      ['an account that there is not', { accountId: 999_999 }, 404, NO_ACCOUNT, undefined],
      ['a member that there is not', { nick: 'x' }, 400, "Unknown member 'nick'.", '/body/nick'],
    ];
    for (const [what, input, status, message, path] of refused) {
      it(`is refused with ${what}`, async () => {
        const body = { email: 'refused@example.com', firstName: 'A', lastName: 'B', ...input };
        const response = await call('/organizations/users', { method: 'POST', body });
        const error = problemOf(response, status === 404 ? 'NOT_FOUND' : 'REQUEST_INVALID');
        expect(error.message).to.equal(message);
        if (path !== undefined) expect(error.details[0]).to.include({ path });
        expect((await call('/users/refused@example.com')).status).to.equal(404);
      });
    }

    it('is not added to an account of another organization', async () => {
      const body = { email: 'far@example.com', firstName: 'A', lastName: 'B', accountId: tenants.stranger.accountId };
      expectProblem(await call('/organizations/users', { method: 'POST', body }), 'NOT_FOUND');
    });
  });

  describe('a change', () => {
    it('changes what is given, by every path, and takes a user as it was read', async () => {
      const { secret, ...user } = await add();
      const paths = [`/users/${user.id}`, `/organizations/users/${user.email}`, `/accounts/1/users/${user.id}`];
      for (const [index, path] of paths.entries()) {
        const read = await ok(path);
        const body = { ...read, firstName: `Name ${index}`, externalId: `x-${index}` };
        const changed = await ok(path, { method: 'PATCH', body });
        expect(changed).to.deep.equal({ ...body, fullName: `Name ${index} ${user.lastName}` });
      }
      const body = { firstName: 'Myself' };
      expect(await ok('/users/me', { method: 'PATCH', body, by: secret })).to.include(body);
    });

    it('that puts empties what is left out', async () => {
      const { secret: _, ...user } = await add({ externalId: 'x', active: false });
      const body = { email: user.email, firstName: 'Put', lastName: 'There' };
      const path = `/accounts/1/users/${user.id}`;
      const put = await ok(path, { method: 'PUT', body });
      expect(put).to.deep.equal({ ...user, ...body, fullName: 'Put There', externalId: null, active: true });
      expect(await ok(path, { method: 'PUT', body: put })).to.deep.equal(put);
    });

    it('of nothing is fine', async () => {
      const { secret: _, ...user } = await add();
      expect(await ok(`/users/${user.id}`, { method: 'PATCH', body: user })).to.deep.equal(user);
    });

    it('cannot be of what is decided elsewhere', async () => {
      const { id } = await add();
      const body = { roles: ['org-admin'], accountId: 2, fullName: 'x', secret: 'x' };
      const error = problemOf(await call(`/users/${id}`, { method: 'PATCH', body }), 'REQUEST_INVALID');
      expect(pluck(error.details, 'path')).to.deep.equal([
        ...['/body/roles', '/body/accountId', '/body/fullName', '/body/secret'],
      ]);
    });

    it('of the e-mail to one that somebody else has is a 409, and to another spelling of the own is not', async () => {
      const [one, other] = [await add(), await add()];
      const body = { email: other.email.toUpperCase() };
      expectProblem(await call(`/users/${one.id}`, { method: 'PATCH', body }), 'CONFLICT');
      const spelt = { email: one.email.toUpperCase() };
      expect(await ok(`/users/${one.id}`, { method: 'PATCH', body: spelt })).to.include(spelt);
    });

    it('to inactive refuses the secret until it is active again', async () => {
      const { id, secret } = await add();
      expect(await isKnown(secret)).to.equal(true);
      await ok(`/users/${id}`, { method: 'PATCH', body: { active: false } });
      expectProblem(await call('/users/me', { by: secret }), 'UNAUTHENTICATED');
      await ok(`/users/${id}`, { method: 'PATCH', body: { active: true } });
      expect(await isKnown(secret)).to.equal(true);
    });
  });

  describe('a user who is deleted', () => {
    for (const path of ['/users/', '/organizations/users/', '/accounts/1/users/']) {
      it(`by ${path} is gone, but for the name of what he made`, async () => {
        const { id, email, secret } = await add();
        const body = { element: { key: 'bamboohr' }, name: 'His', configuration: BAMBOOHR };
        const instance = await ok('/instances', { method: 'POST', body, by: secret });
        expect(await ok(path + id, { method: 'DELETE' })).to.deep.equal({ id });
        expectProblem(await call('/users/me', { by: secret }), 'UNAUTHENTICATED');
        for (const gone of [`/users/${id}`, `/users/${email}`, `/organizations/users/${id}`, `/users/${id}/roles`])
          expectProblem(await call(gone), 'NOT_FOUND', /^There is no user /);
        expectProblem(await call(path + id, { method: 'DELETE' }), 'NOT_FOUND');
        expect(await ok('/users', { query: { where: `id = ${id}` } })).to.deep.equal([]);
        expect((await ok(`/instances/${instance.id}`)).user).to.deep.include({ id, emailAddress: email });
        expect(await withDatabase(service, (knex) => knex('user_secret').where({ user_id: id }))).to.deep.equal([]);
        expect((await add({ email })).id).not.to.equal(id);
      });
    }
  });

  describe('lists', () => {
    it('show what a caller may see: the organization, the account, or himself', async () => {
      const [one, other] = [await add(), await add({ accountId: tenants.sibling.accountId })];
      const idsOf = async (path: string, input: Parameters<typeof call>[1] = {}) =>
        pluck(await ok(path, { ...input, query: { pageSize: 1000 } }), 'id');
      for (const path of ['/users', '/organizations/users'])
        expect(await idsOf(path)).to.include.members([one.id, other.id]);
      const named = { headers: { 'Elements-Account-Id': String(tenants.sibling.accountId) } };
      for (const ids of [
        await idsOf('/users', named),
        await idsOf('/organizations/users', named),
        await idsOf(`/accounts/${tenants.sibling.accountId}/users`),
        await idsOf('/users', { by: tenants.sibling.userSecret }),
      ])
        expect(ids).to.include(other.id).and.not.include(one.id);
      expect(await idsOf('/users', { headers: { 'Elements-Account-Id': '1' } })).to.not.include(other.id);
      expect(await idsOf('/users', { by: one.secret })).to.deep.equal([one.id]);
    });

    it('are filtered', async () => {
      const user = await add({ externalId: 'filtered', firstName: 'Filtered', active: false });
      const filters = [
        `id = ${user.id}`,
        `email = '${user.email.toUpperCase()}'`,
        "firstName LIKE 'Filt%' AND active = FALSE",
        "externalId = 'filtered' AND accountId = 1 AND lastLoginDate IS NULL",
        `lastName = '${user.lastName}' AND createdDate > '2020-01-01'`,
      ];
      for (const where of filters) {
        const found: readonly { readonly id: number }[] = await ok('/organizations/users', { query: { where } });
        expect(
          found.map(({ id }) => id),
          where,
        ).to.deep.equal([user.id]);
      }
      expectProblem(await call('/users', { query: { where: "mail = 'x'" } }), 'WHERE_INVALID', /email/);
    });

    it('go on by pages of one filter', async () => {
      const all = await ok('/users', { query: { pageSize: 1000 } });
      const ask = (nextPage?: string, more: object = {}) =>
        call('/users', { query: { pageSize: 3, nextPage, ...more } });
      expect(await rowsOf(ask)).to.deep.equal(all);
      expectProblem(await ask(nextPageOf(await ask()), { where: 'id > 1' }), 'REQUEST_INVALID');
    });
  });

  describe('rights', () => {
    it('let everybody read and change himself, and not what he may', async () => {
      const { id, email, secret: by } = await add();
      for (const path of ['/users/me', `/users/${id}`, `/users/${email}`, `/accounts/1/users/${id}`]) {
        await ok(path, { by });
        await ok(path, { method: 'PATCH', body: { lastName: 'Changed' }, by });
      }
      expect(pluck(await ok(`/users/${id}/roles`, { by }), 'key')).to.deep.equal(['default-user']);
      expectProblem(await call(`/users/${id}/roles/admin`, { method: 'PUT', by }), 'FORBIDDEN');
      expectProblem(await call(`/users/${id}`, { method: 'DELETE', by }), 'FORBIDDEN');
      const me = await ok('/users/me');
      for (const method of ['PUT', 'DELETE']) {
        const response = await call(`/users/${me.id}/roles/admin`, { method });
        expectProblem(response, 'FORBIDDEN', 'You cannot change your own roles. Ask another administrator.');
      }
    });

    it('leave an org-admin to those who are no less', async () => {
      const admin = await add({ roles: ['admin'] });
      const boss = await add({ roles: ['org-admin'] });
      const by = admin.secret;
      const attempts: readonly (readonly [string, string, object?])[] = [
        ['PATCH', '', { email: 'mine@example.com' }],
        ['PATCH', '', { active: false }],
        ['DELETE', ''],
        ['PUT', '/roles/default-user'],
        ['DELETE', '/roles/org-admin'],
      ];
      for (const [method, end, body] of attempts) {
        expectProblem(
          await call(`/users/${boss.id}${end}`, { method, body, by }),
          'FORBIDDEN',
          lackOf('manageOrganization', `User ${boss.id} has`),
        );
      }
      const other = await add();
      const grant = await call(`/users/${other.id}/roles/org-admin`, { method: 'PUT', by });
      const lack = lackOf('manageOrganization', 'The role org-admin has');
      expectProblem(grant, 'FORBIDDEN', lack);
      const body = { email: 'boss@example.com', firstName: 'A', lastName: 'B', roles: ['org-admin'] };
      const added = await call('/accounts/1/users', { method: 'POST', body, by });
      expectProblem(added, 'FORBIDDEN', lack);
      expect(await ok(`/users/${boss.id}`)).to.include({ email: boss.email, active: true });
    });
  });

  describe('the last active org-admin', () => {
    it('stays, whatever he and others do', async () => {
      const headers = authorizationOf(tenants.stranger);
      const me = await service.get('/users/me', { headers });
      const message = `User ${me.id} is the last active administrator of the organization. Give another user the role org-admin first.`;
      for (const input of [{ method: 'DELETE' }, { method: 'PATCH', body: { active: false } }]) {
        const response = await service.call(`/users/${me.id}`, { ...input, headers });
        expectProblem(response, 'CONFLICT', message);
      }
      expect(await service.get('/users/me', { headers })).to.deep.equal(me);
    });

    it('stays when two strip each other at the same time', async () => {
      const headers = authorizationOf(tenants.stranger);
      const first = await service.get('/users/me', { headers });
      const body = { email: 'second@example.com', firstName: 'A', lastName: 'B', roles: ['org-admin'] };
      for (let round = 0; round < 5; round++) {
        const second = await service.change('POST', '/organizations/users', body, { headers });
        const { organizationSecret } = tenants.stranger;
        const bySecond = authorizationOf({ ...service, organizationSecret, userSecret: second.secret });
        const strip = (id: number, by: Readonly<Record<string, string>>) =>
          service.call(`/users/${id}/roles/org-admin`, { method: 'DELETE', headers: by });
        const answers = await Promise.all([strip(second.id, headers), strip(first.id, bySecond)]);
        const statuses = answers.map(({ status }) => status).sort();
        // Whoever comes late enough to be read as stripped lacks the privilege; who was let in meets the last one.
        expect(statuses[0]).to.equal(200);
        expect(statuses[1]).to.be.oneOf([403, 409]);
        if (answers[1]?.status === 200) {
          await service.call(`/users/${first.id}/roles/org-admin`, { method: 'PUT', headers: bySecond });
        }
        await service.call(`/users/${second.id}`, { method: 'DELETE', headers });
      }
    });
  });

  describe('roles', () => {
    it('are listed with what they allow', async () => {
      const roles = await ok('/organizations/roles');
      expect(roles.map(({ id, key }: { id: number; key: string }) => [id, key])).to.deep.equal([
        [1, 'org-admin'],
        [2, 'admin'],
        [3, 'default-user'],
      ]);
      expect(roles[0].privileges).to.have.length(Object.keys(PRIVILEGES).length);
      expect(await ok('/organizations/roles/default-user')).to.deep.equal(roles[2]);
      expect(roles[2]).to.deep.include({
        name: 'User',
        description: 'Works with the instances of the user’s own account.',
      });
      expect(roles[2].privileges[0]).to.deep.equal({
        key: 'viewElements',
        name: 'View elements',
        category: 'elements',
      });
      expectProblem(
        await call('/organizations/roles/admim'),
        'NOT_FOUND',
        "There is no role 'admim'. Did you mean 'admin'?",
      );
    });

    it('may do from now on what they are given', async () => {
      const { secret: by } = await add();
      const path = '/organizations/roles/default-user';
      const before = await ok(path);
      await ok('/elements', { by });
      const privileges = before.privileges.filter(({ key }: { key: string }) => key !== 'viewElements');
      const changed = await ok(path, { method: 'PUT', body: { ...before, privileges } });
      expect(changed).to.deep.equal({ ...before, privileges });
      expectProblem(await call('/elements', { by }), 'FORBIDDEN', lackOf('viewElements'));
      const body = { privileges: ['viewElements', ...privileges] };
      expect(await ok(path, { method: 'PUT', body })).to.deep.equal(before);
      await ok('/elements', { by });
    });

    it('belong to their organization', async () => {
      const path = '/organizations/roles/default-user';
      const before = await ok(path);
      await ok(path, { method: 'PUT', body: { privileges: [] } });
      expect(await tenants.stranger.get(path)).to.deep.equal(before);
      await ok(path, { method: 'PUT', body: before });
    });

    it('refuse what they cannot be', async () => {
      const replace = (key: string, body: object) => call(`/organizations/roles/${key}`, { method: 'PUT', body });
      const ofAll = 'The role org-admin always has all privileges; they cannot be changed.';
      expectProblem(await replace('org-admin', { privileges: [] }), 'CONFLICT', ofAll);
      const asRead = 'cannot be changed. Leave it out, or send it as it was read.';
      for (const [body, message] of [
        [{ privileges: ['viewElement'] }, "Unknown privilege 'viewElement'. Did you mean 'viewElements'?"],
        [{ privileges: [{ key: 'viewElements', name: 'x' }] }, `'name' of the privilege 'viewElements' ${asRead}`],
        [{ privileges: [], key: 'boss' }, `'key' ${asRead}`],
      ] as const)
        expectProblem(await replace('admin', body), 'REQUEST_INVALID', message);
    });

    it('are configured by nobody above himself', async () => {
      const admin = await add({ roles: ['admin'] });
      const path = '/organizations/roles/admin';
      const before = await ok(path);
      const keys = pluck(before.privileges, 'key');
      await ok(path, { method: 'PUT', body: { privileges: [...keys, 'configureRoles'] } });
      const body = { privileges: [...keys, 'configureRoles', 'manageOrganization'] };
      expectProblem(
        await call(path, { method: 'PUT', body, by: admin.secret }),
        'FORBIDDEN',
        lackOf('manageOrganization'),
      );
      await ok(path, { method: 'PUT', body: { privileges: keys }, by: admin.secret });
      expectProblem(await call(path, { by: admin.secret }), 'FORBIDDEN');
    });

    it('are given and taken, at once', async () => {
      const { id, email, secret: by } = await add();
      expectProblem(await call('/accounts/1/users', { by }), 'FORBIDDEN');
      const path = `/users/${encodeURIComponent(email)}/roles`;
      const role = await ok(`${path}/admin`, { method: 'PUT' });
      expect(role.key).to.equal('admin');
      expect(await ok(`${path}/admin`, { method: 'PUT' })).to.deep.equal(role);
      expect(await ok(`${path}/admin`)).to.deep.equal(role);
      expect(await ok(path)).to.deep.equal([role, await ok('/organizations/roles/default-user')]);
      await ok('/accounts/1/users', { by });
      expect(await ok(`${path}/admin`, { method: 'DELETE' })).to.deep.equal({ id: 2, key: 'admin' });
      expectProblem(await call('/accounts/1/users', { by }), 'FORBIDDEN');
      for (const method of ['GET', 'DELETE']) {
        expectProblem(await call(`${path}/admin`, { method }), 'NOT_FOUND', `User ${id} does not have the role admin.`);
      }
    });
  });

  describe('own secrets', () => {
    it('are shown to their user, and rotated with both valid for a while', async () => {
      const { secret: first } = await add();
      const [shown, ...others] = await ok('/users/me/secrets', { by: first });
      expect(others).to.deep.equal([]);
      expect(shown).to.include({ secret: first }).and.not.have.property('expiresDate');
      const second = await ok('/users/me/secrets', { method: 'POST', body: { overlapSeconds: 60 }, by: first });
      expect(second.secret)
        .to.match(/^[\w-]{43}$/)
        .and.not.equal(first);
      expect(await Promise.all([first, second.secret].map(isKnown))).to.deep.equal([true, true]);
      const [current, previous] = await ok('/users/me/secrets', { by: first });
      expect(current).to.deep.equal(second);
      expect(previous).to.include({ id: shown.id, secret: first });
      expect(Date.parse(previous.expiresDate) - Date.now()).to.be.within(0, 60_000);
    });

    it('end at once with an overlap of 0, those of earlier rotations too', async () => {
      const { secret: first } = await add();
      const rotate = async (by: string, overlapSeconds: number): Promise<string> =>
        (await ok('/users/me/secrets', { method: 'POST', body: { overlapSeconds }, by })).secret;
      const second = await rotate(first, 3600);
      const third = await rotate(second, 0);
      expect(await Promise.all([first, second, third].map(isKnown))).to.deep.equal([false, false, true]);
    });

    it('are not without end', async () => {
      let { secret } = await add();
      const rotate = (overlapSeconds: number) =>
        call('/users/me/secrets', { method: 'POST', body: { overlapSeconds }, by: secret });
      for (let count = 1; count < 20; count++) secret = (await rotate(3600)).body.secret;
      expectProblem(await rotate(3600), 'CONFLICT', /20 secrets are already valid/);
      expect((await rotate(0)).status).to.equal(200);
    });

    it('from before they were kept are shown to whoever sends them', async () => {
      const { id, secret } = await add();
      await updateRows(service, 'user_secret', { user_id: id }, { secret: null });
      expect((await ok('/users/me/secrets', { by: secret }))[0]).to.include({ secret });
      const rotated = await ok('/users/me/secrets', { method: 'POST', body: {}, by: secret });
      const [, previous] = await ok('/users/me/secrets', { by: rotated.secret });
      expect(previous).to.have.keys('id', 'createdDate', 'expiresDate');
    });

    it('are of nobody else, whatever account is named', async () => {
      const headers = {
        ...authorizationOf({ ...service, organizationSecret: ORGANIZATION_SECRET }),
        'Elements-Account-Id': String(tenants.sibling.accountId),
      };
      const body = await service.get('/users/me/secrets', { headers });
      expect(pluck(body, 'secret')).to.deep.equal([service.userSecret]);
    });

    it('refuse an overlap that is none, or longer than a week', async () => {
      for (const overlapSeconds of [-1, 604_801, 1.5, '60']) {
        const response = await call('/users/me/secrets', { method: 'POST', body: { overlapSeconds } });
        expectProblem(response, 'REQUEST_INVALID', /overlapSeconds/);
      }
    });
  });

  it('leave a row in the audit log of every change, without secrets', async () => {
    const user = await add({ email: 'audited@example.com' });
    await ok(`/users/${user.email}`, { method: 'PATCH', body: { firstName: 'Other' } });
    await ok(`/users/${user.id}/roles/admin`, { method: 'PUT' });
    const { secret } = await ok('/users/me/secrets', { method: 'POST', body: {}, by: user.secret });
    await ok('/users/me/secrets', { by: secret });
    await call(`/users/${user.id}/roles/org-admin`, { method: 'PUT', by: secret });
    await ok(`/users/${user.id}`, { method: 'DELETE' });
    const rows = await withDatabase(service, (knex) =>
      knex('audit_log').orderBy('id', 'desc').limit(7).select('action', 'target', 'target_id', 'status', 'changes'),
    );
    const target = { target: 'user', target_id: String(user.id) };
    const roles = { from: ['default-user'], to: ['admin', 'default-user'] };
    expect(rows.reverse()).to.deep.equal([
      {
        ...target,
        action: 'create',
        status: 200,
        changes: {
          email: { to: 'audited@example.com' },
          firstName: { to: 'First' },
          lastName: { to: user.lastName },
          active: { to: true },
          accountId: { to: 1 },
          roles: { to: ['default-user'] },
        },
      },
      { ...target, action: 'update', status: 200, changes: { firstName: { from: 'First', to: 'Other' } } },
      { ...target, action: 'update', status: 200, changes: { roles } },
      {
        action: 'rotate',
        target: 'secret',
        target_id: rows[3]?.target_id,
        status: 200,
        changes: { overlapSeconds: 86_400 },
      },
      { action: 'show', target: 'secret', target_id: null, status: 200, changes: null },
      { ...target, action: 'update', status: 403, changes: null },
      {
        ...target,
        action: 'delete',
        status: 200,
        changes: {
          email: { from: 'audited@example.com' },
          firstName: { from: 'Other' },
          lastName: { from: user.lastName },
          active: { from: true },
          accountId: { from: 1 },
          roles: { from: ['admin', 'default-user'] },
        },
      },
    ]);
    const stored = await readEverything(service);
    for (const each of [secret, user.secret]) expect(stored).to.not.contain(each);
  });
});
