import { expect } from 'chai';
import { type ApiAnswer, startTestApp, useApp } from '../support/app.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { authorizationOf, createUser, readEverything, useTenants, withDatabase } from './support/tenants.ts';

const PATH = '/organizations/me/invitations';
const PASSWORD = 'violet anchor drifts past noon';
const GONE = 'This invitation was used or revoked, has expired, or its link is incomplete. Ask for a new one.';

describe('an invitation', () => {
  const service = useApp();
  const tenants = useTenants(service);
  let invited = 0;
  const nextEmail = () => `invited-${++invited}@example.com`;

  /** As a browser sends it: without secrets. */
  async function browse(path: string, body: object, { app } = service): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(app.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
  const invite = async (body: object = {}, headers = {}) => {
    const response = await service.send('POST', PATH, { email: nextEmail(), ...body }, { headers });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    const { url, ...shown } = response.body;
    return { url, shown, token: url.slice(url.lastIndexOf('#') + 1) };
  };
  const show = (token: string) => browse('/console/invitation', { token });
  const accept = (token: string, more: object = {}, by = service) =>
    browse(
      '/console/invitation/acceptance',
      { token, firstName: 'Grace', lastName: 'Hopper', password: PASSWORD, ...more },
      by,
    );
  const list = async (headers = {}) => await service.get(`${PATH}?pageSize=2000`, { headers });

  it('is a link to the console, answered once, whose key no server is sent', async () => {
    const email = nextEmail();
    const { url, shown } = await invite({ email, roles: ['admin', 'default-user'] });
    expect(url).to.match(new RegExp(`^${service.app.url}/console/invitation#[\\w-]{43}$`));
    expect(shown).to.deep.include({
      email,
      accountId: 1,
      roles: ['admin', 'default-user'],
      status: 'open',
      invitedBy: 1,
    });
    expect(Date.parse(shown.expiresDate) - Date.parse(shown.createdDate)).to.equal(7 * 24 * 3_600_000);
    expect(await list()).to.deep.include(shown);
    const found = await service.call(
      `${PATH}?${new URLSearchParams({ where: `email = '${email.toUpperCase()}' AND status = 'open'` })}`,
    );
    expect(found.body).to.deep.equal([shown]);
  });

  it('shows who invites and where to, and makes a user who logs in with the chosen password', async () => {
    const email = nextEmail();
    const { token, shown } = await invite({ email });
    expect((await show(token)).body).to.deep.equal({
      email,
      organizationName: 'First organization',
      accountName: 'First account',
      inviterName: 'First User',
      expiresDate: shown.expiresDate,
    });
    const { status, body } = await accept(token);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ organizationId: 1, email });
    const user = await service.get(`/users/${body.userId}`);
    expect(user).to.include({ email, firstName: 'Grace', lastName: 'Hopper', active: true, accountId: 1 });
    expect(user.roles).to.deep.equal(['default-user']);
    const session = await browse('/console/session', { email, password: PASSWORD });
    expect(session.body.user).to.include({ email, hasPassword: true });
    const [ended] = (await list()).filter(({ id }: { readonly id: number }) => id === shown.id);
    expect(ended).to.include({ status: 'accepted', userId: body.userId });
  });

  it('works once, however many accept it at the same time, also on several processes', async () => {
    const other = await startTestApp({ DATABASE_URL: service.databaseUrl });
    try {
      const email = nextEmail();
      const { token } = await invite({ email });
      const services = [service, { ...service, app: other.app }, service, { ...service, app: other.app }];
      const answers = await Promise.all(services.map((by) => accept(token, {}, by)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      for (const response of answers) if (response.status !== 200) expectProblem(response, 'NOT_FOUND', GONE);
      expectProblem(await accept(token), 'NOT_FOUND', GONE);
      expectProblem(await show(token), 'NOT_FOUND', GONE);
      expect(await service.get(`/users?${new URLSearchParams({ where: `email = '${email}'` })}`)).to.have.length(1);
    } finally {
      await other.stop();
    }
  });

  it('stays open after a password that is refused', async () => {
    const { token } = await invite();
    const response = await accept(token, { password: 'password12345' });
    expectProblem(response, 'REQUEST_INVALID');
    expect(Object.keys(faultsOf(response))).to.deep.equal(['body.password']);
    expect((await accept(token)).status).to.equal(200);
  });

  it('is revoked, once', async () => {
    const { token, shown } = await invite();
    const revoke = () => service.send('DELETE', `${PATH}/${shown.id}`);
    expect((await revoke()).body).to.deep.include({ ...shown, status: 'revoked' });
    expectProblem(await revoke(), 'CONFLICT', `Invitation ${shown.id} was accepted, revoked, or has expired.`);
    expectProblem(await accept(token), 'NOT_FOUND', GONE);
    expectProblem(await service.send('DELETE', `${PATH}/987654`), 'NOT_FOUND', 'There is no invitation 987654.');
  });

  it('expires', async () => {
    const { token, shown } = await invite({ expiresIn: 300 });
    expect(Date.parse(shown.expiresDate) - Date.parse(shown.createdDate)).to.equal(300_000);
    await withDatabase(service, (knex) =>
      knex('user_invitation')
        .where({ id: shown.id })
        .update({ expires_at: knex.raw("now() - interval '1 second'") }),
    );
    expectProblem(await show(token), 'NOT_FOUND', GONE);
    expectProblem(await accept(token), 'NOT_FOUND', GONE);
    const where = new URLSearchParams({ where: `status = 'expired' AND id = ${shown.id}` });
    expect((await service.get(`${PATH}?${where}`))[0]).to.include({ id: shown.id, status: 'expired' });
    expectProblem(await service.send('POST', PATH, { email: nextEmail(), expiresIn: 299 }), 'REQUEST_INVALID');
  });

  it('lets nobody in whom its maker could not add, then and now', async () => {
    const above = await tenants.colleague.send('POST', PATH, { email: nextEmail(), roles: ['org-admin'] });
    expectProblem(above, 'FORBIDDEN');
    const maker = await createUser(service, { accountId: 1, name: 'maker', role: 'admin' });
    const [first, second] = [await invite({}, authorizationOf(maker)), await invite({}, authorizationOf(maker))];
    await service.send('PUT', `/users/${maker.id}/roles/default-user`);
    await service.send('DELETE', `/users/${maker.id}/roles/admin`);
    expectProblem(await accept(first.token), 'NOT_FOUND', GONE);
    await service.send('PUT', `/users/${maker.id}/roles/admin`);
    expect((await accept(first.token)).status).to.equal(200);
    await service.send('PATCH', `/users/${maker.id}`, { active: false });
    expectProblem(await show(second.token), 'NOT_FOUND', GONE);
  });

  it('is of its account: nobody else lists or revokes it', async () => {
    const { shown } = await invite();
    for (const tenant of [tenants.stranger, tenants.sibling]) {
      const headers = authorizationOf(tenant);
      expect(await list(headers)).to.deep.equal([]);
      const revoked = await service.call(`${PATH}/${shown.id}`, { method: 'DELETE', headers });
      expectProblem(revoked, 'NOT_FOUND', `There is no invitation ${shown.id}.`);
    }
    const headers = { 'elements-account-id': String(tenants.sibling.accountId) };
    const other = await invite({}, headers);
    expect(other.shown.accountId).to.equal(tenants.sibling.accountId);
    expect(await list(headers)).to.deep.equal([other.shown]);
    expect(await list()).to.not.deep.include(other.shown);
  });

  it('is not made for who is a user already, nor for what is no e-mail address', async () => {
    const taken = await service.send('POST', PATH, { email: 'ADMIN@localhost' });
    expectProblem(taken, 'CONFLICT', 'A user with the e-mail ADMIN@localhost already exists in the organization.');
    expectProblem(await service.send('POST', PATH, { email: 'nobody' }), 'REQUEST_INVALID');
    const { token, shown } = await invite();
    await service.send('GET', '/users');
    await service.send('POST', '/organizations/users', { email: shown.email, firstName: 'A', lastName: 'B' });
    const message = `A user with the e-mail ${shown.email} already exists in the organization.`;
    expectProblem(await accept(token), 'CONFLICT', message);
  });

  it('is one of 500 that are open in an account, even at the same moment', async () => {
    await withDatabase(service, (knex) =>
      knex.raw(
        `insert into user_invitation (account_id, inviter_id, email_address, roles, key_hash, created_at, expires_at)
         select ?, 1, 'x@example.com', '{}', sha256(n::text::bytea), now(), now() + interval '1 day'
         from generate_series(1, 499 - (select count(*)::int from user_invitation where account_id = ? and status = 'open' and expires_at > now())) n`,
        [tenants.colleague.accountId, tenants.colleague.accountId],
      ),
    );
    const atOnce = [1, 2, 3].map(() => service.send('POST', PATH, { email: nextEmail() }));
    const refused = (await Promise.all(atOnce)).filter(({ status }) => status !== 200);
    expect(refused).to.have.length(2);
    for (const full of refused) {
      expectProblem(full, 'CONFLICT', /^The account has 500 open invitations, the maximum\./);
    }
    await withDatabase(service, (knex) => knex('user_invitation').where({ email_address: 'x@example.com' }).delete());
  });

  it('leaves its key and the password in no table and no line of the log', async () => {
    const { token } = await invite();
    await show(token);
    await accept(token, { password: 'password12345' });
    await accept(token);
    const kept = (await readEverything(service)) + service.logged.join('\n');
    expect(kept).to.include('invited-1@example.com').and.to.not.include(token).and.to.not.include(PASSWORD);
  });

  it('says so to whoever asks too often', async () => {
    const answers = await Promise.all(Array.from({ length: 70 }, () => show('x'.repeat(43))));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).to.not.be.empty;
    for (const response of limited) expectProblem(response, 'RATE_LIMITED');
  });
});
