import { unknownName } from '../../errors.ts';
import type { EndpointChoice, EndpointWarning } from './endpoint.ts';
import {
  EVENT_FIELDS,
  fieldsOf,
  findRecordType,
  type NamedField,
  type RecordTypes,
  recordField,
} from './event-where.ts';

/** An object of an element whose fields are known without a request to the provider. */
export interface KnownObject {
  readonly elementKey: string;
  readonly hub: string;
  readonly objectName: string;
  readonly fields: readonly string[];
}

/** Returns a warning for each field of a filter that no event and no known object has. Objects differ by element, so they are no faults. */
export function warningsOf(choice: EndpointChoice, known: readonly KnownObject[]): readonly EndpointWarning[] {
  if (choice.where === undefined) return [];
  const named = fieldsOf(choice.where);
  const fields = fieldsOfObjects(choice, named, known);
  return named.flatMap(({ name }) => warningOf(name, fields) ?? []);
}

/**
 * Returns a warning for each field of the record whose type is unknown, because the object does not describe it, or because no object describes
 * the record.
 */
export function untypedFields(where: string, types: RecordTypes = {}): readonly EndpointWarning[] {
  return fieldsOf(where).flatMap(({ name }) =>
    recordField(name) === undefined || findRecordType(name, types) !== undefined
      ? []
      : [
          {
            field: name,
            message: `The type of '${name}' is unknown here. The literals that it is compared with decide how: numbers as numbers, texts as texts.`,
          },
        ],
  );
}

function warningOf(name: string, fields: ReadonlySet<string>): EndpointWarning | undefined {
  if (Object.hasOwn(EVENT_FIELDS, name)) return undefined;
  const field = recordField(name);
  if (field === undefined) {
    const { message } = unknownName(
      'field',
      name,
      [...Object.keys(EVENT_FIELDS), `object.${name}`].filter((each) => each !== `object.${name}` || fields.has(name)),
    );
    return { field: name, message: `${message} Fields of the record follow 'object.'. The field counts as null.` };
  }
  if (fields.size === 0 || hasField(fields, field)) return undefined;
  const { message } = unknownName('field', field, fields);
  return {
    field: name,
    message: `${message} No object that the service knows has it. In a record without it, it counts as null.`,
  };
}

/** A field may lie in a known one whose members are not declared. */
function hasField(fields: ReadonlySet<string>, name: string): boolean {
  for (let path = name; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.')))) {
    if (fields.has(path)) return true;
  }
  return [...fields].some((field) => field.startsWith(`${name}.`));
}

function fieldsOfObjects(
  { elementKeys, hubs }: EndpointChoice,
  named: readonly NamedField[],
  known: readonly KnownObject[],
): ReadonlySet<string> {
  const objectNames = textsOf(named, 'objectName');
  const elements = elementKeys ?? textsOf(named, 'elementKey');
  const meant = known.filter(
    ({ objectName, elementKey, hub }) =>
      (objectNames.length === 0 || objectNames.includes(objectName)) &&
      (elements.length === 0 || elements.includes(elementKey)) &&
      (hubs === undefined || hubs.includes(hub)),
  );
  return new Set(meant.flatMap(({ fields }) => fields));
}

function textsOf(named: readonly NamedField[], name: string): readonly string[] {
  const literals = named.find((field) => field.name === name)?.literals ?? [];
  return literals.flatMap((literal) => (literal.kind === 'string' ? [literal.text] : []));
}
