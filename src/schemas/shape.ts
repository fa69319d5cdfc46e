import { createHash } from 'node:crypto';
import type { ObjectSpec } from '../connector/contract.ts';
import type { FieldSpec, FieldType } from '../where/index.ts';

/**
 * The parts of an object's description that callers depend on, as they are stored. A shape is small, because every watched object of every
 * instance has one.
 */
export interface Shape {
  /** Version of this format. A shape of another version is replaced and not compared. */
  readonly v: typeof SHAPE_VERSION;
  /** The field that identifies a record. */
  readonly id?: string;
  /** The fields with the times of the last change and of the creation, as the connector declares them. */
  readonly updated?: string;
  readonly created?: string;
  readonly operations: readonly ShapeOperation[];
  /** The fields by name, each as `flags type nativeType`, with the native name behind a tab if it differs. */
  readonly fields: Readonly<Record<string, string>>;
  /** Present if the provider does not have the object any more. */
  readonly gone?: true;
}

/** A stored field. */
export interface FieldShape {
  readonly type: FieldType;
  readonly nativeType?: string;
  readonly nativeName?: string;
  readonly nullable: boolean;
  readonly required: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly filterable: boolean;
  readonly sortable: boolean;
}

/** Operations of an object, in the words of `GET /objects`. */
const SHAPE_OPERATIONS = ['list', 'get', 'create', 'update', 'delete'] as const;
export type ShapeOperation = (typeof SHAPE_OPERATIONS)[number];

/** Increase it when the format changes. The next check then stores the new shapes and reports nothing. */
export const SHAPE_VERSION = 1;

/** The properties that are true or false, by the letter that stands for them. */
const FLAGS = {
  n: 'nullable',
  r: 'required',
  c: 'createable',
  u: 'updateable',
  f: 'filterable',
  s: 'sortable',
} as const satisfies Record<string, keyof FieldShape>;

/** Returns the shape of a complete object. */
export function shapeOf(object: ObjectSpec): Shape {
  const { fields, idField = 'id', changes = {} } = object;
  return {
    v: SHAPE_VERSION,
    ...(Object.hasOwn(fields, idField) && { id: idField }),
    ...(changes.updated !== undefined && { updated: changes.updated }),
    ...(changes.created !== undefined && { created: changes.created }),
    operations: SHAPE_OPERATIONS.filter((operation) => object[operation === 'delete' ? 'remove' : operation]),
    fields: Object.fromEntries(
      Object.entries(fields)
        .map(([name, spec]) => [name, printField(name, spec)] as const)
        // Providers list their fields in any order.
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
  };
}

/** The shape of an object that the provider does not have any more. */
export const GONE: Shape = { v: SHAPE_VERSION, operations: [], fields: {}, gone: true };

/** Returns a hash that differs for any two shapes. */
export function hashOfShape(shape: Shape): Buffer {
  return createHash('sha256').update(JSON.stringify(shape)).digest().subarray(0, 16);
}

function printField(name: string, spec: FieldSpec): string {
  const shown: Readonly<Record<(typeof FLAGS)[keyof typeof FLAGS], boolean>> = {
    nullable: spec.nullable ?? true,
    required: spec.required ?? false,
    createable: spec.createable ?? false,
    updateable: spec.updateable ?? false,
    filterable: Object.keys(spec.filter ?? {}).length > 0,
    sortable: spec.sortable ?? false,
  };
  const flags = Object.entries(FLAGS).flatMap(([letter, property]) => (shown[property] ? [letter] : []));
  const native = spec.native === undefined || spec.native === name ? '' : `\t${spec.native}`;
  return `${flags.join('')} ${spec.type} ${spec.nativeType ?? ''}${native}`;
}

/** Returns a stored field. */
export function readField(text: string): FieldShape {
  const [described = '', nativeName] = text.split('\t', 2);
  const [flags = '', type = '', ...rest] = described.split(' ');
  const nativeType = rest.join(' ');
  const has = (letter: keyof typeof FLAGS) => flags.includes(letter);
  return {
    // Only `printField` writes it.
    type: type as FieldType,
    ...(nativeType !== '' && { nativeType }),
    ...(nativeName !== undefined && { nativeName }),
    nullable: has('n'),
    required: has('r'),
    createable: has('c'),
    updateable: has('u'),
    filterable: has('f'),
    sortable: has('s'),
  };
}
