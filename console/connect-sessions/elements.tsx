import { useState } from 'preact/hooks';
import { api, askPage } from '../api.ts';
import { useLoad } from '../load.ts';
import { Show } from '../parts/show.tsx';

interface ElementChoiceProps {
  /** Keys of the chosen elements. An empty list offers all elements. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** A choice of the elements that the session offers to the user. */
export function ElementChoice({ chosen, onChange }: ElementChoiceProps) {
  const [words, setWords] = useState('');
  const loaded = useLoad((signal) => askPage(api.GET('/elements', { signal })), []);
  const sought = words.trim().toLowerCase();
  const toggle = (key: string) =>
    onChange(chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]);
  return (
    <fieldset class="stack tight plain">
      <legend>
        Elements{' '}
        <span class="soft small">{chosen.length === 0 ? 'all active elements' : `${chosen.length} chosen`}</span>
      </legend>
      <input
        type="search"
        aria-label="Search elements"
        placeholder="Search elements  ( / )"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <Show loaded={loaded}>
        {({ rows }) => (
          <div class="stack tight scrolled">
            {rows
              .filter(({ key, name }) => `${key} ${name}`.toLowerCase().includes(sought))
              .map(({ key, name }) => (
                <label key={key} class="inline">
                  <input type="checkbox" checked={chosen.includes(key)} onChange={() => toggle(key)} />
                  <span>
                    {name} <code class="soft small">{key}</code>
                  </span>
                </label>
              ))}
          </div>
        )}
      </Show>
    </fieldset>
  );
}

/** A choice of the OAuth client that users authorize, for a client that is stored with a proxy and not in the configuration. */
export function ProxyChoice() {
  const { value } = useLoad((signal) => askPage(api.GET('/elements/oauthProxies', { signal })), []);
  return (
    <label>
      OAuth proxy
      <select name="proxyId">
        <option value="">none: the configuration contains the client</option>
        {(value?.rows ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
