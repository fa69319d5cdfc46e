interface ViewChoiceProps {
  readonly view: string | undefined;
  readonly onChange: (view: string | undefined) => void;
}

/** A choice between the graph and the list of the steps. */
export function ViewChoice({ view, onChange }: ViewChoiceProps) {
  const isList = view === 'list';
  return (
    <fieldset class="segments" aria-label="View">
      <button type="button" aria-pressed={!isList} onClick={() => onChange(undefined)}>
        Graph
      </button>
      <button type="button" aria-pressed={isList} onClick={() => onChange('list')}>
        List
      </button>
    </fieldset>
  );
}
