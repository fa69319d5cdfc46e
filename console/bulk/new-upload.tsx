import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, onInstance, type Schemas } from '../api.ts';
import { Form } from '../parts/form.tsx';
import { sayBytes } from '../parts/number.ts';
import { sendingForm } from './files.ts';
import { textIn } from './form.ts';
import { ObjectChoice } from './object-choice.tsx';
import { type NewJobProps, OnInstance } from './on-instance.tsx';
import { pathOfJob } from './paths.ts';

type Action = Schemas['BulkAction'];

const ACTIONS: readonly (readonly [Action, title: string])[] = [
  ['create', 'create a record from each row'],
  ['update', 'update the record of each row'],
  ['upsert', 'update the record of each row, or create it if there is none'],
  ['delete', 'delete the record of each row'],
];

/**
 * Asks the user for a file and an action for its rows, uploads it, and opens the page of the job. Closing the dialog before that cancels
 * the upload.
 */
export function NewUpload(props: NewJobProps) {
  return (
    <OnInstance title="Upload records" {...props}>
      {(instanceId) => <Upload instanceId={instanceId} onClose={props.onClose} />}
    </OnInstance>
  );
}

function Upload({ instanceId, onClose }: { readonly instanceId: number; readonly onClose: () => void }) {
  const { route } = useLocation();
  const [part, setPart] = useState<number>();
  const [size, setSize] = useState<number>();
  const sending = useRef<AbortController>(undefined);
  useEffect(() => () => sending.current?.abort(), []);
  const send = async (given: FormData) => {
    const file = given.get('file');
    if (!(file instanceof File)) return;
    sending.current = new AbortController();
    const metaData = metaDataOf(given, file);
    const form = new FormData();
    form.append('metaData', JSON.stringify(metaData));
    form.append('file', file);
    setPart(0);
    const { id } = await ask(
      api.POST('/bulk/{id}', {
        signal: sending.current.signal,
        headers: onInstance(instanceId),
        params: { path: { id: textIn(given, 'objectName') ?? '' } },
        body: { file: file.name, metaData },
        bodySerializer: () => form,
        fetch: sendingForm(form, setPart),
      }),
    ).finally(() => setPart(undefined));
    route(pathOfJob(id, instanceId));
  };
  return (
    <Form action="Start the upload" onSubmit={send} onCancel={onClose}>
      <label>
        File: CSV with a header, or a JSON object on each line
        <input
          type="file"
          name="file"
          required
          accept=".csv,.jsonl,.ndjson,text/csv,application/x-ndjson"
          onChange={({ currentTarget }) => setSize(currentTarget.files?.[0]?.size)}
        />
      </label>
      <ObjectChoice instanceId={instanceId} operations={['create', 'update', 'delete']} />
      <label>
        Action
        <select name="action">
          {ACTIONS.map(([action, title]) => (
            <option key={action} value={action}>
              {action}: {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Field that identifies the record of a row
        <input class="mono" name="identifierFieldName" placeholder="the id of the object" spellcheck={false} />
      </label>
      {part !== undefined && (
        <label>
          {Math.floor(part * 100)} % of {sayBytes(size ?? 0)} sent
          <progress max={1} value={part} />
        </label>
      )}
    </Form>
  );
}

function metaDataOf(given: FormData, file: File): Schemas['BulkUploadMetaData'] {
  const identifierFieldName = textIn(given, 'identifierFieldName');
  const named = textIn(given, 'action');
  const [action = 'create'] = ACTIONS.find(([each]) => each === named) ?? [];
  return {
    format: /\.(?:jsonl|ndjson)$/i.test(file.name) ? 'jsonl' : 'csv',
    action,
    ...(identifierFieldName !== undefined && { identifierFieldName }),
  };
}
