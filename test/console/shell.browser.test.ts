import { expect } from 'chai';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

describeInBrowser('the shell of the console in a browser', () => {
  const { open } = useBrowser();

  it('goes to pages by the keyboard', async () => {
    const page = await open('/console');
    await page.waitForURL('**/console/instances');
    await page.getByText('No account is connected yet.').waitFor();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.type')).to.equal('search');
    await page.keyboard.press('Escape');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.waitForURL('**/console/profile');
  });

  it('has nothing that axe-core finds wrong', async () => {
    const page = await open('/console/instances');
    await page.getByText('No account is connected yet.').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });
});
