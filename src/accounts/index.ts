import type { Platform } from '../platform.ts';
import { createAccounts } from './accounts.ts';
import { createIdempotency } from './idempotency/index.ts';
import { composeLogIn } from './log-in/index.ts';
import { createPrincipalChanges } from './principal-changes.ts';
import { createSettings } from './settings.ts';

export { writeCredentials } from './credentials-file.ts';

export interface AccountsNeighbours {
  /** Prepares deliveries to the URL. */
  readonly ensureSubscription: (accountId: number, url: string) => Promise<unknown>;
}

/** Organizations, accounts and users, and how these log in; what accounts set; and what their callers send with an `Idempotency-Key`. */
export function composeAccounts(platform: Platform, { ensureSubscription }: AccountsNeighbours) {
  const accounts = createAccounts(platform);
  const principals = createPrincipalChanges(platform);
  return {
    accounts,
    principals,
    logIn: composeLogIn(platform, { principals, getUser: accounts.getUser }),
    settings: createSettings(platform, ensureSubscription),
    idempotency: createIdempotency(platform),
  };
}
