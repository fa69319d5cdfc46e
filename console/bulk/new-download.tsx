import { useLocation } from 'preact-iso';
import { api, ask, onInstance } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { textIn } from './form.ts';
import { ObjectChoice } from './object-choice.tsx';
import { pathOfJob } from './paths.ts';

interface NewJobProps {
  readonly instanceId: number;
  readonly onClose: () => void;
}

const FIELDS = [
  { name: 'where', label: 'Filter', placeholder: "all records, or price > 20 AND name LIKE 'A%'" },
  { name: 'fields', label: 'Fields', placeholder: 'all fields, or id,name,price' },
  { name: 'orderBy', label: 'Order', placeholder: 'as the provider has them, or name desc' },
] as const;

/** Asks what is to be read, and goes to the job. */
export function NewDownload({ instanceId, onClose }: NewJobProps) {
  const { route } = useLocation();
  const start = async (form: FormData) => {
    const limit = textIn(form, 'limit');
    const text = (name: string) => textIn(form, name);
    const { id } = await ask(
      api.POST('/bulk/query', {
        headers: onInstance(instanceId),
        body: {
          format: text('format') === 'jsonl' ? 'jsonl' : 'csv',
          ...Object.fromEntries(
            ['objectName', 'where', 'fields', 'orderBy', 'fileName'].flatMap((name) => {
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
    <Dialog title="Download records" onClose={onClose}>
      <Form action="Start the download" onSubmit={start} onCancel={onClose}>
        <ObjectChoice instanceId={instanceId} operations={['list']} />
        {FIELDS.map(({ name, label, placeholder }) => (
          <label key={name}>
            {label}
            <input class="mono" name={name} placeholder={placeholder} spellcheck={false} />
          </label>
        ))}
        <div class="filters">
          <label>
            Rows at most
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
            <input name="fileName" maxLength={255} placeholder="by the object" />
          </label>
        </div>
      </Form>
    </Dialog>
  );
}
