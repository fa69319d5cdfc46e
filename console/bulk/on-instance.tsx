import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Instance } from '../api.ts';
import type { Loaded } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { InstanceChoice } from '../parts/instance-choice.tsx';

export interface NewJobProps {
  readonly instances: Loaded<readonly Instance[]>;
  /** Id of the instance that the dialog begins with. Undefined if the user is to choose one. */
  readonly instanceId: number | undefined;
  readonly onClose: () => void;
}

interface OnInstanceProps extends NewJobProps {
  readonly title: string;
  readonly children: (instanceId: number) => ComponentChildren;
}

/** A dialog for an action on an instance, which the user chooses in the dialog. */
export function OnInstance({ title, instances, instanceId, onClose, children }: OnInstanceProps) {
  // Until the user selects one: the instance to begin with can become known after the dialog is open.
  const [selected, setSelected] = useState<{ readonly id: number | undefined }>();
  const chosen = selected === undefined ? instanceId : selected.id;
  return (
    <Dialog title={title} onClose={onClose}>
      <InstanceChoice
        instances={instances}
        value={chosen?.toString()}
        onChange={(id) => setSelected({ id: id === undefined ? undefined : Number(id) })}
        none="Choose an instance"
      />
      {chosen !== undefined && <div key={chosen}>{children(chosen)}</div>}
    </Dialog>
  );
}
