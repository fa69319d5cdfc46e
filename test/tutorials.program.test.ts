import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { FrameLocator, Page } from 'playwright-core';
import { describeInBrowser, useChromium } from './support/browser.ts';
import { type Checkout, createCheckout, openTerminal, type Terminal } from './support/newcomer.ts';
import { isShown, readTutorial } from './support/tutorial.ts';

const ROOT = resolve(import.meta.dirname, '..');

describe('the tutorials, followed from start to end', function tutorials() {
  // The suite of a connector runs three times, and npm starts the service twice.
  this.timeout(600_000);
  let checkout: Checkout;
  let terminal: Terminal;

  before(async () => {
    checkout = await createCheckout();
    await checkout.start();
  });
  after(async () => {
    await checkout.stop();
    await checkout.remove();
  });

  beforeEach(() => {
    terminal = openTerminal(checkout.folder);
  });
  afterEach(() => terminal.close());

  /** Takes the steps of a page, and compares the output that the page shows. Steps outside the terminal are given by section. */
  async function follow(page: string, elsewhere: Readonly<Record<string, () => Promise<void>>> = {}): Promise<void> {
    const sections = readTutorial(readFileSync(join(ROOT, 'docs/tutorials', page), 'utf8'));
    expect(sections.map(({ title }) => title)).to.include.members(Object.keys(elsewhere));
    for (const { title, steps } of sections) {
      let output = '';
      for (const step of steps) {
        if (step.kind === 'other terminal') expect(elsewhere, title).to.have.property(title);
        else if (step.kind === 'command') output = await terminal.run(step.code);
        else if (step.kind === 'file') await writeFile(join((await terminal.run('pwd')).trim(), step.name), step.code);
        else if (!isShown(output, step.text)) expect(output.trim(), title).to.equal(step.text.trim());
      }
      await elsewhere[title]?.();
    }
  }

  for (const page of ['first-query.md', 'first-event.md', 'mappings.md', 'formulas.md'])
    it(`${page} works as it stands`, async () => {
      await follow(page);
    });

  it('connector.md works as it stands, and its code compiles', async () => {
    await follow('connector.md', {
      '4. Run the suite': async () => {
        const tsconfig = {
          extends: './tsconfig.json',
          compilerOptions: { incremental: false },
          include: ['connectors/bookshelf'],
        };
        await writeFile(join(checkout.folder, 'tsconfig.bookshelf.json'), JSON.stringify(tsconfig));
        const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
        await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.bookshelf.json'], { cwd: checkout.folder });
      },
      '6. Start the service': async () => {
        await checkout.stop();
        await checkout.start();
      },
    });
  });

  describeInBrowser('in a browser', () => {
    const browser = useChromium();

    it('connect-page.md works as it stands', async () => {
      await follow('connect-page.md', { '5. Connect an account in the browser': connectInBrowser });
      expect(browser.complaints).to.deep.equal([]);
    });

    async function connectInBrowser() {
      const page = await browser.newPage();
      const frame = await openConnectPage(page);
      await fillIn(frame, 'demo-key');
      expect(await outcomeOn(page)).to.equal('Connected.');
      expect(await page.locator('#employees li').count()).to.equal(5);
      const again = await openConnectPage(page);
      await again.getByRole('button', { name: 'Cancel' }).click();
      expect(await outcomeOn(page)).to.equal('Nothing was connected.');
      const third = await openConnectPage(page);
      await fillIn(third, 'wrong-key');
      await third.getByRole('alert').waitFor();
      await third.getByRole('button', { name: 'Cancel' }).click();
      expect(await outcomeOn(page)).to.equal('Nothing was connected.');
    }
  });
});

/** Waits for the outcome, whatever it is, so that a failure shows what the page says. */
async function outcomeOn(page: Page): Promise<string> {
  const outcome = page.locator('#outcome:not(:empty)');
  await outcome.waitFor();
  return outcome.innerText();
}

async function openConnectPage(page: Page): Promise<FrameLocator> {
  await page.goto('http://localhost:3000');
  await page.getByRole('button', { name: 'Connect BambooHR' }).click();
  return page.frameLocator('iframe');
}

async function fillIn(frame: FrameLocator, key: string): Promise<void> {
  await frame.getByLabel('API key', { exact: true }).fill(key);
  await frame.getByLabel('Company name').fill('acme');
  await frame.getByRole('button', { name: 'Connect', exact: true }).click();
}
