import { api, ask } from '../api.ts';
import { useLoad } from '../load.ts';
import { Fact } from '../parts/fact.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { sayLacking, useMay, useWho } from '../who.ts';

/** Shows the organization, and changes its name. */
export function General() {
  const may = useMay();
  const { renew } = useWho();
  const loaded = useLoad((signal) => ask(api.GET('/organizations/me', { signal })), []);
  const refusal = may('manageOrganization') ? undefined : sayLacking('manageOrganization');
  const rename = async (form: FormData) => {
    await ask(api.PATCH('/organizations/me', { body: { name: readText(form, 'name') } }));
    loaded.reload();
    await renew();
  };
  return (
    <Show loaded={loaded}>
      {({ id, name, createdDate }) => (
        <div class="columns">
          <section class="card" aria-label="Name of the organization">
            <Form action="Save" done="Saved" onSubmit={rename} refusal={refusal}>
              <Field
                label="Name"
                name="name"
                value={name}
                required
                maxLength={255}
                disabled={refusal !== undefined}
                title={refusal}
              />
            </Form>
          </section>
          <dl class="facts card">
            <Fact name="Id">
              <code>{id}</code>
            </Fact>
            <Fact name="Created">
              <Time at={createdDate} />
            </Fact>
          </dl>
        </div>
      )}
    </Show>
  );
}
