import { LRUCache } from 'lru-cache';
import type { Config, Connector } from '../connector/contract.ts';
import { EVENTS_ENABLED } from '../instances/event-settings.ts';
import { POLL_FIELDS, type Polled, type PollSettings, readPollSettings } from '../instances/polling/poll-settings.ts';

const MOST_KEPT = 2_000;
/** Maximum number of characters of all cached texts. The parsed settings need several times as much memory. */
const MOST_CHARACTERS = 2_000_000;
const KEYS = [EVENTS_ENABLED, ...POLL_FIELDS.map(({ key }) => key)];

/**
 * Creates a cache of `readPollSettings`, whose patterns take longer to parse than most polls. Its key is the content, because many
 * instances have equal settings.
 */
export function createSettingsCache(): (
  config: Config,
  element: Polled & Pick<Connector, 'key'>,
) => PollSettings | undefined {
  const kept = new LRUCache<string, { readonly settings: PollSettings | undefined }>({
    max: MOST_KEPT,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  });
  return (config, element) => {
    const key = JSON.stringify([element.key, KEYS.map((name) => config[name])]);
    const known = kept.get(key);
    if (known !== undefined) return known.settings;
    const settings = readPollSettings(config, element);
    kept.set(key, { settings });
    return settings;
  };
}
