import type { Config } from '#connector';

/** Winter '25: old enough to be on every instance, young enough to stay for years. */
export const DEFAULT_API_VERSION = '62.0';

/** `/services/data/v62.0` */
export function servicePath(config: Config): string {
  return `/services/data/v${config['api.version'] ?? DEFAULT_API_VERSION}`;
}
