import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isMembers } from '../numbers/exact-json.ts';
import { MOST_DEPTH, shortValue } from './shown-values.ts';

/** The outcome of a tool before it is cut to the maximum size of a result. */
export interface ToolOutcome {
  /** Members beside the list. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The list that is cut where it does not fit. */
  readonly list?: ToolList | undefined;
  /** One value of a provider, which is shortened where it does not fit. */
  readonly one?: ToolValue | undefined;
}

interface ToolValue {
  readonly name: string;
  readonly value: unknown;
  /** Maximum number of characters of a text in it. */
  readonly textLimit: number;
}

interface ToolList {
  readonly name: string;
  readonly entries: readonly unknown[];
  /** Maximum number of characters of a text in an entry. */
  readonly textLimit: number;
  /** Returns further members for a list of which only the first `count` entries fit. */
  readonly whenCut: (count: number) => Readonly<Record<string, unknown>>;
}

/** Maximum size of a result in bytes, in both of its forms together: the structured content, and its text for clients without that. */
export const MOST_BYTES = 25_000;
/** Room for what is added to a list that was cut. */
const RESERVE_BYTES = 3000;
/** The longest texts of an entry that is too large by itself, in turn. */
const SHORTER_TEXTS = [4000, 2000, 1000, 500, 200, 80, 30] as const;
const LEAST_TEXT = 30;
const BRACES_BYTES = 4;
/** Bytes of a result beside its data. */
const ENVELOPE_BYTES = 200;
const TEXT_LIMIT = 4000;
/** A part of a value is worth showing in this room. */
const LEAST_BYTES = 1000;

/** Creates the result of a tool: the same JSON as structured content and as text, together within 25 kB. */
export function toResult({ data, list, one }: ToolOutcome): CallToolResult {
  // Half of the room is for the list, which would otherwise never get on.
  const most = (MOST_BYTES - RESERVE_BYTES) / (list === undefined && one === undefined ? 1 : 2);
  const around: Readonly<Record<string, unknown>> = Object(fitting(data, TEXT_LIMIT, most));
  if (one !== undefined) {
    const left = MOST_BYTES - ENVELOPE_BYTES - sizeOf(resultOf(around));
    return resultOf({ ...around, [one.name]: fitting(one.value, one.textLimit, left) });
  }
  if (list === undefined) return resultOf(around);
  const { name, textLimit, whenCut } = list;
  let room = MOST_BYTES - RESERVE_BYTES - sizeOf(resultOf(around));
  const kept: unknown[] = [];
  for (const entry of list.entries) {
    const shown =
      kept.length === 0
        ? fitting(entry, textLimit, room)
        : shortValue(entry, Math.min(textLimit, mostCharacters(entry, room)));
    const bytes = bothFormsOf(shown);
    if (bytes > room) break;
    room -= bytes;
    kept.push(shown);
  }
  const isCut = kept.length < list.entries.length;
  return resultOf({ ...around, [name]: kept, ...(isCut && whenCut(kept.length)) });
}

export function toErrorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function resultOf(data: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: { ...data } };
}

/** Shortens the texts of an entry until it fits and, where that is not enough, leaves out its last members. */
function fitting(entry: unknown, textLimit: number, room: number): unknown {
  const most = mostCharacters(entry, room);
  let shown: unknown;
  for (const limit of [textLimit, ...SHORTER_TEXTS.filter((shorter) => shorter < textLimit)]) {
    if (limit > most && limit !== LEAST_TEXT) continue;
    shown = shortValue(entry, limit);
    if (bothFormsOf(shown) <= room) return shown;
  }
  return firstMembers(shown, room);
}

/**
 * Returns a limit on texts with which an entry of many members is still written quickly: it is at most some 50 times what fits, as most texts
 * are short.
 */
function mostCharacters(entry: unknown, room: number): number {
  return Math.max(LEAST_TEXT, (50 * room) / countValues(entry));
}

function countValues(value: unknown, depth = 0): number {
  if (!isMembers(value) || depth > MOST_DEPTH) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + countValues(member, depth + 1), 1);
}

function firstMembers(shown: unknown, room: number): unknown {
  if (typeof shown === 'string') return `${shown.slice(0, Math.floor(room / 8)).toWellFormed()}… [cut]`;
  if (!isMembers(shown)) return shown;
  const members = Object.entries(shown);
  const kept: [string, unknown][] = [];
  let left = room - ENVELOPE_BYTES;
  for (const [name, value] of members) {
    const bytes = bothFormsOf({ [name]: value }) - BRACES_BYTES;
    if (bytes > left) {
      if (left > LEAST_BYTES) kept.push([name, firstMembers(value, left)]);
      break;
    }
    left -= bytes;
    kept.push([name, value]);
  }
  const omitted = `${members.length - kept.length} of ${members.length} members do not fit. Name those that you need in fields.`;
  return Array.isArray(shown)
    ? [...kept.map(([, value]) => value), omitted]
    : { ...Object.fromEntries(kept), _omitted: omitted };
}

/** Size of a value as JSON, and as JSON in a text. */
function bothFormsOf(value: unknown): number {
  const json = JSON.stringify(value) ?? 'null';
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

function sizeOf(result: CallToolResult): number {
  return Buffer.byteLength(JSON.stringify(result));
}
