import { api, askPage, type Instance } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

/** Maximum number of entries of a list. Nobody reads a longer one. */
const MOST_LISTED = 1_000;

/** The instances of the account, to choose one of them. */
export function useInstances(): Loaded<readonly Instance[]> {
  return useLoad(async (signal) => {
    const { rows } = await askPage(api.GET('/instances', { signal, params: { query: { pageSize: MOST_LISTED } } }));
    return rows;
  }, []);
}

interface InstanceChoiceProps {
  readonly instances: Loaded<readonly Instance[]>;
  /** An id; undefined: none is chosen. */
  readonly value: string | undefined;
  readonly onChange: (id: string | undefined) => void;
  /** The text where no value is chosen. */
  readonly none: string;
}

/** A list to choose from. One that is not in it, such as one that was deleted, stands there by its id. */
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
