import { useId, useState } from 'preact/hooks';

export interface Choice {
  readonly key: string;
  readonly title: string;
  readonly detail?: string;
}

interface ComboboxProps {
  readonly label: string;
  /** The chosen value. */
  readonly chosen: string | undefined;
  readonly choices: readonly Choice[];
  readonly placeholder: string;
  readonly onChoose: (choice: Choice) => void;
  /** Receives the typed text and searches for choices elsewhere. Without it, the given choices are filtered. */
  readonly onWords?: (words: string) => void;
  readonly isDisabled?: boolean;
}

const MOST_SHOWN = 100;

/** A field that chooses one of many values by a part of its name. */
export function Combobox({ label, chosen, choices, placeholder, onChoose, onWords, isDisabled }: ComboboxProps) {
  const id = useId();
  const [words, setWords] = useState<string>();
  const [active, setActive] = useState(0);
  const isOpen = words !== undefined;
  const shown = (onWords === undefined ? filterChoices(choices, words ?? '') : choices).slice(0, MOST_SHOWN);
  const write = (next: string | undefined) => {
    setWords(next);
    setActive(0);
    onWords?.(next ?? '');
  };
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    write(undefined);
    onChoose(choice);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => (isOpen ? setActive(Math.min(active + 1, shown.length - 1)) : write('')),
    ArrowUp: () => setActive(Math.max(active - 1, 0)),
    Enter: () => (isOpen ? choose(shown[active]) : write('')),
    Escape: () => write(undefined),
  };
  return (
    <div class="combo field">
      <label for={`${id}-input`} class="small soft">
        {label}
      </label>
      <input
        id={`${id}-input`}
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && shown[active] !== undefined ? `${id}-${active}` : undefined}
        disabled={isDisabled}
        placeholder={isOpen ? (chosen ?? placeholder) : placeholder}
        value={words ?? chosen ?? ''}
        onClick={() => isOpen || write('')}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onBlur={() => isOpen && write(undefined)}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen} tabIndex={-1}>
        {isOpen &&
          shown.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
            <div
              key={choice.key}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              ref={index === active ? showIt : undefined}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(choice)}
            >
              <span class="break">{choice.title}</span>
              {choice.detail !== undefined && <span class="soft small">{choice.detail}</span>}
            </div>
          ))}
        {isOpen && shown.length === 0 && (
          <div role="option" aria-selected="false" aria-disabled="true" tabIndex={-1} class="soft">
            Nothing matches. Change the search.
          </div>
        )}
      </div>
    </div>
  );
}

function showIt(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}

function filterChoices(choices: readonly Choice[], words: string): readonly Choice[] {
  const wanted = words.trim().toLowerCase();
  return choices.filter(({ title }) => title.toLowerCase().includes(wanted));
}
