import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { Field, Form, readText } from '../parts/form.tsx';
import { sayLacking, useMay } from '../who.ts';
import { ElementChoice, ProxyChoice } from './elements.tsx';
import { Fixed, readFixed } from './fixed.tsx';
import { Link } from './link.tsx';
import { type ConnectSession, PATH } from './list.tsx';

const LIFETIMES = [
  [3_600, 'in an hour'],
  [900, 'in 15 minutes'],
  [28_800, 'in 8 hours'],
  [86_400, 'in 24 hours'],
] as const;

/** Asks the user what may be connected, and then shows the link, which the API returns only once. */
export function NewConnectSession() {
  const [made, setMade] = useState<ConnectSession>();
  const [elements, setElements] = useState<readonly string[]>([]);
  const { query } = useLocation();
  const mayConnect = useMay()('createElementInstances');
  const make = async (form: FormData) => {
    const name = readText(form, 'name');
    const redirectUrl = readText(form, 'redirectUrl');
    const instanceId = readText(form, 'instanceId');
    const tags = readText(form, 'tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean);
    const proxyId = readText(form, 'proxyId');
    const configuration = readFixed(form);
    const body = {
      expiresIn: Number(form.get('expiresIn')),
      ...(elements.length > 0 && { elements: [...elements] }),
      ...(name !== '' && { name }),
      ...(tags.length > 0 && { tags }),
      ...(Object.keys(configuration).length > 0 && { configuration }),
      ...(redirectUrl !== '' && { redirectUrl }),
      ...(proxyId !== '' && { proxyId: Number(proxyId) }),
      ...(instanceId !== '' && { instanceId: Number(instanceId) }),
    };
    setMade(await ask(api.POST('/connect/sessions', { body })));
  };
  if (made !== undefined) return <Link session={made} />;
  return (
    <div class="stack">
      <h1>New connect session</h1>
      <p class="soft">
        With the link, one user of your product chooses an element, logs in at the provider and connects one account.
        The user sees none of your secrets, and neither sees nor changes the fixed configuration.
      </p>
      <Form
        action="Create the link"
        onSubmit={make}
        onCancel={() => history.back()}
        refusal={mayConnect ? undefined : sayLacking('createElementInstances')}
      >
        <div class="columns">
          <section class="card" aria-label="Elements">
            <ElementChoice chosen={elements} onChange={setElements} />
          </section>
          <section class="card stack" aria-label="The new instance">
            <Field
              label="Name"
              name="name"
              maxLength={255}
              hint="Name of the new instance. If it is empty, the user can enter one."
            />
            <Field label="Tags" name="tags" hint="Separated by commas, such as the id of the user in your product." />
            <Field
              label="Returns to"
              name="redirectUrl"
              type="url"
              maxLength={4096}
              placeholder="https://app.example.com/connected"
              hint={
                <>
                  A URL of one of the <a href="/console/organization/connect-origins">connect origins</a>. If it is
                  empty, the page shows that the account is connected.
                </>
              }
            />
            <label>
              Expires
              <select name="expiresIn">
                {LIFETIMES.map(([seconds, says]) => (
                  <option key={seconds} value={seconds}>
                    {says}
                  </option>
                ))}
              </select>
            </label>
            <Field
              label="Authenticate again"
              name="instanceId"
              type="number"
              min={1}
              value={query.instance}
              hint="Id of an existing instance, which keeps its id, token, name and tags. If it is empty, the service creates a new instance."
            />
          </section>
          <section class="card stack" aria-label="Fixed configuration">
            <ProxyChoice />
            <Fixed elements={elements} />
          </section>
        </div>
      </Form>
      <a href={PATH}>Go to the sessions</a>
    </div>
  );
}
