import { api, ask, askPage } from '../api.ts';
import { OwnedSecrets, type OwnedSecretsProps } from '../parts/owned-secrets.tsx';

/** Shows the secrets of the organization, which every call needs beside the secret of a user. */
export function OrganizationSecrets({ onShown }: Pick<OwnedSecretsProps, 'onShown'>) {
  return (
    <OwnedSecrets
      title="Secret of the organization"
      what="the secret of the organization"
      list={async () => (await askPage(api.GET('/organizations/me/secrets'))).rows}
      rotate={(overlapSeconds) => ask(api.POST('/organizations/me/secrets', { body: { overlapSeconds } }))}
      {...(onShown && { onShown })}
    >
      Every call sends it with the secret of its user. All users and programs of the organization share it.
    </OwnedSecrets>
  );
}
