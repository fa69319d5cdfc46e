/**
 * Starts something before the tests of the calling suite, and stops it after them.
 * @returns a stand-in for it, which tests and later hooks can use
 */
export function useStarted<Thing extends object>(
  start: () => Promise<Thing>,
  stop?: (started: Thing) => unknown,
): Thing {
  let started: Thing | undefined;
  before(async () => {
    started = await start();
  });
  after(async () => {
    if (started !== undefined) await stop?.(started);
  });
  const find = (): Thing => {
    if (started === undefined) throw new Error('This is ready in tests, not before.');
    return started;
  };
  const empty: Partial<Thing> = {};
  return new Proxy(empty, {
    get: (_, name) => Reflect.get(find(), name),
    has: (_, name) => Reflect.has(find(), name),
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(find(), name),
  }) as Thing;
}
