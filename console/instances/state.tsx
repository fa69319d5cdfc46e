import type { Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';

type Instance = Pick<Schemas['Instance'], 'disabled' | 'valid' | 'invalidReason' | 'traceLoggingEnabled'>;

/** Shows the state of an instance. The title of an invalid one has the fault. */
export function State({ instance }: { readonly instance: Instance }) {
  return (
    <span class="row">
      {instance.disabled && <Badge tone="quiet">disabled</Badge>}
      {instance.valid ? (
        !instance.disabled && <Badge tone="good">valid</Badge>
      ) : (
        <Badge tone="bad" title={instance.invalidReason ?? ''}>
          not valid
        </Badge>
      )}
      {instance.traceLoggingEnabled && <Badge tone="busy">traced</Badge>}
    </span>
  );
}
