import type { Principal } from '../accounts/accounts.ts';
import type { AccountSettings, Settings } from '../accounts/settings.ts';
import { AppError } from '../errors.ts';
import type { Handlers, OperationResult } from './operation.ts';

type SettingsHandlers = Pick<
  Handlers,
  | 'getAccountSettings'
  | 'setAccountSettings'
  | 'updateAccountSettings'
  | 'getOwnAccountSettings'
  | 'setOwnAccountSettings'
  | 'updateOwnAccountSettings'
>;

export function createSettingsHandlers(settings: Pick<Settings, 'get' | 'replace' | 'update'>): SettingsHandlers {
  return {
    getAccountSettings: async ({ principal, path }) => show(await settings.get(ownAccount(principal, path.accountId))),
    setAccountSettings: async ({ principal, path, body }) =>
      show(await settings.replace(ownAccount(principal, path.accountId), body)),
    updateAccountSettings: async ({ principal, path, body }) =>
      show(await settings.update(ownAccount(principal, path.accountId), body)),
    getOwnAccountSettings: async ({ principal }) => show(await settings.get(principal.accountId)),
    setOwnAccountSettings: async ({ principal, body }) => show(await settings.replace(principal.accountId, body)),
    updateOwnAccountSettings: async ({ principal, body }) => show(await settings.update(principal.accountId, body)),
  };
}

function show(settings: AccountSettings): { readonly body: OperationResult<'getAccountSettings'> } {
  return { body: { ...settings } };
}

function ownAccount({ accountId }: Principal, given: string): number {
  if (given !== String(accountId)) throw new AppError('NOT_FOUND', `There is no account ${given}.`);
  return accountId;
}
