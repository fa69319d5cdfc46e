import type { Instance } from '../api.ts';
import { CODES } from '../parts/code-words.tsx';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import type { AddressQuery } from '../parts/query.ts';
import { CONTROLS, KINDS, PERIODS, STATUSES } from './filter.ts';
import { useWritten } from './written.ts';

interface FilterBarProps extends AddressQuery {
  /** The filter in force: the one that the user wrote, or the one that the controls make. */
  readonly where: string | undefined;
  readonly refresh: () => void;
}

/** Shows the controls of the filter, and the text that they make, which the user can edit. */
export function FilterBar({ query, change, where, refresh }: FilterBarProps) {
  const isWritten = query.where !== undefined;
  const writtenFilter = useWritten(where ?? '');
  return (
    <search class="stack tight">
      {!isWritten && <Controls query={query} change={change} />}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const written = new FormData(event.currentTarget).get('where');
          const text = typeof written === 'string' ? written.trim() : '';
          if (text !== (where ?? '')) change({ ...without(CONTROLS), where: text });
          else refresh();
        }}
      >
        <input
          ref={writtenFilter}
          defaultValue={where ?? ''}
          spellcheck={false}
          class="grow mono"
          type="search"
          name="where"
          aria-label="Filter"
          placeholder="All requests. Enter a filter, such as status >= 400 AND path LIKE '%contacts%'"
        />
        <button type="submit">{isWritten ? 'Apply' : 'Refresh'}</button>
        {(isWritten || where !== undefined) && (
          <button type="button" class="plain" onClick={() => change(without([...CONTROLS, 'where']))}>
            {isWritten ? 'Use controls' : 'Show all requests'}
          </button>
        )}
      </form>
    </search>
  );
}

function Controls({ query, change }: AddressQuery) {
  const instances = useInstances();
  return (
    <div class="filters">
      <Choice
        name="kind"
        label="Kind"
        query={query}
        change={change}
        options={Object.entries(KINDS).filter(([kind]) => kind !== 'all')}
      />
      <InstanceChoice
        instances={instances}
        value={query.instance}
        onChange={(instance) => change({ instance })}
        none="any"
      />
      <Words name="element" label="Element" query={query} change={change} known={elementsOf(instances.value)} />
      <Choice name="status" label="Status" query={query} change={change} options={Object.keys(STATUSES).map(same)} />
      <Choice name="code" label="Error code" query={query} change={change} options={CODES.map(same)} />
      <Words name="path" label="Path contains" query={query} change={change} />
      <Choice
        name="since"
        label="Time"
        query={query}
        change={change}
        options={[...PERIODS].map(([name, { title }]) => [name, title])}
      />
      <Check name="failures" label="Only failures" query={query} change={change} />
      <Check name="calls" label="Only requests on instances" query={query} change={change} />
    </div>
  );
}

interface ControlProps extends AddressQuery {
  readonly name: string;
  readonly label: string;
}

function Check({ name, label, query, change }: ControlProps) {
  return (
    <label class="inline">
      <input
        type="checkbox"
        checked={query[name] !== undefined}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.checked ? '1' : undefined })}
      />
      {label}
    </label>
  );
}

function Choice({
  name,
  label,
  query,
  change,
  options,
}: ControlProps & { readonly options: readonly (readonly [value: string, title: string])[] }) {
  return (
    <label>
      {label}
      <select
        value={query[name] ?? ''}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value || undefined })}
      >
        <option value="">any</option>
        {options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Words({ name, label, query, change, known = [] }: ControlProps & { readonly known?: readonly string[] }) {
  const list = `known-${name}`;
  const input = useWritten(query[name] ?? '');
  return (
    <label>
      {label}
      <input
        ref={input}
        defaultValue={query[name] ?? ''}
        spellcheck={false}
        placeholder="any"
        list={known.length === 0 ? undefined : list}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value.trim() || undefined })}
      />
      {known.length > 0 && (
        <datalist id={list}>
          {known.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </label>
  );
}

function elementsOf(instances: readonly Instance[] = []): readonly string[] {
  return [...new Set(instances.map(({ element }) => element.key))].sort();
}

function same(value: string): readonly [string, string] {
  return [value, value];
}

function without(names: readonly string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
