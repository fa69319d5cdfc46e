import type { Knex } from 'knex';
import { onCommit } from '../../src/db/change.ts';
import type { Notifier } from '../../src/db/notifier.ts';

/** Creates the notifier of a process that is alone. It receives its own messages at once, or when the transaction is committed. */
export function createLocalNotifier(): Notifier {
  const handlers = new Map<string, Set<(payload: string) => void>>();
  const tell = (topic: string, payload: string) => handlers.get(topic)?.forEach((handler) => void handler(payload));
  return {
    start: async () => {},
    close: async () => {},
    publish: async (topic: string, payload: string, via?: Knex) => onCommit(via, () => tell(topic, payload)),
    subscribe: (topic, handler) => {
      handlers.set(topic, (handlers.get(topic) ?? new Set()).add(handler));
      return () => handlers.get(topic)?.delete(handler);
    },
    onGap: () => () => undefined,
    settle: async () => {},
  };
}
