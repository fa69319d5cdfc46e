import type { Platform } from '../platform.ts';
import { createAccounts } from './accounts.ts';
import { createIdempotency } from './idempotency/index.ts';
import { createPrincipalChanges } from './principal-changes.ts';
import { createSettings } from './settings.ts';

export { writeCredentials } from './credentials-file.ts';

export interface AccountsNeighbours {
  /** Prepares deliveries to the URL. */
  readonly ensureSubscription: (accountId: number, url: string) => Promise<unknown>;
}

/** Organizations, accounts and users; what accounts set; and what their callers send with an `Idempotency-Key`. */
export function composeAccounts(platform: Platform, { ensureSubscription }: AccountsNeighbours) {
  return {
    accounts: createAccounts(platform),
    principals: createPrincipalChanges(platform),
    settings: createSettings(platform, ensureSubscription),
    idempotency: createIdempotency(platform),
  };
}
