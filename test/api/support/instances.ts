import type { TestApp } from '../../support/app.ts';

export interface UsedInstance {
  readonly id: number;
  readonly token: string;
}

/** An instance that is created before the tests of the suite that calls this. */
export function useInstance(
  service: Pick<TestApp, 'createInstance'>,
  ...input: Parameters<TestApp['createInstance']>
): UsedInstance {
  let created: UsedInstance | undefined;
  before(async () => {
    created = await service.createInstance(...input);
  });
  const current = (): UsedInstance => {
    if (created === undefined) throw new Error('The instance is there in tests, not before.');
    return created;
  };
  return {
    get id() {
      return current().id;
    },
    get token() {
      return current().token;
    },
  };
}
