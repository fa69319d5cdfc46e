import { useId } from 'preact/hooks';
import type { Flag, TransformationForm } from './transformation-form.ts';

interface ScriptEditorProps {
  readonly form: Pick<TransformationForm, 'script' | 'dropsEmpty' | 'flags'>;
  /** The fault of the script with its position. */
  readonly fault: string | undefined;
  readonly onChange: (changes: Pick<Partial<TransformationForm>, 'script' | 'dropsEmpty'>) => void;
  readonly onFlag: (flag: Flag, isOn: boolean) => void;
}

const EXAMPLE = `transformedObject.fullName = originalObject.given_name + ' ' + originalObject.family_name;
done(transformedObject);`;

/** Edits the script that runs after the fields are mapped. */
export function ScriptEditor({ form: { script, dropsEmpty, flags }, fault, onChange, onFlag }: ScriptEditorProps) {
  const id = useId();
  return (
    <details class="card" open={script !== '' || fault !== undefined}>
      <summary class="strong">Script</summary>
      <div class="stack tight">
        <p id={`${id}-hint`} class="small soft">
          JavaScript that runs after the fields are mapped: the body of{' '}
          <code>function (originalObject, transformedObject, fromVendor, isWhere, done)</code>. It must call{' '}
          <code>done(transformedObject)</code>. If it fails, the record is returned without its changes. The activity of
          the request shows the output of <code>console.log</code>.
        </p>
        <label>
          Script
          <textarea
            class="mono"
            rows={8}
            spellcheck={false}
            placeholder={EXAMPLE}
            aria-invalid={fault !== undefined}
            aria-describedby={fault === undefined ? `${id}-hint` : `${id}-fault ${id}-hint`}
            value={script}
            onInput={({ currentTarget }) => onChange({ script: currentTarget.value })}
          />
        </label>
        {fault !== undefined && (
          <p id={`${id}-fault`} class="fault small">
            {fault}
          </p>
        )}
        <label class="inline">
          <input
            type="checkbox"
            checked={dropsEmpty}
            onChange={({ currentTarget }) => onChange({ dropsEmpty: currentTarget.checked })}
          />
          Lists leave out the records for which the script returns nothing
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={flags.has('applyJSOnQueryFieldValue')}
            onChange={({ currentTarget }) => onFlag('applyJSOnQueryFieldValue', currentTarget.checked)}
          />
          The script also changes the values of filters (<code>isWhere</code>). Lists then lack the records that the
          provider does not find with the changed values.
        </label>
      </div>
    </details>
  );
}
