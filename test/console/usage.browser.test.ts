import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const CALLS = 6;
const FAILED = 2;

/** What is used of a canvas. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly getContext: (kind: '2d') => {
    readonly getImageData: (...area: readonly number[]) => { readonly data: readonly number[] };
  };
}

describeInBrowser('the usage in a browser', () => {
  const { open, service } = useBrowser({}, { recorderOptions: { flushMs: 20 } });

  before(async () => {
    const { token } = await service.createInstance('bamboohr', BAMBOOHR);
    for (let call = 0; call < CALLS - FAILED; call++) await service.call('/employees/105', { token });
    for (let call = 0; call < FAILED; call++) await service.call('/employees/nobody', { token });
    await until(async () => {
      const { body } = await service.call('/usage/analytics/activity/elements');
      return body.some(({ count }: { readonly count: number }) => count >= CALLS);
    });
  });

  const chart = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  /** The colours that are drawn, those that are half clear left out. */
  const coloursOf = (page: Page, name: string): Promise<readonly string[]> =>
    chart(page, name)
      .locator('canvas')
      .evaluate((element) => {
        const canvas: Canvas = Object(element);
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const found = new Set<string>();
        for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join());
        return [...found];
      });

  /** The numbers of a chart: of each row the cells. */
  async function numbersOf(page: Page, name: string): Promise<readonly (readonly string[])[]> {
    const place = chart(page, name);
    if ((await place.locator('details[open]').count()) === 0) await place.getByText('Show the numbers').click();
    const rows = place.locator('tbody tr');
    await rows.first().waitFor();
    return rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));
  }

  it('draws what was called, and tells the same as a table', async () => {
    const page = await open('/console/usage');
    await chart(page, 'Requests').locator('canvas').waitFor();
    const outcomes = await numbersOf(page, 'Requests');
    const sum = (place: number) => outcomes.reduce((total, cells) => total + Number(cells[place]), 0);
    // What a page asks for and hangs up on is a failure, too.
    expect(sum(1)).to.be.at.least(FAILED);
    expect(sum(2)).to.be.at.least(CALLS - FAILED);
    // --bad and --accent, as they are in the light theme.
    expect(await coloursOf(page, 'Requests'))
      .to.include('163,33,26')
      .and.include('11,92,173');

    const plot = chart(page, 'Requests').locator('.u-over');
    const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
    await plot.hover({ position: { x: width - 2, y: height / 2 } });
    await chart(page, 'Requests')
      .locator('.legend')
      .getByText(/^\d{4}-\d\d-\d\d \d\d:00$/)
      .waitFor();
    expect(await plot.evaluate((element) => Object(globalThis).getComputedStyle(element).position)).to.equal(
      'absolute',
    );

    const elements = await numbersOf(page, 'By element');
    const head = await chart(page, 'By element').locator('th').allInnerTexts();
    const place = head.indexOf('BambooHR');
    expect(elements.reduce((total, cells) => total + Number(cells[place]), 0)).to.equal(CALLS);

    const [times = []] = await numbersOf(page, 'Duration');
    expect(times).to.have.length(4);
    expect(
      times.slice(1).every((text) => /^[\d.]+ m?s$/.test(text)),
      times.join(),
    ).to.equal(true);
  });

  it('leaves out what the console reads to show itself, until it is asked for', async () => {
    const page = await open('/console/usage');
    const requests = async () => {
      const figure = page.locator('.card', { hasText: 'Requests' }).locator('.figure').first();
      return Number((await figure.innerText()).replaceAll(/\D/g, ''));
    };
    await chart(page, 'Requests').locator('canvas').waitFor();
    await page.getByText('The figures leave out the reads of the console itself').waitFor();
    const without = await requests();
    await page.getByLabel("The console's own reads").check();
    await page.waitForURL(/console=1/);
    await until(async () => (await requests()) > without);
    expect(await page.getByText('The figures leave out the reads of the console itself').count()).to.equal(0);
    await page.getByLabel("The console's own reads").uncheck();
    await until(async () => (await requests()) === without);
  });

  it('draws anew in the colours of another theme', async () => {
    const page = await open('/console/usage');
    await chart(page, 'Requests').locator('canvas').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(async () => (await coloursOf(page, 'Requests')).includes('255,155,145'));
    expect(await coloursOf(page, 'Requests')).not.to.include('163,33,26');
    await page.emulateMedia({ colorScheme: 'light' });
    await until(async () => (await coloursOf(page, 'Requests')).includes('163,33,26'));
  });

  it('has nothing that axe-core finds wrong', async () => {
    const page = await open('/console/usage');
    await chart(page, 'Requests').getByText('Show the numbers').click();
    await expectAccessible(page);
  });

  it('shows another time, one element, and what is counted beside requests', async () => {
    const page = await open('/console/usage');
    await page.getByRole('button', { name: 'Hour', exact: true }).click();
    await page.getByText('Counted by minute').waitFor();
    await page.waitForURL(/range=hour/);
    await page.getByRole('combobox', { name: 'Element' }).selectOption('BambooHR');
    await page.waitForURL(/element=BambooHR/);
    await until(async () => (await chart(page, 'By element').locator('.legend').innerText()).includes(String(CALLS)));
    expect(await chart(page, 'By element').locator('.legend').innerText()).not.to.include('without an instance');

    await page.getByRole('combobox', { name: 'Metric' }).selectOption('element-instances-created');
    const created = chart(page, 'Instances created');
    await created.locator('canvas').waitFor();
    expect(await created.locator('.legend').innerText()).to.match(/bamboohr 1$/);
    await page.getByRole('combobox', { name: 'Whose' }).selectOption('organization');
    await created
      .getByText(/First account #1/)
      .first()
      .waitFor();
    await page.reload();
    await created
      .getByText(/First account #1/)
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Hour' }).getAttribute('aria-pressed')).to.equal('true');
  });
});
