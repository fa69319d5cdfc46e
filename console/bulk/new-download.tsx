import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, onInstance } from '../api.ts';
import { editorSource } from '../explore/editor/source.ts';
import { useMetadata } from '../explore/metadata.ts';
import { WhereEditor } from '../explore/where-editor.tsx';
import { Form } from '../parts/form.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { textIn } from './form.ts';
import { ObjectChoice } from './object-choice.tsx';
import { type NewJobProps, OnInstance } from './on-instance.tsx';
import { pathOfJob } from './paths.ts';

const FIELDS = [
  { name: 'fields', label: 'Fields', placeholder: 'all fields, or id,name,price' },
  { name: 'orderBy', label: 'Order', placeholder: 'order of the provider, or name desc' },
] as const;

/** Asks the user what to read, and opens the page of the job. */
export function NewDownload(props: NewJobProps) {
  return (
    <OnInstance title="Download records" {...props}>
      {(instanceId) => <Download instanceId={instanceId} onClose={props.onClose} />}
    </OnInstance>
  );
}

function Download({ instanceId, onClose }: { readonly instanceId: number; readonly onClose: () => void }) {
  const { route } = useLocation();
  const [objectName, setObjectName] = useState('');
  const [where, setWhere] = useState('');
  const start = async (form: FormData) => {
    const limit = textIn(form, 'limit');
    const text = (name: string) => textIn(form, name);
    const { id } = await ask(
      api.POST('/bulk/query', {
        headers: onInstance(instanceId),
        body: {
          format: text('format') === 'jsonl' ? 'jsonl' : 'csv',
          ...(where.trim() !== '' && { where: where.trim() }),
          ...Object.fromEntries(
            ['objectName', 'fields', 'orderBy', 'fileName'].flatMap((name) => {
              const value = text(name);
              return value === undefined ? [] : [[name, value]];
            }),
          ),
          ...(limit !== undefined && { limit: Number(limit) }),
        },
      }),
    );
    route(pathOfJob(id, instanceId));
  };
  return (
    <Form action="Start the download" onSubmit={start} onCancel={onClose}>
      <ObjectChoice instanceId={instanceId} operations={['list']} onChange={setObjectName} />
      <Where instanceId={instanceId} objectName={objectName} onChange={setWhere} />
      {FIELDS.map(({ name, label, placeholder }) => (
        <label key={name}>
          {label}
          <input class="mono" name={name} placeholder={placeholder} spellcheck={false} />
        </label>
      ))}
      <div class="filters">
        <label>
          Maximum number of rows
          <input type="number" name="limit" min={1} step={1} placeholder="all" />
        </label>
        <label>
          Format
          <select name="format">
            <option value="csv">CSV</option>
            <option value="jsonl">JSON lines</option>
          </select>
        </label>
        <label>
          File name
          <input name="fileName" maxLength={255} placeholder="named for the object" />
        </label>
      </div>
    </Form>
  );
}

interface WhereProps {
  readonly instanceId: number;
  /** Name of the object. Empty until the user chooses one. */
  readonly objectName: string;
  readonly onChange: (where: string) => void;
}

/** A field for the filter. It completes the fields of the object, once the object is chosen. */
function Where({ instanceId, objectName, onChange }: WhereProps) {
  const element = useRef<HTMLDivElement>(null);
  const metadata = useMetadata(instanceId, objectName);
  return (
    <div class="field" ref={element}>
      <span>Filter</span>
      <WhereEditor
        text=""
        source={editorSource(metadata.value)}
        onChange={onChange}
        onRun={() => element.current?.closest('form')?.requestSubmit()}
      />
      <ErrorNote error={metadata.error} retry={metadata.reload} />
    </div>
  );
}
