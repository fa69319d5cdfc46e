import type { Principal } from '../accounts/accounts.ts';
import type { Organization } from '../accounts/organizations.ts';
import type { Secret } from '../accounts/secrets.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationBody } from './operation.ts';

export function createOrganizationHandlers({ organizations, secrets }: ApiServices) {
  async function update({ organizationId }: Principal, { name, ...rest }: OperationBody<'updateOrganization'>) {
    const shown = toOrganizationView(await organizations.get(organizationId));
    assertAsRead(rest, { shown });
    return { body: toOrganizationView(await organizations.rename(organizationId, name ?? shown.name)) };
  }

  return {
    getOrganization: async ({ principal }) => ({
      body: toOrganizationView(await organizations.get(principal.organizationId)),
    }),

    updateOrganization: ({ principal, body }) => update(principal, body),
    replaceOrganization: ({ principal, body }) => update(principal, body),

    listOrganizationSecrets: async ({ principal: { organizationId }, sent }) => {
      const body = (await secrets.list({ organizationId }, sent.organization)).map(toSecretView);
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },

    rotateOrganizationSecret: async ({ principal: { organizationId }, body }) => ({
      body: toSecretView(await secrets.rotate(organizationId, { organizationId }, body.overlapSeconds)),
    }),
  } satisfies Partial<Handlers>;
}

function toOrganizationView({ id, name, createdAt }: Organization) {
  return { id, name, createdDate: createdAt.toISOString() };
}

export function toSecretView({ id, secret, createdAt, expiresAt }: Secret) {
  return {
    id,
    ...(secret !== undefined && { secret }),
    createdDate: createdAt.toISOString(),
    ...(expiresAt !== null && { expiresDate: expiresAt.toISOString() }),
  };
}
