import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { Form } from '../parts/form.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, type Subscription } from './calls.ts';

interface EventTypesProps {
  readonly subscription: Subscription;
  readonly reload: () => void;
}

/** Shows and changes the types of the events that are stored for a subscription. */
export function EventTypes({ subscription: { id, eventTypes }, reload }: EventTypesProps) {
  const needs = useNeeds();
  const [text, setText] = useState(eventTypes.join('\n'));
  const wanted = text.split(/[\s,]+/).filter((each) => each !== '');
  const isChanged = wanted.join() !== eventTypes.join();
  const save = async () => {
    const params = { path: { id } };
    await ask(api.PATCH('/notifications/subscriptions/{id}', { params, body: { eventTypes: wanted } }));
    reload();
  };
  const unchanged = isChanged ? undefined : 'There are no changes to save.';
  return (
    <section class="card" aria-label="Event types">
      <Form action="Save" onSubmit={save} refusal={needs(CHANGING).title ?? unchanged}>
        <h3>Event types</h3>
        <label>
          <span class="small soft">
            One per line. <code>employees.*</code> means all types that begin with it, <code>*</code> means all types.
            The service does not store other events, so you cannot request them later.
          </span>
          <textarea
            class="mono"
            aria-label="Event types to receive"
            rows={Math.min(Math.max(wanted.length, 2), 8)}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      </Form>
    </section>
  );
}
