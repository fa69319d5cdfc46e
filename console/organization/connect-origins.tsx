import { api, ask } from '../api.ts';
import { useLoad } from '../load.ts';
import { Form, readText } from '../parts/form.tsx';
import { Show } from '../parts/show.tsx';

const MOST_LINES = 12;

/** Edits the origins whose pages may show the connect page in a frame, and to which it may redirect. */
export function ConnectOrigins() {
  const loaded = useLoad((signal) => ask(api.GET('/organizations/me/connect-origins', { signal })), []);
  const save = async (form: FormData) => {
    const origins = readText(form, 'origins').split(/\s+/).filter(Boolean);
    await ask(api.PUT('/organizations/me/connect-origins', { body: { origins } }));
    loaded.reload();
  };
  return (
    <Show loaded={loaded}>
      {({ origins }) => (
        <section class="card stack" aria-label="Connect origins">
          <p class="soft">
            Pages with these origins may show the <a href="/console/connect">connect page</a> in a frame, and connect
            sessions may return to them.
          </p>
          <Form action="Save" done="Saved" onSubmit={save}>
            <label>
              Origins, one per line
              <textarea
                key={origins.join(' ')}
                name="origins"
                class="mono"
                rows={Math.min(origins.length + 3, MOST_LINES)}
                spellcheck={false}
                placeholder="https://app.example.com"
                defaultValue={origins.join('\n')}
              />
            </label>
            <p class="small soft">
              Enter https with a host and an optional port, or http for localhost, such as http://localhost:3000. No
              path and no * is allowed.
            </p>
          </Form>
        </section>
      )}
    </Show>
  );
}
