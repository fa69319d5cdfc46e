import { expect } from 'chai';
import { withKey } from '../api/support/access-keys.ts';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

describeInBrowser('the access keys of the console in a browser', () => {
  const { open, service } = useBrowser();

  it('are made, rotated and deleted, and each is shown once', async () => {
    const { id } = await service.createInstance('bamboohr', BAMBOOHR);
    const page = await open('/console/keys');
    await page.getByText('There are no keys yet.').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'New key' }).first().click();
    await page.getByRole('textbox', { name: /^Name/ }).fill('<b>report</b>');
    await page.getByRole('listbox', { name: /^Instances/ }).selectOption(String(id));
    await page.getByRole('textbox', { name: /^Objects/ }).fill('employees');
    await page.getByLabel('Federated: lists over several instances').check();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog');
    const first = (await dialog.locator('.note code').textContent()) ?? '';
    expect(first).to.match(/^ck_[0-9A-Za-z]{47}$/);
    expect((await withKey(service, first)('/employees')).status).to.equal(200);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await page.getByText(`ck_…${first.slice(-4)}`).waitFor();
    await page.getByText(`instances #${id}; objects employees`).waitFor();
    expect(await page.content()).to.not.contain(first);
    const [key] = (await service.call('/keys')).body;
    expect(key).to.deep.include({
      name: '<b>report</b>',
      access: 'read',
      allow: ['federated'],
      objects: ['employees'],
    });

    await page.getByRole('button', { name: 'Rotate the key <b>report</b>' }).click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const second = (await dialog.locator('.note code').textContent()) ?? '';
    expect(second).to.match(/^ck_/).and.not.equal(first);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText(`ck_…${second.slice(-4)}`).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);

    await page.getByRole('button', { name: 'Delete the key <b>report</b>' }).click();
    await dialog.getByRole('button', { name: 'Delete the key' }).click();
    await page.getByText('There are no keys yet.').waitFor();
    expect((await withKey(service, second)('/employees')).status).to.equal(401);
  });
});
