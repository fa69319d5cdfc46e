import { useState } from 'preact/hooks';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { type AddressQuery, useQuery } from '../parts/query.ts';
import type { Subscription } from './calls.ts';
import { CHOICE_NAMES, type Choices, writeWhere } from './delivery-filter.ts';

/** Returns the filter of the deliveries in the address, for all states. */
export function useWhere(): string {
  const { query } = useQuery();
  return query.where ?? writeWhere(query);
}

interface FiltersProps {
  readonly subscriptions: readonly Subscription[];
  /** Whether there are controls for the period in which deliveries were created. */
  readonly hasTime?: boolean;
}

/** Narrows a list of deliveries with controls, or with the text that they make, which the user can edit. */
export function Filters({ subscriptions, hasTime = false }: FiltersProps) {
  const { query, change } = useQuery();
  const [isText, setText] = useState(query.where !== undefined);
  const none = Object.fromEntries(CHOICE_NAMES.map((name) => [name, undefined]));
  const version = () => {
    setText(!isText);
    change({ ...none, where: isText ? undefined : writeWhere(query) });
  };
  return (
    <div class="stack tight">
      {isText ? (
        <WhereText value={query.where ?? ''} onChange={(where) => change({ where })} />
      ) : (
        <Controls choices={query} change={change} subscriptions={subscriptions} hasTime={hasTime} />
      )}
      <div class="row small">
        <button type="button" class="plain" onClick={version}>
          {isText ? 'Use controls' : 'Edit as text'}
        </button>
        {!isText && writeWhere(query) !== '' && (
          <>
            <code class="soft break">{writeWhere(query)}</code>
            <button type="button" class="plain" onClick={() => change(none)}>
              Clear
            </button>
          </>
        )}
      </div>
    </div>
  );
}

function WhereText({ value, onChange }: { readonly value: string; readonly onChange: (where: string) => void }) {
  return (
    <label>
      <span>
        Where <span class="soft small">(press Enter to apply)</span>
      </span>
      <input
        class="mono"
        type="search"
        spellcheck={false}
        placeholder="event.type LIKE 'employees.%' AND attempts > 1"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </label>
  );
}

interface ControlsProps extends FiltersProps {
  readonly choices: Choices;
  readonly change: AddressQuery['change'];
}

function Controls({ choices, change, subscriptions, hasTime }: ControlsProps) {
  const instances = useInstances();
  return (
    <div class="filters">
      <SubscriptionChoice
        subscriptions={subscriptions}
        value={choices.subscription}
        onChange={(subscription) => change({ subscription })}
        none="All"
      />
      <InstanceChoice
        instances={instances}
        value={choices.instance}
        onChange={(instance) => change({ instance: instance ?? '' })}
        none="All"
      />
      <label>
        Event type
        <input
          type="search"
          placeholder="employees.*"
          value={choices.type ?? ''}
          onChange={({ currentTarget }) => change({ type: currentTarget.value.trim() })}
        />
      </label>
      {hasTime && <Moment label="From" value={choices.from} onChange={(from) => change({ from })} />}
      {hasTime && <Moment label="To" value={choices.to} onChange={(to) => change({ to })} />}
    </div>
  );
}

interface SubscriptionChoiceProps {
  readonly subscriptions: readonly Subscription[];
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
  /** Text of the choice that sets no value. */
  readonly none: string;
}

export function SubscriptionChoice({ subscriptions, value = '', onChange, none }: SubscriptionChoiceProps) {
  const isKnown = value === '' || subscriptions.some(({ id }) => String(id) === value);
  return (
    <label>
      Subscription
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{none}</option>
        {!isKnown && <option value={value}>#{value}</option>}
        {subscriptions.map(({ id, config }) => (
          <option key={id} value={String(id)}>
            {config.url} · #{id}
          </option>
        ))}
      </select>
    </label>
  );
}

interface MomentProps {
  readonly label: string;
  /** The moment in ISO 8601, in UTC. */
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

/** A field for a date and a time, entered in the time zone of the browser. */
export function Moment({ label, value, onChange }: MomentProps) {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        step="1"
        value={toLocal(value)}
        onChange={({ currentTarget: { value: local } }) => onChange(local === '' ? '' : new Date(local).toISOString())}
      />
    </label>
  );
}

function toLocal(iso: string | undefined): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
