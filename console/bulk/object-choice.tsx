import { api, askPage, onInstance, type Schemas } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';

type Operation = Schemas['ObjectOperation'];

interface BulkObject {
  readonly name: string;
  readonly operations: readonly Operation[];
}

/** Returns the objects of an instance with the operations of each. */
function useObjects(instanceId: number): Loaded<readonly BulkObject[]> {
  return useLoad(
    async (signal) => {
      const asked = { signal, headers: onInstance(instanceId), params: { query: { details: true } } };
      const { rows } = await askPage(api.GET('/objects', asked));
      return rows.map((row) => (typeof row === 'string' ? { name: row, operations: [] } : row));
    },
    [instanceId],
  );
}

interface ObjectChoiceProps {
  readonly instanceId: number;
  /** Operations of which an object must support at least one to be listed. */
  readonly operations: readonly Operation[];
  readonly onChange?: (objectName: string) => void;
}

/** A choice of an object, as the field `objectName` of a form. */
export function ObjectChoice({ instanceId, operations, onChange }: ObjectChoiceProps) {
  const { value, error, isLoading, reload } = useObjects(instanceId);
  const objects = value?.filter((each) => operations.some((operation) => each.operations.includes(operation))) ?? [];
  return (
    <>
      <label>
        Object
        <select
          name="objectName"
          required
          disabled={objects.length === 0}
          onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
        >
          <option value="">{isLoading ? 'Loading…' : 'Choose an object'}</option>
          {objects.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <ErrorNote error={error} retry={reload} />
      {value !== undefined && objects.length === 0 && (
        <p class="soft">No object of this instance supports this. Choose another instance.</p>
      )}
    </>
  );
}
