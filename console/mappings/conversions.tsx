import type { Direction, FieldForm, Otherwise, Source, ValuePair } from './transformation-form.ts';

interface ConversionsProps {
  readonly field: FieldForm;
  readonly onChange: (changes: Partial<FieldForm>) => void;
}

const SOURCES: Readonly<Record<Source, string>> = {
  path: 'One field of the provider',
  first: 'The first of several fields that has a value',
  join: 'Several fields as one text',
  constant: 'Always the same value',
  script: 'The script',
};

const DIRECTIONS: Readonly<Record<Direction, string>> = {
  both: 'In responses and requests',
  read: 'In responses only',
  write: 'In requests only',
  none: 'In neither',
};

const OTHERWISE: Readonly<Record<Otherwise, string>> = {
  null: 'becomes null',
  keep: 'stays as it is',
  value: 'becomes this value',
};

/** Returns what happens to the values of a field, in a few words each. */
export function sayConversions(field: FieldForm): readonly string[] {
  const { source, datePattern, factor, values, defaultValue, direction } = field;
  const said: readonly (string | false)[] = [
    source !== 'path' && source,
    datePattern !== '' && `date ${datePattern}`,
    factor !== '' && `× ${factor}`,
    values.length > 0 && `${values.length} ${values.length === 1 ? 'value' : 'values'} mapped`,
    defaultValue !== '' && `default ${defaultValue}`,
    direction !== 'both' && DIRECTIONS[direction].toLowerCase(),
  ];
  return said.filter((each) => each !== false);
}

function keysOf<Key extends string>(record: Readonly<Record<Key, string>>): readonly Key[] {
  return Object.keys(record) as Key[];
}

interface ChoiceProps<Key extends string> {
  readonly label: string;
  readonly titles: Readonly<Record<Key, string>>;
  readonly value: Key;
  readonly onChange: (key: Key) => void;
}

function Choice<Key extends string>({ label, titles, value, onChange }: ChoiceProps<Key>) {
  const keys = keysOf(titles);
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) => onChange(keys.find((key) => key === currentTarget.value) ?? value)}
      >
        {keys.map((key) => (
          <option key={key} value={key}>
            {titles[key]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (text: string) => void;
}

function Text({ label, value, placeholder, onChange }: TextProps) {
  return (
    <label>
      {label}
      <input
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </label>
  );
}

/** Shows how the values of a field are made and converted. */
export function Conversions({ field, onChange }: ConversionsProps) {
  const { source, type, constant, paths, separator, datePattern, factor, defaultValue, direction } = field;
  const hasPaths = source === 'join' || source === 'first';
  return (
    <div class="stack tight">
      <div class="filters">
        <Choice label="Value" titles={SOURCES} value={source} onChange={(next) => onChange({ source: next })} />
        <Choice
          label="Direction"
          titles={DIRECTIONS}
          value={direction}
          onChange={(next) => onChange({ direction: next })}
        />
        {source === 'constant' && (
          <Text
            label="Constant"
            value={constant}
            placeholder="null"
            onChange={(text) => onChange({ constant: text })}
          />
        )}
        {source === 'join' && (
          <Text label="Separator" value={separator} onChange={(text) => onChange({ separator: text })} />
        )}
        {type === 'date' && (
          <Text
            label="Date pattern of the provider"
            value={datePattern}
            placeholder="ISO 8601"
            onChange={(text) => onChange({ datePattern: text })}
          />
        )}
        {(type === 'number' || factor !== '') && (
          <Text
            label="Factor to your number"
            value={factor}
            placeholder="1"
            onChange={(text) => onChange({ factor: text })}
          />
        )}
        <Text
          label="Default, if empty"
          value={defaultValue}
          placeholder="none"
          onChange={(text) => onChange({ defaultValue: text })}
        />
      </div>
      {hasPaths && (
        <label>
          Paths of the provider, one per line
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            value={paths}
            onInput={({ currentTarget }) => onChange({ paths: currentTarget.value })}
          />
        </label>
      )}
      <ValueMap field={field} onChange={onChange} />
    </div>
  );
}

function ValueMap({ field: { path, values, otherwise, otherwiseValue }, onChange }: ConversionsProps) {
  const changePair = (position: number, changes: Partial<ValuePair>) =>
    onChange({ values: values.map((pair, index) => (index === position ? { ...pair, ...changes } : pair)) });
  return (
    <fieldset class="stack tight plain">
      <legend>Values</legend>
      {values.map((pair, position) => (
        <div key={position} class="pair">
          <input
            aria-label={`Value ${position + 1} of the provider for ${path}`}
            placeholder="value of the provider"
            autocomplete="off"
            value={pair.vendor}
            onInput={({ currentTarget }) => changePair(position, { vendor: currentTarget.value })}
          />
          <input
            aria-label={`Your value ${position + 1} for ${path}`}
            placeholder="your value"
            autocomplete="off"
            value={pair.ours}
            onInput={({ currentTarget }) => changePair(position, { ours: currentTarget.value })}
          />
          <button
            type="button"
            class="plain"
            aria-label={`Remove value ${position + 1} of ${path}`}
            onClick={() => onChange({ values: values.filter((_, index) => index !== position) })}
          >
            ✕
          </button>
        </div>
      ))}
      {values.length > 0 && (
        <div class="filters">
          <Choice
            label="Any other value"
            titles={OTHERWISE}
            value={otherwise}
            onChange={(next) => onChange({ otherwise: next })}
          />
          {otherwise === 'value' && (
            <Text label="This value" value={otherwiseValue} onChange={(text) => onChange({ otherwiseValue: text })} />
          )}
        </div>
      )}
      <div>
        <button
          type="button"
          aria-label={`Map a value of ${path}`}
          onClick={() => onChange({ values: [...values, { vendor: '', ours: '' }] })}
        >
          Map a value
        </button>
      </div>
    </fieldset>
  );
}
