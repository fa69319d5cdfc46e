import { api, ask } from '../api.ts';
import { Fact } from '../parts/fact.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { Time } from '../parts/time.tsx';
import type { Formula } from './calls.ts';
import { METHODS } from './step-types.ts';
import { useFormulaNeeds } from './use-formula-needs.ts';

interface SettingsPartProps {
  readonly formula: Formula;
  readonly onChanged: () => void;
}

const ENGINES = ['v1', 'v2', 'v3'] as const;

/** Shows and changes the members of a formula other than variables, trigger and steps. */
export function SettingsPart({ formula, onChanged }: SettingsPartProps) {
  const refused = useFormulaNeeds()(formula, 'editFormulas');
  const save = async (form: FormData) => {
    const method = readText(form, 'method');
    const uri = readText(form, 'uri');
    const body = {
      name: readText(form, 'name'),
      description: readText(form, 'description') || null,
      engine: readText(form, 'engine'),
      singleThreaded: form.get('singleThreaded') !== null,
      debugLoggingEnabled: form.get('debugLoggingEnabled') !== null,
      method: method || null,
      uri: uri || null,
    };
    await ask(api.PATCH('/formulas/{id}', { params: { path: { id: formula.id } }, body }));
    onChanged();
  };
  return (
    <div class="stack form">
      <Form action="Save the settings" onSubmit={save} done="Saved." refusal={refused.title}>
        <Field label="Name" name="name" value={formula.name} required maxLength={255} autocomplete="off" />
        <Field label="Description" name="description" value={formula.description} maxLength={4000} autocomplete="off" />
        <label class="inline">
          <input type="checkbox" name="singleThreaded" defaultChecked={formula.singleThreaded} />
          Run the executions of an instance one after the other
        </label>
        <label class="inline">
          <input type="checkbox" name="debugLoggingEnabled" defaultChecked={formula.debugLoggingEnabled} />
          Store the values of the steps
        </label>
        <fieldset class="plain stack tight">
          <legend class="strong">As a resource</legend>
          <p class="small soft">
            A formula with a manual trigger can be called under a path of its own. The caller waits for the result.
          </p>
          <div class="columns">
            <label>
              Method
              <select name="method">
                <option value="">None: not a resource</option>
                {METHODS.map((method) => (
                  <option key={method} selected={method === formula.method}>
                    {method}
                  </option>
                ))}
              </select>
            </label>
            <Field label="Path" name="uri" value={formula.uri} autocomplete="off" placeholder="/sync" />
          </div>
        </fieldset>
        <label>
          Engine
          <select name="engine">
            {ENGINES.map((engine) => (
              <option key={engine} selected={engine === formula.engine}>
                {engine}
              </option>
            ))}
          </select>
        </label>
      </Form>
      <dl class="facts">
        <Fact name="Id">{formula.id}</Fact>
        <Fact name="Account">{formula.accountId}</Fact>
        <Fact name="Created">
          <Time at={formula.createdDate} /> by user {formula.userId}
        </Fact>
        <Fact name="Changed">
          <Time at={formula.updatedDate} />
        </Fact>
      </dl>
    </div>
  );
}
