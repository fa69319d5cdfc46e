/** A statement that may touch several shards, by a part of its text, with the reason. */
interface ManyShards {
  readonly part: string;
  readonly reason: string;
}

export const MANY_SHARDS: readonly ManyShards[] = [];

/** Returns why a statement may touch several shards. Undefined: it may not. */
export function findReason(sql: string): string | undefined {
  return MANY_SHARDS.find(({ part }) => sql.includes(part))?.reason;
}
