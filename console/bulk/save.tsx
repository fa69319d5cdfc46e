import { useState } from 'preact/hooks';
import { api, onInstance } from '../api.ts';
import { useAction } from '../load.ts';
import { sayBytes } from '../parts/number.ts';
import { ErrorNote } from '../parts/show.tsx';
import { saveFile } from './files.ts';
import type { Job } from './job-state.tsx';

const FORMS = {
  csv: { title: 'CSV', type: 'text/csv', isSafe: false },
  sheet: { title: 'CSV, safe for spreadsheets', type: 'text/csv', isSafe: true },
  jsonl: { title: 'JSON lines', type: 'application/x-ndjson', isSafe: false },
  json: { title: 'JSON', type: 'application/json', isSafe: false },
} as const;
type Form = keyof typeof FORMS;

/** A button that saves the file of a job, in the stored format or in another one. */
export function SaveFile({ job, instanceId }: { readonly job: Job; readonly instanceId: number }) {
  const { id, jobDirection, objectName, fileFormat, fileName } = job;
  const [form, setForm] = useState<Form>(fileFormat);
  const [count, setCount] = useState(0);
  const { run, isRunning, error } = useAction(async () => {
    const { type, isSafe } = FORMS[form];
    const call = api.GET('/bulk/{id}/{objectName}', {
      headers: { ...onInstance(instanceId), Accept: type },
      params: { path: { id, objectName }, query: isSafe ? { spreadsheet: true } : {} },
      parseAs: 'stream',
    });
    await saveFile(call, fileName, setCount);
  });
  return (
    <>
      <div class="row">
        <select
          class="narrow"
          aria-label="Format of the file"
          title={form === 'sheet' ? "Text that a spreadsheet would read as a formula begins with '." : undefined}
          value={form}
          onChange={({ currentTarget }) => setForm(isForm(currentTarget.value) ? currentTarget.value : fileFormat)}
        >
          {Object.entries(FORMS).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
        <button type="button" class="main" disabled={isRunning} onClick={() => run()}>
          {isRunning ? `${sayBytes(count)} read` : jobDirection === 'UPLOAD' ? 'Save the outcomes' : 'Save the file'}
        </button>
      </div>
      <ErrorNote error={error} />
    </>
  );
}

function isForm(name: string): name is Form {
  return Object.hasOwn(FORMS, name);
}
