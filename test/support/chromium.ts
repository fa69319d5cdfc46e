import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** Returns the path of Chromium: `CHROMIUM`, or the usual place. Undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM, '/usr/bin/chromium'].find((path) => path !== undefined && existsSync(path));
}

/** A user who logs in to the console. */
export interface ConsoleUser {
  /** Origin of the service, without a slash at the end. */
  readonly origin: string;
  readonly secrets: Readonly<Record<'userSecret' | 'organizationSecret', string>>;
}

/** Logs in to the console with secrets, and waits for its first page. */
export async function logInToConsole(page: Page, { origin, secrets }: ConsoleUser): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
  const toSecrets = page.getByRole('button', { name: 'Log in with your secrets' });
  if (await toSecrets.isVisible()) await toSecrets.click();
  await page.getByLabel('User secret').fill(secrets.userSecret);
  await page.getByLabel('Organization secret').fill(secrets.organizationSecret);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.locator('#main').waitFor();
}
