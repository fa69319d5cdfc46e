import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form, readText } from '../parts/form.tsx';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { listElements } from './calls.ts';
import { useLevelNeeds } from './levels.ts';
import { pathOfEditor } from './paths.ts';
import { LEVELS, type Level } from './transformation-form.ts';

const MEANS: Readonly<Record<Level, string>> = {
  organization: 'All instances of an element in the organization',
  account: 'All instances of an element in the account',
  instance: 'One instance',
};

/** Asks the user for the element or instance to map the definition to, and opens the editor. */
export function NewTransformation({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { route } = useLocation();
  const needs = useLevelNeeds();
  const elements = useLoad(listElements, []);
  const instances = useInstances();
  const allowed = LEVELS.filter((each) => needs(each, 'edit').disabled !== true);
  const [level, setLevel] = useState<Level | undefined>(allowed[0]);
  const [instance, setInstance] = useState<string>();
  const isChosen = level !== 'instance' || instance !== undefined;
  const open = async (form: FormData) => {
    if (level === undefined) return;
    const elementKey = readText(form, 'element');
    route(pathOfEditor(name, level === 'instance' ? { level, instanceId: Number(instance) } : { level, elementKey }));
  };
  return (
    <Dialog title={`Map ${name}`} onClose={onClose}>
      <Form
        action="Open the editor"
        onSubmit={open}
        onCancel={onClose}
        refusal={
          level === undefined ? 'You may not change any level.' : isChosen ? undefined : 'Choose an instance first.'
        }
      >
        <label>
          For
          <select
            value={level}
            onChange={({ currentTarget }) => setLevel(LEVELS.find((each) => each === currentTarget.value))}
          >
            {allowed.map((each) => (
              <option key={each} value={each}>
                {MEANS[each]}
              </option>
            ))}
          </select>
        </label>
        {level === 'instance' ? (
          <InstanceChoice instances={instances} value={instance} onChange={setInstance} none="Choose an instance" />
        ) : (
          <label>
            Element
            <select name="element" required disabled={elements.value === undefined}>
              <option value="">{elements.isLoading ? 'Loading…' : 'Choose an element'}</option>
              {(elements.value ?? []).map(({ key, name: title }) => (
                <option key={key} value={key}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )}
        <ErrorNote error={elements.error ?? instances.error} />
      </Form>
    </Dialog>
  );
}
