import { useLocation } from 'preact-iso';
import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Show } from '../parts/show.tsx';
import { AccountForm } from './account-form.tsx';
import { changesOf, defaultsOf, type Field } from './form-values.ts';
import { type Given, type Grant, tagsOf } from './grant.ts';
import { Mark } from './mark.tsx';

type Element = Schemas['ElementDetail'];

/** An element with the fields of its form. */
export interface ElementForm {
  readonly element: Element;
  readonly fields: readonly Field[];
}

export async function loadElementForm(keyOrId: string, signal: AbortSignal): Promise<ElementForm> {
  const params = { path: { keyOrId } };
  const [element, fields] = await Promise.all([
    ask(api.GET('/elements/{keyOrId}', { signal, params })),
    ask(api.GET('/elements/{keyOrId}/configuration', { signal, params })),
  ]);
  return { element, fields };
}

/** Creates an instance of an element. */
export function Connect({ elementKey }: { readonly elementKey: string }) {
  const loaded = useLoad((signal) => loadElementForm(elementKey, signal), [elementKey]);
  return (
    <div class="stack">
      <a href="/console/instances/new">← Elements</a>
      <Show loaded={loaded}>{({ element, fields }) => <ConnectForm element={element} fields={fields} />}</Show>
    </div>
  );
}

function ConnectForm({ element, fields }: ElementForm) {
  const { route } = useLocation();
  const before: Given = {
    name: element.name,
    tags: '',
    values: defaultsOf(fields),
    isSimulated: false,
    proxy: undefined,
  };
  const create = async (given: Given, logIn: Grant | undefined) => {
    const { id } = await ask(api.POST('/instances', { body: bodyOf(element, { given, before, logIn }) }));
    route(`/console/instances/${id}`);
  };
  return (
    <>
      <ElementHead element={element} />
      <AccountForm
        element={element}
        fields={fields}
        before={before}
        action={element.authentication.type === 'oauth2' ? `Log in at ${element.name}` : 'Connect'}
        onSave={create}
      >
        <a class="button" href="/console/instances">
          Cancel
        </a>
      </AccountForm>
    </>
  );
}

function ElementHead({ element: { name, image, hub, description, documentation } }: { readonly element: Element }) {
  const pages = documentation.filter(({ url }) => url.startsWith('https://'));
  return (
    <header class="stack tight">
      <h1 class="row">
        <Mark image={image} /> Connect {name} <Badge tone="quiet">{hub}</Badge>
      </h1>
      <p class="soft">{description}</p>
      {pages.length > 0 && (
        <p class="row small">
          {pages.map(({ title, url }) => (
            <a key={url} href={url} target="_blank" rel="noopener noreferrer">
              {title} ↗
            </a>
          ))}
        </p>
      )}
    </header>
  );
}

interface Submission {
  readonly given: Given;
  readonly before: Given;
  readonly logIn: Grant | undefined;
}

/** Returns the body of the request. Values that equal the defaults of the API are left out. */
function bodyOf({ key }: Element, { given, before, logIn }: Submission): Schemas['InstanceCreate'] {
  const { settled = [], providerData, callbackUrl } = logIn ?? {};
  const values = Object.entries(changesOf(given.values, before.values)).filter(([each]) => !settled.includes(each));
  return {
    element: { key },
    name: given.name.trim(),
    tags: [...tagsOf(given.tags)],
    configuration: {
      ...Object.fromEntries(values),
      ...(given.isSimulated && { simulator: true }),
      ...(callbackUrl !== undefined && { 'oauth.callback.url': callbackUrl }),
    },
    ...(providerData !== undefined && { providerData }),
  };
}
