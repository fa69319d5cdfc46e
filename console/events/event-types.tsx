import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { Form } from '../parts/form.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, type Subscription } from './calls.ts';

interface EventTypesProps {
  readonly subscription: Subscription;
  readonly reload: () => void;
}

/** Which events are stored for a subscription. */
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
  const unchanged = isChanged ? undefined : 'Nothing is changed yet.';
  return (
    <section class="card" aria-label="Event types">
      <Form action="Save" onSubmit={save} refusal={needs(CHANGING).title ?? unchanged}>
        <h3>Event types</h3>
        <label>
          <span class="small soft">
            One a line. <code>employees.*</code> stands for all that begin so, <code>*</code> for every type. What is
            not wanted is not stored, so it cannot be asked for later.
          </span>
          <textarea
            class="mono"
            aria-label="Wanted event types"
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
