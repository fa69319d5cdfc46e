import type { ErrorDetail } from '../../../src/errors.ts';
import type { Queryable } from '../../../src/where/model.ts';
import type { ObjectField, ObjectFields } from '../metadata.ts';

/** What the service found wrong with a filter. */
export interface ServiceFaults {
  readonly where: string;
  readonly details: readonly ErrorDetail[];
}

/** What the editor knows beside its text. */
export interface EditorSource {
  /** Undefined while they are not known: then only the syntax is checked. */
  readonly metadata: ObjectFields | undefined;
  readonly queryable: Queryable | undefined;
  readonly fieldsByName: ReadonlyMap<string, ObjectField>;
  /** Values of a field in the rows that are shown. */
  readonly seenValues: (field: string) => readonly unknown[];
  readonly faults: ServiceFaults | undefined;
}
