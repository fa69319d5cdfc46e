interface ViewChoiceProps {
  readonly view: string | undefined;
  readonly onChange: (view: string | undefined) => void;
}

/** Shows the steps as a graph or as a list. */
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
