import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import type { Trigger } from './flow.ts';
import { pathOfExecution } from './paths.ts';

const EVENT = {
  message: {
    instance_id: 1,
    events: [
      {
        ...{ objectType: 'contacts', objectId: '1', eventType: 'UPDATED', elementKey: 'keap', hubKey: 'crm' },
        date: '2026-01-01T00:00:00Z',
      },
    ],
    raw: {},
  },
};
const REQUEST = { request: { method: 'POST', path: '/contacts', body: {} }, response: { code: 200, body: {} } };
const INPUTS: Readonly<Record<Trigger['type'], unknown>> = {
  event: EVENT,
  elementRequest: REQUEST,
  scheduled: {},
  manual: {},
};
const MEANS: Readonly<Record<Trigger['type'], string>> = {
  event: 'Each entry of message.events starts one execution.',
  elementRequest: 'The members of request and response are the values of the trigger.',
  scheduled: 'A schedule has no input.',
  manual: 'The steps find the input in trigger.args.',
};

interface TestRunProps {
  readonly instanceId: number;
  readonly trigger: Trigger['type'];
  /** Shows the list of executions after the input has started several, which have no common page. */
  readonly onSeveral: () => void;
  readonly onClose: () => void;
}

/** Starts the formula instance with an input, and shows the execution. */
export function TestRun({ instanceId, trigger, onSeveral, onClose }: TestRunProps) {
  const { route } = useLocation();
  const [text, setText] = useState(JSON.stringify(INPUTS[trigger], null, 2));
  const start = async () => {
    const body = readInput(text);
    const params = { path: { instanceId } };
    const started = await ask(api.POST('/formulas/instances/{instanceId}/executions', { params, body }));
    const [first, ...more] = started;
    onClose();
    if (first !== undefined && more.length === 0) route(pathOfExecution(first.id));
    else onSeveral();
  };
  return (
    <Dialog title="Run the instance" onClose={onClose}>
      <p>The steps run as they do for a real trigger: requests are sent, and records change.</p>
      <Form action="Run" onSubmit={start} onCancel={onClose}>
        <label>
          Input as JSON
          <textarea
            class="mono"
            rows={12}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <p class="small soft">{MEANS[trigger]}</p>
      </Form>
    </Dialog>
  );
}

/** Parses the input of a test run. @throws Error with the position of the fault */
function readInput(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`The input is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
