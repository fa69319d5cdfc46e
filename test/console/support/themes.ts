import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { RULES_OF_COLORS, violationsOf } from './browser.ts';

/** Nothing that axe-core finds wrong with the page as it is now: by all rules in light, and by those of colors in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violationsOf(page, RULES_OF_COLORS), 'dark').to.deep.equal([]);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await violationsOf(page), 'light').to.deep.equal([]);
}
