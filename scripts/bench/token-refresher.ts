/** A process that refreshes the tokens of its instances as fast as it can, for `scripts/bench/tokens.ts`. */

import type { InstanceKey } from '../../src/instances/instance.ts';
import { startTokenUser, type TokenUserOptions } from '../chaos/token-user.ts';

export interface RefresherAssignment extends TokenUserOptions {
  readonly instances: readonly InstanceKey[];
  readonly seconds: number;
}

/** `ready` when it could begin, `done` with the number of refreshes at the end; `begin` comes from the parent. */
export type RefresherMessage = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly refreshes: number };

async function refresh({ instances, seconds, ...options }: RefresherAssignment): Promise<number> {
  const { signal } = new AbortController();
  const user = await startTokenUser(options);
  await Promise.all(instances.map((instance) => user.tokensOf(instance).current(signal)));
  await tell({ kind: 'ready' });
  await new Promise((resolve) => process.once('message', resolve));
  const endAt = performance.now() + seconds * 1_000;
  let refreshes = 0;
  const renewOne = async (instance: InstanceKey) => {
    const tokens = user.tokensOf(instance);
    while (performance.now() < endAt) {
      await tokens.replace(await tokens.current(signal), signal);
      refreshes++;
    }
  };
  await Promise.all(instances.map(renewOne));
  await user.close();
  return refreshes;
}

function tell(message: RefresherMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

process.once('message', (assignment: RefresherAssignment) => {
  refresh(assignment)
    .then((refreshes) => tell({ kind: 'done', refreshes }))
    .finally(() => process.disconnect());
});
