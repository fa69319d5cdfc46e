import type { Config } from '#connector';

/** Whether the service's own filter is to be left alone. */
export function filtersHere(config: Config): boolean {
  return config['filter.local'] === true;
}

/** Undefined for a service without authentication. */
export function credentialsOf({ username, password }: Config) {
  if (typeof username !== 'string' || username === '') return undefined;
  return { username, password: typeof password === 'string' ? password : '' };
}
