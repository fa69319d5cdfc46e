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
        A link by which one user of your product connects one account at a provider: chooses among the elements and logs
        in there, without seeing a secret of yours. What is fixed here is neither shown to the user nor changed by him.
      </p>
      <Form
        action="Make the link"
        onSubmit={make}
        onCancel={() => history.back()}
        refusal={mayConnect ? undefined : sayLacking('createElementInstances')}
      >
        <div class="columns">
          <section class="card" aria-label="What is connected">
            <ElementChoice chosen={elements} onChange={setElements} />
          </section>
          <section class="card stack" aria-label="The new instance">
            <Field
              label="Name"
              name="name"
              maxLength={255}
              hint="Of the new instance. Without it the user may give one."
            />
            <Field label="Tags" name="tags" hint="With commas between, such as the id of the user in your product." />
            <Field
              label="Returns to"
              name="redirectUrl"
              type="url"
              maxLength={4096}
              placeholder="https://app.example.com/connected"
              hint={
                <>
                  Of one of the <a href="/console/organization/connect-origins">connect origins</a>. Without it the page
                  says that it is done.
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
              hint="The id of an instance that keeps its id, token, name and tags. Without it a new one is made."
            />
          </section>
          <section class="card stack" aria-label="Fixed configuration">
            <ProxyChoice />
            <Fixed elements={elements} />
          </section>
        </div>
      </Form>
      <a href={PATH}>To the sessions</a>
    </div>
  );
}
