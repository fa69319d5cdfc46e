import { Fault, type TableRow } from '#connector/simulator';
import { type FieldSchema, OBJECTS, type ObjectSchema, readField, relationshipOf } from './schema.ts';

/** Where the fields of a statement are looked up. */
export interface Scope {
  readonly name: string;
  readonly object: ObjectSchema;
  readonly findRow: (objectName: string, id: unknown) => TableRow | undefined;
  /** What texts compare by, apart from those that tell cases apart. */
  readonly fold: (text: string) => string;
}

/**
 * A field of the object, or by a path (`Account.Name`) one of its parent. Names ignore case.
 * @throws Fault 400
 */
export function resolveField(written: string, scope: Scope): readonly [path: string, field: FieldSchema] {
  const dot = written.indexOf('.');
  if (dot >= 0) return resolveParentField(written.slice(0, dot), written.slice(dot + 1), scope);
  const found = Object.entries(scope.object.fields).find(([name]) => isSame(name, written));
  if (found !== undefined) return found;
  throw new Fault(
    400,
    'INVALID_FIELD',
    `No such column '${written}' on entity '${scope.name}'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.`,
  );
}

function resolveParentField(relationship: string, rest: string, scope: Scope): readonly [string, FieldSchema] {
  const references = Object.entries(scope.object.fields).filter(([, field]) => field.referenceTo !== undefined);
  const [name = '', reference] = references.find(([field]) => isSame(relationshipOf(field), relationship)) ?? [];
  const [parentName = ''] = reference?.referenceTo ?? [];
  const object = OBJECTS[parentName];
  if (object === undefined) {
    const message = `Didn't understand relationship '${relationship}' in field path.`;
    throw new Fault(400, 'INVALID_FIELD', message);
  }
  const [path, { required: _required, ...field }] = resolveField(rest, { ...scope, name: parentName, object });
  const derive = (row: TableRow) => {
    const parent = scope.findRow(parentName, row[name]);
    return parent === undefined ? null : readField(parent, path, field);
  };
  return [`${relationshipOf(name)}.${path}`, { ...field, derive }];
}

function isSame(name: string, written: string): boolean {
  return name.toLowerCase() === written.toLowerCase();
}
