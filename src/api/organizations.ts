import type { Principal } from '../accounts/accounts.ts';
import type { Organization, Organizations } from '../accounts/organizations.ts';
import type { Secret, Secrets } from '../accounts/secrets.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationBody } from './operation.ts';

export interface OrganizationServices {
  readonly organizations: Organizations;
  readonly secrets: Secrets;
}

export function createOrganizationHandlers({ organizations, secrets }: OrganizationServices) {
  async function update({ organizationId }: Principal, { name, ...rest }: OperationBody<'updateOrganization'>) {
    const shown = toOrganizationRecord(await organizations.get(organizationId));
    assertAsRead(rest, { shown });
    return { body: toOrganizationRecord(await organizations.rename(organizationId, name ?? shown.name)) };
  }

  return {
    getOrganization: async ({ principal }) => ({
      body: toOrganizationRecord(await organizations.get(principal.organizationId)),
    }),

    updateOrganization: ({ principal, body }) => update(principal, body),
    replaceOrganization: ({ principal, body }) => update(principal, body),

    listOrganizationSecrets: async ({ principal: { organizationId }, sent }) => {
      const body = (await secrets.list({ organizationId }, sent.organization)).map(toSecretRecord);
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },

    rotateOrganizationSecret: async ({ principal: { organizationId }, body }) => ({
      body: toSecretRecord(await secrets.rotate(organizationId, { organizationId }, body.overlapSeconds)),
    }),
  } satisfies Partial<Handlers>;
}

function toOrganizationRecord({ id, name, createdAt }: Organization) {
  return { id, name, createdDate: createdAt.toISOString() };
}

export function toSecretRecord({ id, secret, createdAt, expiresAt }: Secret) {
  return {
    id,
    ...(secret !== undefined && { secret }),
    createdDate: createdAt.toISOString(),
    ...(expiresAt !== null && { expiresDate: expiresAt.toISOString() }),
  };
}
