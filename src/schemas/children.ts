import type { ObjectSpec, Objects } from '../connector/contract.ts';
import type { MappingsInForce } from '../mappings/model.ts';
import { findName } from '../resources/objects.ts';

/** A child of an object, by the names in the name of its watch. */
interface ChildAddress {
  readonly parent: string;
  readonly child: string;
}

/** Returns the name by which a child of an object is watched, such as `Orders/Lines`. */
export function childName({ parent, child }: ChildAddress): string {
  return `${parent}/${child}`;
}

/** Splits the name of a watched child. Undefined for a name without a slash. */
export function splitChild(name: string): ChildAddress | undefined {
  const at = name.lastIndexOf('/');
  return at < 1 || at === name.length - 1 ? undefined : { parent: name.slice(0, at), child: name.slice(at + 1) };
}

/** Returns the provider's name of an object or a child that may be mapped. */
export function vendorNameOf({ byName }: Pick<MappingsInForce, 'byName'>, name: string): string {
  const own = byName.get(name)?.vendorName;
  if (own !== undefined) return own;
  const address = splitChild(name);
  const parent = address && byName.get(address.parent)?.vendorName;
  return address === undefined || parent === undefined ? name : childName({ ...address, parent });
}

/** Completes the description of an object or a child. */
export type Describe = (name: string, object: ObjectSpec) => Promise<ObjectSpec>;

/** Returns the own name of an object or a child that may be named by an alias. Undefined where there is none. @throws as `describe` */
export async function findOwnName(objects: Objects, name: string, describe: Describe): Promise<string | undefined> {
  const own = findName(objects, name);
  const address = splitChild(name);
  const parent = own === undefined && address !== undefined ? findName(objects, address.parent) : undefined;
  const above = parent === undefined ? undefined : objects[parent];
  if (parent === undefined || address === undefined || above === undefined) return own;
  const { children = {} } = await describe(parent, above);
  const child = findName(children, address.child);
  return child === undefined ? undefined : childName({ parent, child });
}

/** Returns an object or a child by its own name, as the provider describes it. Undefined where there is none. @throws as `describe` */
export async function readObject(
  objects: Objects,
  ownName: string,
  describe: Describe,
): Promise<ObjectSpec | undefined> {
  const own = Object.hasOwn(objects, ownName) ? objects[ownName] : undefined;
  if (own !== undefined) return describe(ownName, own);
  const address = splitChild(ownName);
  const above = address === undefined || !Object.hasOwn(objects, address.parent) ? undefined : objects[address.parent];
  if (address === undefined || above === undefined) return undefined;
  const { children = {} } = await describe(address.parent, above);
  const child = Object.hasOwn(children, address.child) ? children[address.child] : undefined;
  return child && describe(address.child, child);
}

/** Describes each object once, because its children need its description, too. */
export function describeOnce(describe: Describe): Describe {
  const described = new Map<ObjectSpec, Promise<ObjectSpec>>();
  return (name, object) => {
    const found = described.get(object) ?? describe(name, object);
    described.set(object, found);
    return found;
  };
}
