import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { Field, Form, readText } from '../parts/form.tsx';
import { useInstances } from '../parts/instance-choice.tsx';
import { PATH } from './access-key.ts';
import { NewKey } from './rotation.tsx';

const LIFETIMES = [
  [7_776_000, 'in 90 days'],
  [2_592_000, 'in 30 days'],
  [86_400, 'in a day'],
  [31_536_000, 'in a year'],
  [0, 'never'],
] as const;

const PERMISSIONS = [
  ['passthrough', 'Passthrough: any request to the provider'],
  ['bulk', 'Bulk: downloads and uploads of many records'],
  ['federated', 'Federated: lists over several instances'],
] as const;
type Permission = (typeof PERMISSIONS)[number][0];

/** Asks what a key may reach, and then shows it, which the API does only once. */
export function NewAccessKey() {
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const instances = useInstances();
  const { route } = useLocation();
  const make = async (form: FormData) => {
    const ids = form.getAll('instances').map(Number);
    const lists = {
      elementKeys: readList(form, 'elementKeys'),
      tags: readList(form, 'tags'),
      objects: readList(form, 'objects'),
    };
    const expiresIn = Number(form.get('expiresIn'));
    const body = {
      name: readText(form, 'name'),
      access: form.get('access') === 'write' ? ('write' as const) : ('read' as const),
      allow: PERMISSIONS.map(([kind]): Permission => kind).filter((kind) => form.getAll('allow').includes(kind)),
      ...(ids.length > 0 && { instances: ids }),
      ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
      ...(expiresIn > 0 && { expiresIn }),
    };
    setMade(await ask(api.POST('/keys', { body })));
  };
  return (
    <div class="stack">
      <h1>New access key</h1>
      <p class="soft">
        The key can do what you can do with the records that it reaches, and nothing else. Its scope can’t be changed
        later.
      </p>
      <Form action="Create the key" onSubmit={make} onCancel={() => route(PATH)}>
        <div class="columns">
          <section class="card stack" aria-label="The key">
            <Field label="Name" name="name" required maxLength={255} hint="What the key is for." />
            <label>
              Access
              <select name="access">
                <option value="read">read: changes nothing</option>
                <option value="write">write: creates, changes and deletes records</option>
              </select>
            </label>
            <fieldset class="plain stack tight">
              <legend>Also allow</legend>
              {PERMISSIONS.map(([kind, says]) => (
                <label key={kind} class="inline">
                  <input type="checkbox" name="allow" value={kind} /> {says}
                </label>
              ))}
            </fieldset>
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
          </section>
          <section class="card stack" aria-label="What it reaches">
            <label>
              Instances
              <select name="instances" multiple size={6}>
                {(instances.value ?? []).map(({ id, name, element }) => (
                  <option key={id} value={String(id)}>
                    {name} · {element.key} · #{id}
                  </option>
                ))}
              </select>
              <small class="soft">Without a choice, all instances that match the fields below.</small>
            </label>
            <Field label="Elements" name="elementKeys" hint="Keys, separated by commas, such as salesforce." />
            <Field label="Tags" name="tags" hint="Separated by commas. An instance must have all of them." />
            <Field label="Objects" name="objects" hint="Names, separated by commas. Without one, all objects." />
          </section>
        </div>
      </Form>
      {made !== undefined && <NewKey name={made.name} text={made.key} onClose={() => route(PATH)} />}
    </div>
  );
}

function readList(form: FormData, name: string): readonly string[] {
  return readText(form, name)
    .split(',')
    .map((text) => text.trim())
    .filter(Boolean);
}
