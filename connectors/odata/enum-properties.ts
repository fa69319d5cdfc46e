/** Maximum length of metadata to search, in characters. The creation of an instance must not wait for a longer search. */
const MOST_CHARACTERS = 2_000_000;

const SCHEMA_OR_ENUM = /<(?:[\w.-]+:)?(Schema|EnumType)\s([^<>]{1,2000})>/g;
const PROPERTY = /<(?:[\w.-]+:)?Property\s([^<>]{1,2000})>/g;

/**
 * Returns the enumerations that a property may have, by the property's name: `Color` → `Shop.Color`. It only scans the tags of the metadata
 * and ignores their structure, so it takes no longer than one read. The result can include the type of another property with the same name.
 */
export function enumPropertiesIn(metadata: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  if (metadata.length > MOST_CHARACTERS) return found;
  const { types, resolve } = enumTypesIn(metadata);
  if (types.size === 0) return found;
  for (const [, attributes = ''] of metadata.matchAll(PROPERTY)) {
    const name = attributeIn(attributes, 'Name');
    const type = resolve(attributeIn(attributes, 'Type') ?? '');
    if (name === undefined || !types.has(type)) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, new Set([type]));
    else known.add(type);
  }
  return found;
}

/** Returns the enumerations by qualified name. An alias stands for the namespace of its schema. */
function enumTypesIn(metadata: string) {
  const types = new Set<string>();
  const namespaces = new Map<string, string>();
  let namespace = '';
  for (const [, tag, attributes = ''] of metadata.matchAll(SCHEMA_OR_ENUM)) {
    if (tag === 'EnumType') {
      // Several flags form one text, which `eq` compares as a whole.
      const isFlags = attributeIn(attributes, 'IsFlags') === 'true';
      if (!isFlags) types.add(`${namespace}.${attributeIn(attributes, 'Name') ?? ''}`);
      continue;
    }
    namespace = attributeIn(attributes, 'Namespace') ?? '';
    const alias = attributeIn(attributes, 'Alias');
    if (alias !== undefined) namespaces.set(alias, namespace);
  }
  const resolve = (name: string) => {
    const dot = name.lastIndexOf('.');
    const full = namespaces.get(name.slice(0, Math.max(dot, 0)));
    return full === undefined ? name : full + name.slice(dot);
  };
  return { types, resolve };
}

function attributeIn(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes);
  return found?.[1] ?? found?.[2];
}
