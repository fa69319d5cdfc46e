import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { OwnApi } from './own-api.ts';
import { entriesOf, memberOf, pathOf } from './tools/tool.ts';
import { exampleFilters } from './tools/where-examples.ts';

const MOST_KEPT = 1000;
const KEPT_MS = 10 * 60_000;
/** An example is not worth a longer wait for a provider whose objects must be discovered first. */
const MOST_WAIT_MS = 1500;

/**
 * Creates the look-up of an example for the description of a tool: a filter with the fields of the first object, a mapped one if there is one,
 * for a key with one instance. There is none if the objects cannot be found soon.
 */
export function createOwnExamples({ after }: Pick<Clock, 'after'>) {
  const kept = new LRUCache<number, { readonly text: string | undefined }>({ max: MOST_KEPT, ttl: KEPT_MS });

  return async (keyId: number, api: OwnApi): Promise<string | undefined> => {
    const known = kept.get(keyId);
    if (known !== undefined) return known.text;
    let endWait = () => {};
    const late = new Promise<undefined>((resolve) => {
      endWait = after(MOST_WAIT_MS, () => resolve(undefined));
    });
    // What comes late is kept for the next list.
    const found = findExample(api)
      .then((text) => {
        kept.set(keyId, { text });
        return text;
      })
      .catch(() => undefined);
    try {
      return await Promise.race([found, late]);
    } finally {
      endWait();
    }
  };
}

async function findExample(api: OwnApi): Promise<string | undefined> {
  const own = await api.json({ path: '/keys/me' });
  const instances = entriesOf(memberOf(own.body, 'instances'));
  if (instances.length !== 1) return undefined;
  const objects = entriesOf((await api.json({ path: '/objects', query: { details: true } })).body);
  const object = objects.find((each) => memberOf(each, 'type') === 'vdr') ?? objects[0];
  const name = memberOf(object, 'name');
  if (typeof name !== 'string') return undefined;
  const fields = entriesOf(memberOf((await api.json({ path: `/objects${pathOf(name)}/metadata` })).body, 'fields'));
  const example = exampleFilters(fields.filter(isPlain)).at(-1);
  return example === undefined || !PLAIN.test(name) ? undefined : `For example, for ${name}: ${example}`;
}

/** What is too short, and has too few kinds of characters, to be an instruction. */
const PLAIN = /^[\p{L}\p{N}_.-]{1,40}$/u;

/** Returns whether a field may stand in the description of a tool, which a model trusts more than data: a provider has chosen its name. */
function isPlain(field: unknown): boolean {
  const [value] = entriesOf(memberOf(field, 'values'));
  return PLAIN.test(String(memberOf(field, 'name'))) && (value === undefined || PLAIN.test(String(value)));
}
