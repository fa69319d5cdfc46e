import { api, askPage, type Instance } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

/** Maximum number of entries in a list of choices. Nobody reads a longer one. */
const MOST_LISTED = 1_000;

/** Returns the instances of the account, for a list of choices. */
export function useInstances(): Loaded<readonly Instance[]> {
  return useLoad(async (signal) => {
    const { rows } = await askPage(api.GET('/instances', { signal, params: { query: { pageSize: MOST_LISTED } } }));
    return rows;
  }, []);
}

interface InstanceChoiceProps {
  readonly instances: Loaded<readonly Instance[]>;
  /** Id of the chosen instance. Undefined if none is chosen. */
  readonly value: string | undefined;
  readonly onChange: (id: string | undefined) => void;
  /** Text of the choice without an instance. */
  readonly none: string;
}

/** A choice of one of the instances. A value that is not among them, such as a deleted instance, is shown by its id. */
export function InstanceChoice({
  instances: { value: list = [], isLoading },
  value,
  onChange,
  none,
}: InstanceChoiceProps) {
  const isKnown = value === undefined || list.some(({ id }) => String(id) === value);
  return (
    <label>
      Instance
      <select value={value ?? ''} onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}>
        <option value="">{isLoading && list.length === 0 ? 'Loading…' : none}</option>
        {!isKnown && <option value={value}>#{value}</option>}
        {list.map(({ id, name, element }) => (
          <option key={id} value={String(id)}>
            {name} · {element.key} · #{id}
          </option>
        ))}
      </select>
    </label>
  );
}
