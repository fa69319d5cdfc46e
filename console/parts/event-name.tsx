import type { Schemas } from '../api.ts';

interface EventNameProps {
  readonly type: string;
  readonly record: Schemas['EventRecord'] | undefined;
  /** Text shown after the type of the event. */
  readonly more?: string;
}

/** Shows an event by the record that it is about, with its type below. */
export function EventName({ type, record, more }: EventNameProps) {
  const title = record === undefined ? undefined : titleOf(record);
  const others = [title !== undefined && type, more].filter(Boolean);
  return (
    <span class="roomy">
      <span class="break">
        {title ?? type} {record?.name !== undefined && <span class="small soft">{record.id}</span>}
      </span>
      {others.length > 0 && <span class="roomy break small soft">{others.join(' · ')}</span>}
    </span>
  );
}

/** Returns the name of a record. Undefined if only its object is known, which the type of the event names too. */
export function titleOf({ objectName, id, name }: Schemas['EventRecord']): string | undefined {
  return name ?? (id === undefined ? undefined : `${objectName} ${id}`);
}
