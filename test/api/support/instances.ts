import type { ApiAnswer, TestApp } from '../../support/app.ts';
import { useStarted } from '../../support/started.ts';

/** An instance that is created before the tests of the suite that calls this, with a configuration that may be known only then. */
export function useInstance(
  service: Pick<TestApp, 'createInstance'>,
  element: string,
  configuration: object | (() => object),
  more?: object,
): ApiAnswer['body'] {
  return useStarted(() =>
    service.createInstance(element, typeof configuration === 'function' ? configuration() : configuration, more),
  );
}
