import type { Connector, ObjectSpec, Objects } from '#connector';

/** Returns a connector whose objects are changed, also those that it discovers and describes later. */
export function changeObjects(connector: Connector, change: (object: ObjectSpec) => ObjectSpec): Connector {
  const { objects } = connector;
  const changed = (object: ObjectSpec): ObjectSpec => {
    const { describe } = object;
    return {
      ...change(object),
      ...(describe !== undefined && { describe: async (context) => changed(await describe(context)) }),
    };
  };
  const changeAll = (all: Objects) =>
    Object.fromEntries(Object.entries(all).map(([name, object]) => [name, changed(object)]));
  return {
    ...connector,
    objects: typeof objects === 'function' ? async (context) => changeAll(await objects(context)) : changeAll(objects),
  };
}
