import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, type Instance } from '../api.ts';
import { pathOf } from '../explore/address.ts';
import { useAction } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { useNeeds } from '../who.ts';

type Open = 'trace' | 'disable' | 'delete';

interface ActionsProps {
  readonly instance: Instance;
  readonly onChanged: () => void;
}

/** Shows the buttons for actions on an instance. */
export function Actions({ instance, onChanged }: ActionsProps) {
  const needs = useNeeds();
  const [open, setOpen] = useState<Open>();
  const params = { path: { id: instance.id } };
  const enable = useAction(async () => {
    await ask(api.PUT('/instances/{id}/enabled', { params }));
    onChanged();
  });
  const endTrace = useAction(async () => {
    await ask(api.DELETE('/instances/{id}/trace-logging', { params }));
    onChanged();
  });
  const allowed = needs('createElementInstances');
  const close = () => setOpen(undefined);
  return (
    <div class="stack tight">
      <div class="row">
        <a class="button" href={pathOf(instance.id)}>
          Explore
        </a>
        {instance.traceLoggingEnabled ? (
          <button type="button" onClick={() => endTrace.run()} {...allowed}>
            Stop tracing
          </button>
        ) : (
          <button type="button" onClick={() => setOpen('trace')} {...allowed}>
            Trace…
          </button>
        )}
        {instance.disabled ? (
          <button type="button" onClick={() => enable.run()} {...allowed}>
            Enable
          </button>
        ) : (
          <button type="button" onClick={() => setOpen('disable')} {...allowed}>
            Disable…
          </button>
        )}
        <button type="button" class="danger" onClick={() => setOpen('delete')} {...allowed}>
          Delete…
        </button>
      </div>
      <ErrorNote error={enable.error ?? endTrace.error} />
      {open === 'trace' && <TraceDialog instance={instance} onChanged={onChanged} onClose={close} />}
      {open === 'disable' && <DisableDialog instance={instance} onChanged={onChanged} onClose={close} />}
      {open === 'delete' && <DeleteDialog instance={instance} onClose={close} />}
    </div>
  );
}

interface DialogProps extends ActionsProps {
  readonly onClose: () => void;
}

const SPANS: readonly (readonly [seconds: number, name: string])[] = [
  [600, '10 minutes'],
  [3600, 'an hour'],
  [28_800, '8 hours'],
  [86_400, 'a day'],
];

function TraceDialog({ instance, onChanged, onClose }: DialogProps) {
  const trace = async (form: FormData) => {
    const query = { seconds: Number(form.get('seconds')) };
    await ask(api.PUT('/instances/{id}/trace-logging', { params: { path: { id: instance.id }, query } }));
    onChanged();
    onClose();
  };
  return (
    <Dialog title={`Trace ${instance.name}`} onClose={onClose}>
      <Form action="Trace" onSubmit={trace} onCancel={onClose}>
        <p>
          The service stores the headers and bodies of requests to the provider and their responses with the activity.
          It removes secrets, and stores the first 64 kB of a body.
        </p>
        <label>
          Duration
          <select name="seconds">
            {SPANS.map(([seconds, name]) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </Form>
    </Dialog>
  );
}

function DisableDialog({ instance, onChanged, onClose }: DialogProps) {
  const disable = async () => {
    await ask(api.DELETE('/instances/{id}/enabled', { params: { path: { id: instance.id } } }));
    onChanged();
  };
  return (
    <Confirm title={`Disable ${instance.name}?`} action="Disable the instance" onConfirm={disable} onClose={onClose}>
      <ul class="bullets">
        <li>Calls on the instance return 403. The list of its objects stays available.</li>
        <li>Its pollers stop. They resume at the same position when you enable the instance.</li>
        <li>Webhooks that the provider sends meanwhile are dropped and not sent again.</li>
        <li>The service keeps its credentials, token and settings.</li>
      </ul>
    </Confirm>
  );
}

function DeleteDialog({ instance, onClose }: Omit<DialogProps, 'onChanged'>) {
  const { route } = useLocation();
  const remove = async () => {
    await ask(api.DELETE('/instances/{id}', { params: { path: { id: instance.id } } }));
    route('/console/instances');
  };
  return (
    <Confirm title={`Delete ${instance.name}?`} action="Delete the instance" onConfirm={remove} onClose={onClose}>
      <p>You cannot undo this.</p>
      <ul class="bullets">
        <li>Its token stops working, and the service deletes its credentials.</li>
        <li>Its pollers end, and the service deletes their positions.</li>
        <li>The service removes its webhook at the provider.</li>
        <li>The service deletes its bulk jobs and their files.</li>
        <li>The service still delivers events that it has accepted, and keeps them and the activity.</li>
      </ul>
    </Confirm>
  );
}
