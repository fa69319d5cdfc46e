import type { Schemas } from '../api.ts';
import type { Values } from './form-values.ts';
import type { Given } from './grant.ts';

interface SimulatorSwitchProps {
  readonly element: Schemas['ElementDetail'];
  readonly given: Given;
  readonly onChange: (change: (last: Given) => Given) => void;
}

/** The switch that connects the simulator of an element, for users without an account at the provider. */
export function SimulatorSwitch({ element, given, onChange }: SimulatorSwitchProps) {
  const fill = (isSimulated: boolean) =>
    onChange((last) => ({ ...last, isSimulated, values: { ...last.values, ...demoValues(element, isSimulated) } }));
  return (
    <div class={given.isSimulated ? 'note good' : 'note'}>
      <label class="inline strong">
        <input
          type="checkbox"
          checked={given.isSimulated}
          onChange={({ currentTarget }) => fill(currentTarget.checked)}
        />
        Use the simulator
      </label>
      <span class="small">
        {given.isSimulated
          ? `Calls go to a simulated ${element.name} on this service, with sample records. The fields are filled in.`
          : `No account at ${element.name}? Use the simulator of this service. It fills in the fields.`}
      </span>
    </div>
  );
}

/** Returns the values that the simulator needs, or empty ones when it is switched off. */
function demoValues({ simulator }: Schemas['ElementDetail'], isSimulated: boolean): Values {
  const { simulator: _, ...demo } = simulator?.configuration ?? {};
  return Object.fromEntries(
    Object.entries(demo).map(([key, value]) => [
      key,
      typeof value === 'boolean' ? isSimulated && value : isSimulated ? String(value) : '',
    ]),
  );
}
