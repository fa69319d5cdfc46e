import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Instance } from '../api.ts';
import type { Loaded } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { InstanceChoice } from '../parts/instance-choice.tsx';

export interface NewJobProps {
  readonly instances: Loaded<readonly Instance[]>;
  /** Id of the instance. Undefined until the user chooses one. */
  readonly instanceId: number | undefined;
  readonly onClose: () => void;
}

interface OnInstanceProps extends NewJobProps {
  readonly title: string;
  readonly children: (instanceId: number) => ComponentChildren;
}

/** A dialog for an action on an instance, which the user chooses in the dialog. */
export function OnInstance({ title, instances, instanceId, onClose, children }: OnInstanceProps) {
  const [chosen, setChosen] = useState(instanceId);
  return (
    <Dialog title={title} onClose={onClose}>
      <InstanceChoice
        instances={instances}
        value={chosen?.toString()}
        onChange={(id) => setChosen(id === undefined ? undefined : Number(id))}
        none="Choose an instance"
      />
      {chosen !== undefined && <div key={chosen}>{children(chosen)}</div>}
    </Dialog>
  );
}
