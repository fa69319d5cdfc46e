import { type Client, clientOf, type TestApp } from '../../support/app.ts';
import { useStarted } from '../../support/started.ts';

/** An instance with the ways to call it. */
export interface UsedInstance extends Client {
  readonly id: number;
  readonly token: string;
  readonly name: string;
}

/** An instance that is created before the tests of the suite that calls this, with a configuration that may be known only then. */
export function useInstance(
  service: Pick<TestApp, 'call' | 'createInstance'>,
  element: string,
  configuration: object | (() => object),
  more?: object,
): UsedInstance {
  return useStarted(async () => {
    const given = typeof configuration === 'function' ? configuration() : configuration;
    const instance = await service.createInstance(element, given, more);
    const client = clientOf((path, call) => service.call(path, { token: instance.token, ...call }));
    return { ...instance, ...client };
  });
}
