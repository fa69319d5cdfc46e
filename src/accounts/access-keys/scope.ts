/** Kinds of operations beyond those on records, which a key must be allowed expressly. */
export type Allowed = 'passthrough' | 'bulk' | 'federated';

/** The instances and objects that a key reaches. An absent list does not limit the key; an instance must meet all lists. */
export interface KeyReach {
  readonly instances?: readonly number[] | undefined;
  readonly elementKeys?: readonly string[] | undefined;
  /** Tags that an instance must have, all of them. */
  readonly tags?: readonly string[] | undefined;
  /** Names of objects. */
  readonly objects?: readonly string[] | undefined;
}

export interface AccessKeyScope extends KeyReach {
  readonly access: 'read' | 'write';
  readonly allow: readonly Allowed[];
}

/** The access key of a request. */
export interface AccessKey extends AccessKeyScope {
  readonly id: number;
  readonly name: string;
  /** When the key, or its secret after a rotation, expires. */
  readonly expiresAt?: Date | undefined;
}

/** Properties of an instance by which a scope selects it. */
export interface Selectable {
  readonly id: number;
  readonly tags: readonly string[];
  readonly connector: { readonly key: string };
}

export function coversInstance({ instances, elementKeys, tags }: KeyReach, instance: Selectable): boolean {
  return (
    (instances === undefined || instances.includes(instance.id)) &&
    (elementKeys === undefined || elementKeys.includes(instance.connector.key)) &&
    (tags === undefined || tags.every((tag) => instance.tags.includes(tag)))
  );
}

/** Whether the object of this name is in reach. Aliases are other names. */
export function coversObject({ objects }: KeyReach, name: string): boolean {
  return objects === undefined || objects.includes(name);
}

/** Returns the selection of the instances in reach, for a list of instances. */
export function selectionOf({ instances, elementKeys, tags }: KeyReach): {
  readonly where?: string;
  readonly tags?: readonly string[];
} {
  const parts = [
    ...(instances === undefined ? [] : [`id IN (${instances.join(', ')})`]),
    ...(elementKeys === undefined ? [] : [`element.key IN (${elementKeys.map(quote).join(', ')})`]),
  ];
  return { ...(parts.length > 0 && { where: parts.join(' AND ') }), ...(tags !== undefined && { tags }) };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
