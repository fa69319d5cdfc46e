import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { readData, Sent } from './test-event.tsx';

/** Sends a test event to one endpoint, and says whether its filter accepts the event. */
export function EndpointTest({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const [sent, setSent] = useState<Schemas['TestedSubscription']>();
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      {sent === undefined ? (
        <TestForm id={id} onSent={setSent} />
      ) : (
        <>
          <p role="status">{verdictOf(sent)}</p>
          {sent.warnings?.map(({ field, message }) => (
            <p key={field} class="soft">
              {message}
            </p>
          ))}
          <Sent event={sent} />
        </>
      )}
    </Dialog>
  );
}

function verdictOf({ matches, unfiltered }: Schemas['TestedSubscription']): string {
  if (unfiltered) return 'The filter needs a record that the event does not have, or the types of its fields.';
  return matches
    ? 'The filter accepts the event.'
    : 'The filter does not accept the event. It is sent as a test all the same.';
}

interface TestFormProps {
  readonly id: number;
  readonly onSent: (sent: Schemas['TestedSubscription']) => void;
}

function TestForm({ id, onSent }: TestFormProps) {
  const instances = useInstances();
  const [instanceId, setInstanceId] = useState<string>();
  const send = async (form: FormData) => {
    const text = readText(form, 'object');
    const body = {
      type: readText(form, 'type'),
      ...(instanceId !== undefined && { instanceId: Number(instanceId) }),
      ...(text !== '' && { object: readData(text) }),
    };
    onSent(await ask(api.POST('/notifications/subscriptions/{id}/test', { params: { path: { id } }, body })));
  };
  return (
    <Form action="Send" onSubmit={send}>
      <p class="soft">Only this endpoint receives the event, whatever it wants.</p>
      <InstanceChoice
        instances={instances}
        value={instanceId}
        onChange={setInstanceId}
        none="An instance of the endpoint"
      />
      <Field label="Type" name="type" value="test.created" required />
      <label>
        Record
        <textarea name="object" class="mono" rows={4} spellcheck={false} placeholder={'{ "stage": "Won" }'} />
      </label>
    </Form>
  );
}
