import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { listDeliveries } from './calls.ts';
import { DeliveryTable } from './delivery-table.tsx';

const CALLBACK_URL = 'event.notification.callback.url';
/** Without a callback URL, events start formulas. */
const ENABLED = 'event.notification.enabled';
const EVERY_MS = 1_000;

interface TestEventProps {
  /** Callback URL that receives the event. Undefined: the instance's own. */
  readonly url?: string;
  readonly onClose: () => void;
}

/** Sends a test event to a receiver, and shows its outcome. */
export function TestEvent({ url, onClose }: TestEventProps) {
  const [sent, setSent] = useState<Schemas['AcceptedTestEvent']>();
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      {sent === undefined ? <TestForm url={url} onSent={setSent} /> : <Sent event={sent} />}
    </Dialog>
  );
}

interface TestFormProps {
  readonly url: string | undefined;
  readonly onSent: (event: Schemas['AcceptedTestEvent']) => void;
}

function TestForm({ url, onSent }: TestFormProps) {
  const all = useInstances();
  const senders = all.value?.filter(({ configuration }) => {
    const callback = configuration[CALLBACK_URL];
    return url === undefined ? Boolean(callback) || configuration[ENABLED] === true : callback === url;
  });
  const [chosen, setChosen] = useState<string>();
  const first = senders?.find(({ configuration }) => configuration[CALLBACK_URL]) ?? senders?.[0];
  const instanceId = chosen ?? (first && String(first.id));
  const send = async (form: FormData) => {
    if (instanceId === undefined) return;
    const type = readText(form, 'type');
    const data = readData(readText(form, 'data'));
    const body = { instanceId: Number(instanceId), type, data };
    onSent(await ask(api.POST('/events/test', { body })));
  };
  if (senders?.length === 0) return <NoSender url={url} />;
  return (
    <Form
      action="Send"
      onSubmit={send}
      refusal={instanceId === undefined ? 'Choose an instance with events.' : undefined}
    >
      <p class="soft">The service accepts, signs, delivers and retries it like any other event of the instance.</p>
      <ErrorNote error={all.error} retry={all.reload} />
      <InstanceChoice
        instances={{ ...all, value: senders }}
        value={instanceId}
        onChange={setChosen}
        none="Choose one"
      />
      <Field label="Type" name="type" value="test.created" required />
      <label>
        Data
        <textarea
          name="data"
          class="mono"
          rows={4}
          spellcheck={false}
          defaultValue={'{ "note": "Does this arrive?" }'}
        />
      </label>
    </Form>
  );
}

function NoSender({ url }: { readonly url: string | undefined }) {
  return (
    <Empty title={url === undefined ? 'No instance has events.' : 'No instance sends events to this URL.'}>
      <p>
        Turn on events in the configuration of an <a href="/console/instances">instance</a>: <code>{ENABLED}</code> and{' '}
        <code>{CALLBACK_URL}</code>.
      </p>
    </Empty>
  );
}

interface SentProps {
  readonly event: Schemas['AcceptedTestEvent'];
}

/** The outcome of a test event. */
export function Sent({ event: { eventId, config } }: SentProps) {
  const loaded = useLoad(
    async (signal) => (await listDeliveries({ where: `event.id = '${eventId}'`, pageSize: 5 }, signal)).rows,
    [eventId],
    { everyMs: EVERY_MS },
  );
  return (
    <>
      <p role="status">
        <code class="break">{eventId}</code>{' '}
        {config === undefined ? (
          'goes to formulas and endpoints. The instance sends it to no callback URL.'
        ) : (
          <>
            is being delivered to <span class="break">{config.url}</span>.
          </>
        )}
      </p>
      <Show loaded={loaded} lines={2}>
        {(rows) => (
          <DeliveryTable
            label="Deliveries of the test event"
            rows={rows}
            isOfOneReceiver
            linkOf={({ id }) => `/console/events/deliveries/${id}`}
          />
        )}
      </Show>
    </>
  );
}

/** Parses the data of the event. @throws Error for JSON that is not an object */
export function readData(text: string): Record<string, unknown> {
  const value = parse(text === '' ? '{}' : text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('The data must be a JSON object.');
  }
  return { ...value };
}

/**
 * Parses JSON.
 * @throws Error for invalid JSON, with the reason
 */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`The data is not JSON: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
