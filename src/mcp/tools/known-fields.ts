import { LRUCache } from 'lru-cache';
import { chooseFields, type KnownField } from '../default-fields.ts';
import { type DefaultFields, entriesOf, memberOf, type ToolContext } from './tool.ts';

const MOST_KEPT = 2000;
const KEPT_MS = 60_000;

/** Creates the look-up of default fields. They are kept for a minute, so that a list does not need a second request for metadata. */
export function createKnownFields(): DefaultFields {
  const kept = new LRUCache<string, { readonly names: readonly string[] | undefined }>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
  });
  const keyOf = ({ keyId, instance }: ToolContext, path: string) => `${keyId} ${instance ?? ''} ${path}`;

  return {
    /** Returns the default fields of an object by its metadata. */
    read: async (context: ToolContext, path: string): Promise<readonly string[] | undefined> => {
      const key = keyOf(context, path);
      const known = kept.get(key);
      if (known !== undefined) return known.names;
      const { body } = await context.api.json({ path, instance: context.instance });
      const names = chooseFields(entriesOf(memberOf(body, 'fields')).map(toKnownField));
      kept.set(key, { names });
      return names;
    },
    /** Forgets the fields of an object, for example when a request with them failed. */
    forget: (context: ToolContext, path: string): void => void kept.delete(keyOf(context, path)),
  };
}

function toKnownField(field: unknown): KnownField {
  const [name, type] = ['name', 'type'].map((member) => String(memberOf(field, member)));
  return {
    name: name ?? '',
    type: type ?? '',
    identifier: memberOf(field, 'identifier') === true,
    unlisted: memberOf(field, 'unlisted') === true,
    mapped: memberOf(field, 'mapped') !== false,
  };
}
