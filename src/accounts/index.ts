import type { Platform } from '../platform.ts';
import { createAccessKeys } from './access-keys/index.ts';
import { createAccountRecords } from './account-records.ts';
import { createAccountRemoval } from './account-removal.ts';
import { createAccounts } from './accounts.ts';
import { createActiveElements } from './active-elements.ts';
import { createAuditLog } from './audit-log.ts';
import { createIdempotency } from './idempotency/index.ts';
import { createInvitations } from './invitations.ts';
import { composeLogIn } from './log-in/index.ts';
import { createOrganizations } from './organizations.ts';
import { createPrincipalChanges } from './principal-changes.ts';
import { createRoles } from './roles.ts';
import { createSecrets } from './secrets.ts';
import { createSettings } from './settings.ts';
import { createUsers } from './users.ts';

export { writeCredentials } from './credentials-file.ts';
export { createAccountRemoval };

interface AccountsNeighbours {
  /** Prepares deliveries to the URL. */
  readonly ensureSubscription: (accountId: number, url: string) => Promise<unknown>;
  readonly auditRetentionDays: number;
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

/** The services of accounts and their users. */
export type People = ReturnType<typeof composeAccounts>;

/** Builds the services of accounts: organizations, accounts, users, their log-in, settings, the audit log, and idempotency. */
export function composeAccounts(
  platform: Platform,
  { ensureSubscription, auditRetentionDays: retentionDays, publicUrl }: AccountsNeighbours,
) {
  const accounts = createAccounts(platform);
  const principals = createPrincipalChanges(platform);
  const logIn = composeLogIn(platform, { principals, getUser: accounts.getUser });
  const users = createUsers(platform, principals, logIn.passwords);
  return {
    accounts,
    principals,
    organizations: createOrganizations(platform),
    accountRecords: createAccountRecords(platform, { accounts, principals }),
    users,
    invitations: createInvitations(platform, { accounts, users, publicUrl }),
    roles: createRoles(platform, principals),
    secrets: createSecrets(platform, principals),
    accessKeys: createAccessKeys(platform, principals),
    logIn,
    activeElements: createActiveElements(platform, principals),
    settings: createSettings(platform, ensureSubscription),
    auditLog: createAuditLog(platform, { retentionDays }),
    idempotency: createIdempotency(platform),
  };
}
