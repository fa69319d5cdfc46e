import { expect } from 'chai';
import { describeInBrowser, useBrowser } from './support/browser.ts';

/** Bytes on the wire, of everything that the log-in and the first page need. */
const MOST_BYTES = 150_000;
const MOST_REQUESTS = 20;

describeInBrowser('the first load of the console', () => {
  const { service, newContext } = useBrowser();

  it('is small, from this service alone, and kept by the browser', async () => {
    const context = await newContext();
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    const urls: string[] = [];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    session.on('Network.requestWillBeSent', ({ request }) => {
      if (!request.url.startsWith('data:')) urls.push(request.url);
    });
    await page.goto(`${service.app.url}/console/instances`);
    await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(bytes).to.be.within(1, MOST_BYTES);
    expect(urls.length).to.be.at.most(MOST_REQUESTS);
    expect(urls.filter((url) => !url.startsWith(`${service.app.url}/`))).to.deep.equal([]);

    const files = urls.filter((url) => url.includes('/console/assets/'));
    expect(files).to.not.deep.equal([]);
    for (const file of files) {
      const { status, headers } = await fetch(file);
      expect(status, file).to.equal(200);
      expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    }
    bytes = 0;
    await page.reload({ waitUntil: 'networkidle' });
    expect(bytes).to.be.below(MOST_BYTES / 10);
  });
});
