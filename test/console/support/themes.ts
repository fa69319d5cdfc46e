import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { violationsOf } from './browser.ts';

/** Nothing that axe-core finds wrong with the page as it is now, in light and dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsOf(page), colorScheme).to.deep.equal([]);
  }
}
