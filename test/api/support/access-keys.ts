import type { ApiAnswer, ApiCall, TestApp } from '../../support/app.ts';

/** Creates a key as the first user of the service. @throws when the answer is not 200 */
export function createKey(
  service: Pick<TestApp, 'change'>,
  scope: object = {},
  headers: ApiCall['headers'] = {},
): Promise<ApiAnswer['body']> {
  return service.change('POST', '/keys', { name: 'Test', access: 'read', ...scope }, { headers });
}

/** Calls with a key instead of secrets. */
export function withKey(
  service: Pick<TestApp, 'call'>,
  key: string,
  instanceId?: number,
): (path: string, call?: ApiCall) => Promise<ApiAnswer> {
  const own = {
    authorization: `Bearer ${key}`,
    ...(instanceId !== undefined && { 'elements-instance-id': String(instanceId) }),
  };
  return (path, call = {}) => service.call(path, { ...call, headers: { ...own, ...call.headers } });
}
