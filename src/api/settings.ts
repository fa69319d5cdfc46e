import type { AccountSettings } from '../accounts/settings.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationResult } from './operation.ts';

export function createSettingsHandlers({ settings }: ApiServices) {
  return {
    getAccountSettings: async ({ principal }) => show(await settings.get(principal.accountId)),
    setAccountSettings: async ({ principal, body }) => show(await settings.replace(principal.accountId, body)),
    updateAccountSettings: async ({ principal, body }) => show(await settings.update(principal.accountId, body)),
    getOwnAccountSettings: async ({ principal }) => show(await settings.get(principal.accountId)),
    setOwnAccountSettings: async ({ principal, body }) => show(await settings.replace(principal.accountId, body)),
    updateOwnAccountSettings: async ({ principal, body }) => show(await settings.update(principal.accountId, body)),
  } satisfies Partial<Handlers>;
}

function show(settings: AccountSettings): { readonly body: OperationResult<'getAccountSettings'> } {
  return { body: { ...settings } };
}
