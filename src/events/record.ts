import type { EventRecord, NewEvent } from './model.ts';

/** Returns the record in the body of an instance's event; undefined if it names none. */
export function recordOf({ record, objectName, objectId, object }: NewEvent): EventRecord | undefined {
  if (record !== undefined || objectName === undefined) return record;
  return describe(objectName, objectId ?? memberOf(object, 'id'), object);
}

/**
 * Returns the record of an event of the platform: the subject that its type begins with, such as the instance of
 * `instance.connected`.
 */
export function recordOfOwn(type: string, data: object): EventRecord | undefined {
  const [subject = ''] = type.split('.', 1);
  const id = memberOf(data, `${subject}Id`);
  return id === undefined ? undefined : describe(subject, id, data);
}

/**
 * Returns the text of a record as it is stored beside the event. PostgreSQL stores the JSON text unchanged, including
 * escapes of NUL and lone surrogates.
 */
export function printRecord(record: EventRecord | undefined): string | undefined {
  return record && JSON.stringify(record);
}

function describe(objectName: string, id: string | undefined, object: unknown): EventRecord {
  const name = nameOf(object);
  return { objectName, ...(id !== undefined && { id }), ...(name !== undefined && { name }) };
}

/** Members that providers call a record by, the best first; of several the values stand behind each other. */
const NAMES: readonly (readonly string[])[] = [
  ['name'],
  ['Name'],
  ['displayName'],
  ['DisplayName'],
  ['fullName'],
  ['firstName', 'lastName'],
  ['first_name', 'last_name'],
  ['FirstName', 'LastName'],
  ['lastName'],
  ['LastName'],
  ['title'],
  ['Title'],
  ['subject'],
  ['Subject'],
  ['fileName'],
  ['filename'],
  ['email'],
  ['Email'],
];
const MOST_CHARACTERS = 255;

function nameOf(object: unknown): string | undefined {
  for (const members of NAMES) {
    const values = members.flatMap((member) => memberOf(object, member)?.trim() || []);
    if (values.length === members.length) return values.join(' ').slice(0, MOST_CHARACTERS).toWellFormed();
  }
  return undefined;
}

/** A text, or a number as one. */
function memberOf(object: unknown, name: string): string | undefined {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  const value: unknown = Reflect.get(object, name);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
