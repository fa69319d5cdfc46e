/** Whether all tests of the calling suite use what was started, or each has its own. */
export type Lifetime = 'suite' | 'test';

/**
 * Starts something before the tests of the calling suite, and stops it after them, or before and after each of them.
 * @returns a stand-in for it, which tests and later hooks can use
 */
export function useStarted<Thing extends object>(
  start: () => Thing | Promise<Thing>,
  stop?: (started: Thing) => unknown,
  lifetime: Lifetime = 'suite',
): Thing {
  let started: Thing | undefined;
  const [begin, end] = lifetime === 'suite' ? [before, after] : [beforeEach, afterEach];
  begin(async () => {
    started = undefined;
    started = await start();
  });
  end(async () => {
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
