import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type Checkout, createCheckout, openTerminal, type Terminal } from './support/newcomer.ts';
import { isShown, readTutorial } from './support/tutorial.ts';

const ROOT = resolve(import.meta.dirname, '..');

describe('the tutorials, followed from start to end', function tutorials() {
  this.timeout(180_000);
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

  /** Does what a page says, and compares what it shows. */
  async function follow(page: string): Promise<void> {
    let output = '';
    for (const step of readTutorial(readFileSync(join(ROOT, 'docs/tutorials', page), 'utf8'))) {
      if (step.kind === 'command') output = await terminal.run(step.code);
      else if (step.kind === 'output')
        expect(isShown(output, step.text), `${step.text}\nbut:\n${output}`).to.equal(true);
      else await writeFile(join((await terminal.run('pwd')).trim(), step.name), step.code);
    }
  }

  for (const page of ['first-query.md', 'first-event.md'])
    it(`works as ${page} says`, async () => {
      await follow(page);
    });
});
