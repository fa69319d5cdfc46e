import { type FieldShape, readField, type Shape, type ShapeOperation } from './shape.ts';

/** A changed field, with the properties that differ. */
export interface FieldChange {
  readonly field: string;
  readonly from: Partial<FieldShape>;
  readonly to: Partial<FieldShape>;
}

/** The difference between two shapes of an object. */
export interface SchemaChange {
  /** Names of the new fields. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly FieldChange[];
  /** Operations that the object has gained or lost. Absent if they are the same. */
  readonly operations?: { readonly added: readonly ShapeOperation[]; readonly removed: readonly ShapeOperation[] };
  /** Whether the object itself appeared or disappeared. Absent if it was there before and after. */
  readonly object?: 'added' | 'removed';
}

const PROPERTIES = [
  'type',
  'nativeType',
  'nativeName',
  'nullable',
  'required',
  'createable',
  'updateable',
  'filterable',
  'sortable',
] as const satisfies readonly (keyof FieldShape)[];

/** Compares two shapes of an object. Undefined: they differ in nothing that is reported. */
export function compareShapes(before: Shape, after: Shape): SchemaChange | undefined {
  const [had, has] = [before.fields, after.fields];
  const added = Object.keys(has).filter((name) => !Object.hasOwn(had, name));
  const removed = Object.keys(had).filter((name) => !Object.hasOwn(has, name));
  const changed = Object.entries(had).flatMap(([field, text]) => {
    const now = Object.hasOwn(has, field) ? has[field] : undefined;
    return now === undefined || now === text ? [] : [{ field, ...differenceOf(readField(text), readField(now)) }];
  });
  const operations = {
    added: after.operations.filter((operation) => !before.operations.includes(operation)),
    removed: before.operations.filter((operation) => !after.operations.includes(operation)),
  };
  const hasOtherOperations = operations.added.length + operations.removed.length > 0;
  const object = before.gone === after.gone ? undefined : after.gone === true ? 'removed' : 'added';
  const isSame = added.length + removed.length + changed.length === 0 && !hasOtherOperations && object === undefined;
  if (isSame) return undefined;
  return {
    added,
    removed,
    changed,
    ...(hasOtherOperations && { operations }),
    ...(object !== undefined && { object }),
  };
}

function differenceOf(before: FieldShape, after: FieldShape): Pick<FieldChange, 'from' | 'to'> {
  const names = PROPERTIES.filter((name) => before[name] !== after[name]);
  return { from: pick(before, names), to: pick(after, names) };
}

function pick(field: FieldShape, names: readonly (keyof FieldShape)[]): Partial<FieldShape> {
  return Object.fromEntries(names.flatMap((name) => (field[name] === undefined ? [] : [[name, field[name]]])));
}

/** The share of lost fields above which a second reading must confirm a difference. */
const MOST_LOST = 1 / 2;

/**
 * Returns whether a difference may come from a response that was not whole: the object is missing, or lost more than half of its fields.
 */
export function needsConfirmation(before: Shape, { removed, object }: SchemaChange): boolean {
  if (object === 'removed') return true;
  return removed.length > Object.keys(before.fields).length * MOST_LOST;
}
