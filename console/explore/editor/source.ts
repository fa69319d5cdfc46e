import type { ErrorDetail } from '../../../src/errors.ts';
import type { Queryable } from '../../../src/where/model.ts';
import { type ObjectField, type ObjectFields, queryableOf } from '../metadata.ts';

/** The faults that the service found in a filter. */
export interface ServiceFaults {
  readonly where: string;
  readonly details: readonly ErrorDetail[];
}

/** The data behind the editor of a `where`: the object's metadata, values of its rows, and the faults that the service reported. */
export interface EditorSource {
  /** The metadata of the object. Undefined until it has loaded: only the syntax is checked then. */
  readonly metadata: ObjectFields | undefined;
  readonly queryable: Queryable | undefined;
  readonly fieldsByName: ReadonlyMap<string, ObjectField>;
  /** Returns the values of a field in the shown rows. */
  readonly seenValues: (field: string) => readonly unknown[];
  readonly faults: ServiceFaults | undefined;
}

/** Creates the data for the editor from an object, its rows and the response of the service. */
export function editorSource(
  metadata: ObjectFields | undefined,
  rows: readonly Readonly<Record<string, unknown>>[] = [],
  faults?: ServiceFaults,
): EditorSource {
  return {
    metadata,
    queryable: metadata && queryableOf(metadata),
    fieldsByName: new Map(metadata?.fields.map((field) => [field.name, field])),
    seenValues: (field) => [...new Set(rows.map((row) => row[field]))],
    faults,
  };
}
