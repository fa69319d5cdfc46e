import { useId, useState } from 'preact/hooks';
import { api, askPage } from '../api.ts';
import { useLoad } from '../load.ts';

/** Fields for values that the session sets and that the user neither sees nor changes. */
export function Fixed({ elements }: { readonly elements: readonly string[] }) {
  const list = useId();
  const [rows, setRows] = useState<readonly number[]>([0]);
  const { value: keys = [] } = useLoad((signal) => listKeys(elements, signal), [elements]);
  return (
    <fieldset class="stack tight plain">
      <legend>Fixed configuration</legend>
      <p class="small soft">
        Configuration of the instance by key, such as the settings of your OAuth client. The service stores it
        encrypted.
      </p>
      <datalist id={list}>
        {keys.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      {rows.map((row, index) => (
        <div key={row} class="pair">
          <input name="fixedKey" list={list} aria-label={`Key ${index + 1}`} placeholder="key" autocomplete="off" />
          <input name="fixedValue" aria-label={`Value ${index + 1}`} placeholder="value" autocomplete="off" />
          <button
            type="button"
            class="plain"
            aria-label={`Remove setting ${index + 1}`}
            onClick={() => setRows(rows.filter((each) => each !== row))}
          >
            ✕
          </button>
        </div>
      ))}
      <div>
        <button type="button" onClick={() => setRows([...rows, Math.max(-1, ...rows) + 1])}>
          Add a setting
        </button>
      </div>
    </fieldset>
  );
}

/** Returns the entered values. Lines without a key are ignored. */
export function readFixed(form: FormData): Record<string, string> {
  const values = form.getAll('fixedValue').map(String);
  const pairs = form.getAll('fixedKey').map((key, index) => [String(key).trim(), values[index] ?? ''] as const);
  return Object.fromEntries(pairs.filter(([key]) => key !== ''));
}

/** Returns the keys of at least one of the elements. */
async function listKeys(elements: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const lists = await Promise.all(
    elements.map((keyOrId) =>
      askPage(api.GET('/elements/{keyOrId}/configuration', { signal, params: { path: { keyOrId } } })),
    ),
  );
  return [...new Set(lists.flatMap(({ rows }) => rows.map(({ key }) => key)))];
}
