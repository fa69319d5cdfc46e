import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { readFormulaFile } from './calls.ts';
import { pathOfFormula } from './paths.ts';

/** Creates a formula from an exported one, in a file or as text. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [text, setText] = useState('');
  const create = async () => {
    const { id } = await ask(api.POST('/formulas', { body: readFormulaFile(text) }));
    route(pathOfFormula(id));
  };
  return (
    <Dialog title="Import a formula" onClose={onClose}>
      <p class="soft">The JSON of an exported formula, also of one from Cloud Elements or SAP Open Connectors.</p>
      <Form
        action="Import the formula"
        onSubmit={create}
        onCancel={onClose}
        refusal={text.trim() === '' ? 'Choose a file or paste its text first.' : undefined}
      >
        <label>
          File
          <input
            type="file"
            accept=".json,application/json"
            onChange={async ({ currentTarget }) => setText((await currentTarget.files?.[0]?.text()) ?? '')}
          />
        </label>
        <label>
          JSON
          <textarea
            class="mono"
            rows={10}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      </Form>
    </Dialog>
  );
}
