import { useId } from 'preact/hooks';

interface NextStepsProps {
  readonly label: string;
  /** Names of the following steps, in the order in which they run. */
  readonly names: readonly string[];
  readonly all: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
  readonly messages: readonly string[];
}

/** A choice of the steps that follow, by name. */
export function NextSteps({ label, names, all, onChange, messages }: NextStepsProps) {
  const id = useId();
  const others = all.filter((name) => !names.includes(name));
  return (
    <fieldset class="plain field">
      <legend>{label}</legend>
      {names.length > 0 && (
        <ol>
          {names.map((name, place) => (
            <li key={place}>
              <span class="break">{name}</span> {!all.includes(name) && <span class="badge bad">no such step</span>}
              <button
                type="button"
                class="plain"
                aria-label={`Remove ${name} from ${label}`}
                onClick={() => onChange(names.filter((_, index) => index !== place))}
              >
                Remove
              </button>
            </li>
          ))}
        </ol>
      )}
      <select
        id={id}
        aria-label={`${label}: add a step`}
        value=""
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '') onChange([...names, currentTarget.value]);
          currentTarget.value = '';
        }}
      >
        <option value="">{names.length === 0 ? 'The end. Choose the next step' : 'And then…'}</option>
        {others.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {messages.map((message) => (
        <div key={message} class="small fault">
          {message}
        </div>
      ))}
    </fieldset>
  );
}
