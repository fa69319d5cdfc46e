import type { Config } from '#connector';

/** Whether the service's own filter is to be left alone. */
export function filtersHere(config: Config): boolean {
  return config['filter.local'] === true;
}
