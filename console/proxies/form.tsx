import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { useNeeds } from '../who.ts';

/** The values of the form of a proxy, named as in the API. */
export interface GivenProxy {
  readonly name: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The configuration as the text of a JSON object. */
  readonly configuration: string;
}

interface ProxyFormProps {
  readonly before: GivenProxy;
  readonly action: string;
  readonly onSave: (given: GivenProxy) => Promise<void>;
  /** Further controls beside the button. */
  readonly children?: ComponentChildren;
}

export function ProxyForm({ before, action, onSave, children }: ProxyFormProps) {
  const needs = useNeeds();
  const [given, setGiven] = useState(before);
  const { run, isRunning, error } = useAction(() => onSave(given));
  const control = (key: keyof GivenProxy) => ({
    value: given[key],
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      setGiven((last) => ({ ...last, [key]: value })),
  });
  return (
    <form
      class="stack form"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <label>
        Name
        <input {...control('name')} required maxLength={255} autocomplete="off" />
        <span class="small soft">Authorizations refer to the proxy by this name. It is unique in an account.</span>
      </label>
      <label>
        Client key
        <input {...control('apiKey')} required autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Client secret
        <input {...control('apiSecret')} type="password" required autocomplete="new-password" />
        <span class="small soft">
          The service stores it encrypted and never shows it. Enter it again if you change the key.
        </span>
      </label>
      <details class="card">
        <summary class="strong">More settings</summary>
        <label class="folded">
          Configuration, a JSON object
          <textarea {...control('configuration')} class="mono" rows={4} spellcheck={false} />
          <span class="small soft">
            <code>{'{"tokenOrigins":["https://acme.example.com"]}'}</code> lists the origins to which the secret may be
            sent, for elements whose host is a setting.
          </span>
        </label>
      </details>
      <ErrorNote error={error} />
      <footer class="row">
        <button type="submit" class="main" disabled={isRunning} {...needs('createElementInstances')}>
          {action}
        </button>
        {children}
      </footer>
    </form>
  );
}
