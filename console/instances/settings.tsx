import { api, ask, type Instance, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Show } from '../parts/show.tsx';
import { AccountForm } from './account-form.tsx';
import { type ElementForm, loadElementForm } from './connect.tsx';
import { changesOf, defaultsOf, valuesOf } from './form-values.ts';
import { type Given, type Grant, tagsOf } from './grant.ts';

interface SettingsProps {
  readonly instance: Instance;
  readonly onSaved: () => void;
}

/** Changes an instance: its name and tags, its configuration, and its credentials, which the service verifies before it stores them. */
export function Settings({ instance, onSaved }: SettingsProps) {
  const loaded = useLoad((signal) => loadElementForm(instance.element.key, signal), [instance.element.key]);
  return <Show loaded={loaded}>{(form) => <SettingsForm instance={instance} onSaved={onSaved} {...form} />}</Show>;
}

function SettingsForm({ instance, onSaved, element, fields }: SettingsProps & ElementForm) {
  const { simulator, ...configuration } = valuesOf(instance.configuration);
  const before: Given = {
    name: instance.name,
    tags: instance.tags.join(', '),
    values: { ...defaultsOf(fields), ...configuration },
    isSimulated: simulator === true,
    proxy: undefined,
  };
  const save = async (given: Given, logIn: Grant | undefined) => {
    const body = bodyOf(before, given, logIn);
    if (Object.keys(body).length > 0)
      await ask(api.PATCH('/instances/{id}', { params: { path: { id: instance.id } }, body }));
    onSaved();
  };
  return (
    <>
      <p class="small soft">
        The service checks new values at {element.name} before it stores them. The instance keeps its id and token.
        Secrets are not shown: leave them unchanged, or enter new ones. If you change the address of the calls, enter
        them again.
      </p>
      <AccountForm
        element={element}
        fields={fields}
        before={before}
        action="Save"
        logInAction={`Log in at ${element.name} again`}
        onSave={save}
      />
    </>
  );
}

/** Returns the body of the request, without values that have not changed. */
function bodyOf(before: Given, given: Given, logIn: Grant | undefined): Schemas['InstanceUpdate'] {
  const { settled = [], providerData, callbackUrl } = logIn ?? {};
  const configuration = {
    ...Object.fromEntries(
      Object.entries(changesOf(given.values, before.values)).filter(([key]) => !settled.includes(key)),
    ),
    ...(given.isSimulated !== before.isSimulated && { simulator: given.isSimulated }),
    ...(callbackUrl !== undefined && { 'oauth.callback.url': callbackUrl }),
    // An empty key and secret mean those of the proxy.
    ...(given.proxy !== undefined && { 'oauth.api.key': '', 'oauth.api.secret': '' }),
  };
  const tags = tagsOf(given.tags);
  return {
    ...(given.name.trim() !== before.name && { name: given.name.trim() }),
    ...(given.tags !== before.tags && { tags: [...tags] }),
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(providerData !== undefined && { providerData }),
  };
}
