import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ORGANIZATION_SECRET } from '../support/app.ts';
import { logInToConsole } from '../support/chromium.ts';
import { describeInBrowser, logIn, useBrowser, violationsOf } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const PASSWORD = 'quiet harbour seventeen';
const HOSTILE = '<img src=x onerror="alert(1)">';

describeInBrowser('the organization in a browser', () => {
  const { service, newContext, open } = useBrowser();

  /** A page of somebody else. */
  async function logInAs(userSecret: string): Promise<Page> {
    const page = await (await newContext()).newPage();
    const secrets = { userSecret, organizationSecret: ORGANIZATION_SECRET };
    await logInToConsole(page, { origin: service.app.url, secrets });
    return page;
  }

  async function createUser(email: string, roles = ['default-user']): Promise<string> {
    const body = { email, firstName: 'Grace', lastName: 'Hopper', roles };
    return (await service.call('/organizations/users', { method: 'POST', body })).body.secret;
  }

  it('adds a user, who logs in with the secret, sets a password and logs in with that', async () => {
    const page = await open('/console/organization/users');
    await page.getByRole('button', { name: 'Add a user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a user' });
    await dialog.getByLabel('E-mail address').fill('ada@example.com');
    await dialog.getByLabel('First name').fill('Ada');
    await dialog.getByLabel('Last name').fill('Lovelace');
    await dialog.getByRole('button', { name: 'Add the user' }).click();
    const added = page.getByRole('dialog', { name: 'Ada Lovelace was added' });
    const secret = (await added.locator('code').textContent()) ?? '';
    expect(await violationsOf(page)).to.deep.equal([]);
    await added.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'ada@example.com' }).waitFor();

    const hers = await logInAs(secret);
    await hers.goto(`${service.app.url}/console/profile`);
    await hers.getByLabel('New password').fill(PASSWORD);
    await hers.getByRole('button', { name: 'Set the password' }).click();
    await hers.getByText('your other sessions have ended').waitFor();
    await hers.getByRole('button', { name: 'Log out' }).click();
    // The profile has a field of this name, too.
    await hers.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    await hers.getByLabel('E-mail address').fill('ada@example.com');
    await hers.getByLabel('Password').fill(PASSWORD);
    await hers.getByRole('button', { name: 'Log in', exact: true }).click();
    await hers.locator('header').getByText('ada@example.com').waitFor();
  });

  it('invites a teammate by a link, who joins with a password, once', async () => {
    const page = await open('/console/organization/users');
    await page.getByRole('button', { name: 'Invite a teammate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a teammate' });
    await dialog.getByLabel('E-mail address').fill('joined@example.com');
    await dialog.getByRole('button', { name: 'Create the link' }).click();
    const made = page.getByRole('dialog', { name: 'The link for joined@example.com' });
    const url = (await made.locator('code').textContent()) ?? '';
    await made.getByRole('button', { name: /^Copy/ }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await made.getByRole('button', { name: 'Done' }).click();
    const invitations = page.getByRole('region', { name: 'Open invitations' });
    await invitations.getByText('joined@example.com').waitFor();

    const asked: string[] = [];
    const context = await newContext({ expected: /status of (?:400|404)/ });
    context.on('request', (request) => asked.push(request.url()));
    const hers = await context.newPage();
    await hers.goto(url);
    await hers.getByText('First User invites you to the account First account of First organization.').waitFor();
    await expectAccessible(hers);
    await hers.getByLabel('First name').fill('Grace');
    await hers.getByLabel('Last name').fill('Hopper');
    await hers.getByLabel('Password').fill('grace hopper');
    await hers.getByRole('button', { name: 'Join' }).click();
    await hers.getByRole('alert').getByText('REQUEST_INVALID').waitFor();
    await hers.getByLabel('Password').fill(PASSWORD);
    await hers.getByRole('button', { name: 'Join' }).click();
    await hers.locator('header').getByText('joined@example.com').waitFor();
    expect(new URL(hers.url()).pathname)
      .to.match(/^\/console/)
      .and.not.include('invitation');
    expect(asked.filter((each) => each.includes(url.slice(url.indexOf('#') + 1)))).to.deep.equal([]);

    const late = await context.newPage();
    await late.goto(url);
    await late.getByRole('alert').getByText('This invitation was used or revoked').waitFor();
    const other = { email: 'next@example.com' };
    const next = await service.call('/organizations/me/invitations', { method: 'POST', body: other });
    await late.goto(next.body.url);
    await late.getByText('You log in as next@example.com').waitFor();
    await service.call(`/organizations/me/invitations/${next.body.id}`, { method: 'DELETE' });
    await page.reload();
    await page.getByRole('link', { name: 'joined@example.com' }).waitFor();
    expect(await invitations.count()).to.equal(0);
  });

  it('revokes an invitation', async () => {
    const email = 'katherine@example.com';
    await service.call('/organizations/me/invitations', { method: 'POST', body: { email } });
    const page = await open('/console/organization/users');
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByRole('region', { name: 'Open invitations' }).waitFor({ state: 'detached' });
    const { body } = await service.call('/organizations/me/invitations');
    expect(body.at(-1)).to.include({ email, status: 'revoked' });
  });

  it('says that a session ended, and goes on where it was', async () => {
    const context = await newContext({ expected: /status of 401/ });
    const page = await context.newPage();
    await logIn(page, service.app.url);
    const here = `${service.app.url}/console/organization/audit?method=PUT`;
    await page.goto(here);
    await page.getByRole('heading', { name: 'First organization' }).waitFor();
    await context.clearCookies();
    // Whatever the page asks for next; it may have done so already.
    await page.evaluate(`document.querySelector('.tabs a[href$="/users"]')?.click()`);
    await page.getByText('Your session ended. Log in again.').waitFor();
    await expectAccessible(page);
    // Also when the page is loaded again.
    await page.goto(here);
    await page.getByText('Your session ended. Log in again.').waitFor();
    await page.getByLabel('E-mail address').fill('joined@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { name: 'First organization' }).waitFor();
    expect(page.url()).to.equal(here);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    expect(await page.getByText('Your session ended.').count()).to.equal(0);
    await page.reload();
    await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    expect(await page.getByText('Your session ended.').count()).to.equal(0);
  });

  it('gives and takes roles, deactivates and deletes a user, but not oneself', async () => {
    const secret = await createUser('roles@example.com');
    const page = await open('/console/organization/users?q=ROLES');
    await page.getByRole('link', { name: 'roles@example.com' }).click();
    const roles = page.getByRole('region', { name: 'Roles of the user' });
    const state = async () => (await service.call('/users/roles@example.com')).body;
    await roles.getByLabel(/^Account administrator/).check();
    await roles.getByLabel(/^User /).uncheck();
    await roles.locator('input:enabled').first().waitFor();
    await roles.getByLabel(/^User /).check();
    await roles.locator('input:enabled').first().waitFor();
    expect((await state()).roles).to.deep.equal(['admin', 'default-user']);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Deactivate the user' }).click();
    await page.getByText('inactive', { exact: true }).waitFor();
    const authorization = `User ${secret}, Organization ${ORGANIZATION_SECRET}`;
    expect((await service.call('/users/me', { headers: { authorization } })).status).to.equal(401);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the user' }).click();
    await page.waitForURL('**/organization/users');
    expect((await service.call('/users/roles@example.com')).status).to.equal(404);

    const { id } = (await service.call('/users/me')).body;
    await page.goto(`${service.app.url}/console/organization/users/${id}`);
    const own = page.getByLabel(/^Organization administrator/);
    await own.waitFor();
    expect(await own.isDisabled()).to.equal(true);
    expect(await page.getByRole('button', { name: 'Delete' }).getAttribute('title')).to.contain(
      'This is your own user',
    );
  });

  it('takes a privilege from a role, and who has it sees the action no more', async () => {
    const secret = await createUser('grace@example.com');
    const hers = await logInAs(secret);
    await hers.goto(`${service.app.url}/console/connect`);
    await hers.getByRole('link', { name: 'New session' }).waitFor();
    expect(await hers.getByRole('button', { name: 'Switch account' }).count()).to.equal(0);
    await hers.goto(`${service.app.url}/console/organization`);
    const tabs = hers.getByRole('navigation', { name: 'Parts of the organization' });
    await tabs.getByText('General').waitFor();
    expect(await tabs.getByRole('link').allTextContents()).to.deep.equal(['General']);
    expect(await hers.getByRole('button', { name: 'Save' }).getAttribute('title')).to.contain('manageOrganization');

    const page = await open('/console/organization/roles');
    await page.getByLabel('User: Create, change and delete element instances').uncheck();
    await page.getByText('User: 1 changed').waitFor();
    await page.getByRole('button', { name: 'Save the roles' }).click();
    await page.getByText('User: 1 changed').waitFor({ state: 'detached' });
    await hers.goto(`${service.app.url}/console/connect`);
    await hers.getByText('Your roles do not include connect sessions. Ask an administrator.').waitFor();
    expect(await hers.getByRole('link', { name: 'New session' }).count()).to.equal(0);
  });

  it('shows an administrator of an account that alone, and lets him add users to it', async () => {
    const theirs = await logInAs(await createUser('admin@example.com', ['admin']));
    await theirs.goto(`${service.app.url}/console/organization/users`);
    const tabs = theirs.getByRole('navigation', { name: 'Parts of the organization' });
    await tabs.getByText('Users').waitFor();
    expect(await tabs.getByRole('link').allTextContents()).to.deep.equal(['General', 'Accounts', 'Users', 'Audit log']);
    await theirs.getByRole('button', { name: 'Add a user' }).click();
    const dialog = theirs.getByRole('dialog', { name: 'Add a user' });
    expect(await dialog.getByLabel(/^Organization administrator/).isDisabled()).to.equal(true);
    expect(await dialog.getByLabel('Account', { exact: true }).count()).to.equal(0);
    await dialog.getByLabel('E-mail address').fill('admin@example.com');
    await dialog.getByLabel('First name').fill('Alan');
    await dialog.getByLabel('Last name').fill('Turing');
    await dialog.getByRole('button', { name: 'Add the user' }).click();
    await dialog.getByRole('alert').getByText('CONFLICT').waitFor();
    await dialog.getByLabel('E-mail address').fill('alan@example.com');
    await dialog.getByRole('button', { name: 'Add the user' }).click();
    await theirs.getByRole('dialog', { name: 'Alan Turing was added' }).waitFor();
    await theirs.goto(`${service.app.url}/console/organization/secrets`);
    await theirs.getByText('This page does not exist, or your roles do not include it.').waitFor();
  });

  it('adds, renames, rests and deletes an account', async () => {
    const page = await open('/console/organization/accounts');
    await page.getByRole('button', { name: 'Add an account' }).click();
    await page.getByRole('dialog').getByLabel('External id').fill('hostile');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).fill(HOSTILE);
    await page.getByRole('button', { name: 'Add the account' }).click();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Acme');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('Its polls stop immediately').waitFor();
    await page.getByRole('button', { name: 'Deactivate the account' }).click();
    await page.getByText('inactive', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('You cannot undo this.').waitFor();
    await page.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByRole('link', { name: 'First account' }).waitFor();
    expect((await service.call('/accounts/hostile')).status).to.equal(404);
  });

  it('tells in the audit log who did what, and what became of it', async () => {
    const page = await open('/console/organization/audit?kind=settings');
    const name = `Renamed ${HOSTILE}`;
    await service.call('/organizations/me', { method: 'PATCH', body: { name } });
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'update organization' }).getByRole('link').first().click();
    const entry = page.getByRole('dialog', { name: 'Entry of the audit log' });
    await entry.getByRole('cell', { name, exact: true }).waitFor();
    await entry.getByRole('cell', { name: 'First organization' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.reload();
    await entry.getByRole('cell', { name, exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL('**/organization/audit?kind=settings');
    await page.getByRole('textbox', { name: 'User', exact: true }).fill('nobody@example.com');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
    await page.getByRole('textbox', { name: 'User', exact: true }).fill('');
    await page.getByLabel('Where').fill("action = 'delete'");
    await page.getByLabel('Kind').selectOption('everything');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('row').filter({ hasText: 'delete account' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'delete user' }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'create' }).count()).to.equal(0);
  });

  it('registers connect origins, and says what is wrong with one', async () => {
    const page = await open('/console/organization/connect-origins');
    await page.getByLabel('Origins, one per line').fill('https://app.example.com\nftp://example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('REQUEST_INVALID').waitFor();
    await page.getByLabel('Origins, one per line').fill('https://app.example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').waitFor();
    const { body } = await service.call('/organizations/me/connect-origins');
    expect(body.origins).to.deep.equal(['https://app.example.com']);
  });

  it('gives the connect page a name, a logo, a color and a language, and says what is wrong with one', async () => {
    const page = await open('/console/organization/connect-branding');
    await page.getByLabel('Name of the product').fill('Acme Books');
    await page.getByLabel('Color').fill('violet');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must match pattern "^#[0-9A-Fa-f]{6}$"').first().waitFor();
    await page.getByLabel('Color').fill('#7a1fa2');
    const button = "document.querySelector('[aria-label=Preview] button')";
    expect(await page.evaluate(`getComputedStyle(${button}).backgroundColor`)).to.equal('rgb(122, 31, 162)');
    await page.getByLabel('Language').selectOption('German');
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>');
    await page.getByLabel('Logo file').setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: svg });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Logo', { exact: true }).and(page.locator('[value^=data]')).waitFor();
    const { body } = await service.call('/organizations/me/connect-branding');
    const logoUrl = `data:image/svg+xml;base64,${svg.toString('base64')}`;
    expect(body).to.deep.equal({ name: 'Acme Books', color: '#7a1fa2', language: 'de', logoUrl });
  });
});
