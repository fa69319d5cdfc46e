import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { describeInBrowser, logIn, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const PASSWORD = 'quiet harbour seventeen';

describeInBrowser('the profile in a browser', () => {
  const { service, newContext, open } = useBrowser();

  const callAs = async (user: string, organization = ORGANIZATION_SECRET) =>
    (await service.call('/users/me', { headers: { authorization: `User ${user}, Organization ${organization}` } }))
      .status;

  async function rotate(page: Page, title: string): Promise<string> {
    const card = page.getByRole('region', { name: title, exact: true }).first();
    await card.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
    const current = card.getByRole('row').filter({ hasText: 'current' });
    await current.getByRole('button', { name: 'Reveal' }).click();
    return (await current.locator('code').textContent()) ?? '';
  }

  it('rotates both secrets, and those from before are valid beside them', async () => {
    const page = await open('/console/profile');
    const user = await rotate(page, 'Your secret');
    const organization = await rotate(page, 'Secret of the organization');
    expect(user).to.not.equal(USER_SECRET);
    expect(await callAs(user)).to.equal(200);
    expect(await callAs(USER_SECRET)).to.equal(200);
    expect(await callAs(user, organization)).to.equal(200);
    const header = page.getByRole('region', { name: 'Call the API' }).locator('pre').first();
    expect(await header.textContent()).to.equal('Authorization: User ••••••••, Organization ••••••••');
    const { body } = await service.call('/audit-logs/authentication', { query: { where: "action = 'rotate'" } });
    expect(body).to.have.length(2);
  });

  it('shows no secret before it is asked for, and asks the service then only', async () => {
    const count = async () =>
      (await service.call('/audit-logs/authentication', { query: { where: "action = 'show'" } })).body.length;
    const before = await count();
    const page = await open('/console/profile');
    const card = page.getByRole('region', { name: 'Your secret' });
    expect(await card.locator('code').count()).to.equal(0);
    await card.getByRole('button', { name: 'Show' }).click();
    await card.getByText('current').waitFor();
    expect(await card.locator('code').first().textContent()).to.match(/^•+$/);
    expect(await count()).to.equal(before + 1);
  });

  it('says at the field what is wrong with a password, sets one, and ends other sessions', async () => {
    const other = await (await newContext()).newPage();
    await logIn(other, service.app.url);
    const page = await open('/console/profile');
    const card = page.getByRole('region', { name: 'Password' });
    await card.getByLabel('New password').fill('short');
    await card.getByRole('button', { name: 'Set the password' }).click();
    await card.locator('.fault').waitFor();
    expect(await card.getByLabel('New password').getAttribute('aria-invalid')).to.equal('true');
    await card.getByLabel('New password').fill(PASSWORD);
    await card.getByRole('button', { name: 'Set the password' }).click();
    await card.getByText('your other sessions have ended').waitFor();
    await card.getByLabel('Current password').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    const email = (await service.call('/users/me')).body.email;
    await other.getByLabel('E-mail address').fill(email);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Log in', exact: true }).click();
    await other.getByText(email).waitFor();
  });

  it('changes the own names, and the shell tells them', async () => {
    const page = await open('/console/profile');
    const card = page.getByRole('region', { name: 'Your names' });
    await card.getByLabel('E-mail address').fill('ada@example.com');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Saved').waitFor();
    await page.locator('header').getByText('ada@example.com').waitFor();
    expect((await service.call('/users/me')).body.email).to.equal('ada@example.com');
  });

  it('has nothing that axe-core finds wrong', async () => {
    const page = await open('/console/profile');
    await page.getByRole('region', { name: 'Your secret' }).getByRole('button', { name: 'Show' }).click();
    await page.getByText('current', { exact: true }).waitFor();
    await expectAccessible(page);
  });
});
