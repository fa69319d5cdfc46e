import { MAX_DEPTH, tooDeep } from '../connector/client/json-pieces.ts';

const CONTAINER_BYTES = 48;
const MEMBER_BYTES = 16;

/** About the memory that a value of JSON takes. @throws AppError PROVIDER_PROTOCOL for nesting beyond 200 levels */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return MEMBER_BYTES + value.length;
  if (!isMembers(value)) return MEMBER_BYTES;
  if (depth === MAX_DEPTH) throw tooDeep();
  let size = CONTAINER_BYTES;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item, depth + 1);
  else for (const name in value) size += MEMBER_BYTES + sizeOf(value[name], depth + 1);
  return size;
}

function isMembers(value: unknown): value is unknown[] | Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
