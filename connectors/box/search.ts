import {
  type ConnectorContext,
  type Inputs,
  inputs,
  type Json,
  json,
  type ListInput,
  type ParameterSpec,
  type ProviderRequest,
  plainText,
  rejected,
  type Translator,
  type Value,
} from '#connector';
import { membersOf } from './fields.ts';
import { entriesOf, type FolderPart, findFolder, listParts, ROOT, walk } from './folders.ts';

/** The parameters of the search that a `where` sets. Ranges have one parameter for each bound. */
const COLUMNS = inputs({
  type: 'type',
  name: 'name',
  extension: 'file_extensions',
  size: { from: 'size_range>', to: 'size_range<' },
  created_at: { from: 'created_at_range>', to: 'created_at_range<' },
  modified_at: { from: 'updated_at_range>', to: 'updated_at_range<' },
  'owned_by.id': 'owner_user_ids',
});

/**
 * Translates a `where` into parameters. A name becomes a phrase. Box matches the beginnings of words in names, so the longest word of a
 * prefix finds it. Source: "Search indexing".
 */
export const translator: Translator<Inputs> = {
  ...COLUMNS,
  compare: (field, operator, value) =>
    field.name === 'name' ? { name: phrase(plainText(value)) } : (COLUMNS.compare?.(field, operator, value) ?? {}),
  like: (_, { text }): Inputs => {
    const isPlain = /^[a-z\d]+(?:[ .-]+[a-z\d]+)*$/i.test(text);
    const [longest = ''] = text.split(/[ .-]+/).sort((one, other) => other.length - one.length);
    return isPlain ? { name: longest.toLowerCase() } : {};
  },
};

const phrase = (text: string) => `"${text}"`;

export const PARAMETERS = {
  text: {
    type: 'string',
    description: 'Words in names, descriptions, contents, comments and tags. Box accepts "…", AND, OR and NOT.',
  },
  path: { type: 'string', description: 'Path of the folder to search, from the root, such as /Projects/2026.' },
  startDate: { type: 'datetime', description: 'Changed at Box at this time or later.' },
  endDate: {
    type: 'datetime',
    description: 'Changed at Box at this time or earlier. Midnight UTC means the whole day.',
  },
  tags: { type: 'string', description: 'Tags, separated by commas. Only items with all of these tags match.' },
} as const satisfies Readonly<Record<string, ParameterSpec>>;

/** The part of the search that does not come from the `where`. */
interface Wanted {
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly path: string;
  readonly bounds: Inputs;
  readonly members: string;
  readonly isKept: (item: Json) => boolean;
}

type Input = ListInput<Inputs>;

/**
 * Lists the results of a search. Box searches for words only. Without any word, this reads one folder after the other. Sources: "Search for
 * content", "Query operators", "Filter search results".
 */
export const found = listParts<Inputs>(async (context, input, position) => {
  const wanted = readWanted(input);
  const { query, path, members, isKept } = wanted;
  if (query !== undefined)
    return ask(context, { input, wanted, position: position ?? `0 ${await findFolder(context, path)}` });
  return walk(context, { position: position ?? (await findFolder(context, path)), members, isKept });
});

/** Maximum offset of a search. Source: "Queries with offset parameter value exceeding 10000 will be rejected." */
export const MOST_FOUND = 10_000;

interface Asked {
  readonly input: Input;
  readonly wanted: Wanted;
  /** The offset, and the id of the folder to search, separated by a blank. */
  readonly position: string;
}

async function ask({ send }: ConnectorContext, { input, wanted, position }: Asked): Promise<FolderPart> {
  const [offset = 0, folder = ROOT] = position.split(' ');
  if (Number(offset) >= MOST_FOUND) {
    throw rejected(
      `Box returns only the first ${MOST_FOUND} results of a search, and this search has more. Narrow the search.`,
    );
  }
  const { body } = await send(searchFor(input, wanted, { offset, folder }));
  // The limit counts, not the number of returned items: Box leaves out items that the user may not see. Source: "Offset-based pagination".
  const next = Number(offset) + (json.count(json.at(body, 'limit'), 'the limit of the page') || input.limit);
  const total = json.count(json.at(body, 'total_count'), 'the number of all results');
  return { rows: entriesOf(body).filter(wanted.isKept), next: next < total ? `${next} ${folder}` : undefined };
}

interface FolderOffset {
  readonly offset: string | number;
  readonly folder: string;
}

function searchFor({ filter = {}, limit }: Input, wanted: Wanted, { offset, folder }: FolderOffset): ProviderRequest {
  const { name: _, ...columns } = COLUMNS.and?.([filter, wanted.bounds]) ?? {};
  const plain = Object.entries(columns).filter(([name]) => !/[<>]$/.test(name));
  return {
    path: '/search',
    query: {
      ...Object.fromEntries(plain),
      ...rangesIn(columns),
      ...wanted.query,
      ancestor_folder_ids: folder === ROOT ? undefined : folder,
      fields: wanted.members,
      limit,
      offset,
    },
  };
}

/** Returns the ranges in the form `from,to`. Either bound may be missing, but not the comma. */
function rangesIn(columns: Inputs): Readonly<Record<string, string>> {
  const names = ['size_range', 'created_at_range', 'updated_at_range'].filter(
    (name) => `${name}>` in columns || `${name}<` in columns,
  );
  return Object.fromEntries(
    names.map((name) => [name, `${widen(columns[`${name}>`], -1)},${widen(columns[`${name}<`], 1)}`]),
  );
}

/**
 * Moves a bound of a time outwards, because Box does not document whether it includes such bounds. Bounds of sizes are included, and stay.
 */
function widen(bound: Inputs[string] = '', seconds: number): string {
  const text = String(bound);
  if (text === '' || /^-?\d+$/.test(text)) return text;
  return new Date(Date.parse(text) + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

function readWanted({ filter = {}, fields, parameters }: Input): Wanted {
  const tags = textOf(parameters.tags)
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '');
  const [from, to] = [instantOf(parameters.startDate), endOf(parameters.endDate)];
  const isDated = from !== undefined || to !== undefined;
  const extra = [...(tags.length > 0 ? ['tags'] : []), ...(isDated ? ['modified_at'] : [])];
  return {
    query: wordsOf(textOf(parameters.text), tags, String(filter.name ?? '')),
    path: textOf(parameters.path),
    bounds: {
      ...(from !== undefined && { 'updated_at_range>': new Date(from).toISOString() }),
      ...(to !== undefined && { 'updated_at_range<': new Date(to).toISOString() }),
    },
    members: membersOf([...fields.map(({ native }) => native), ...extra]),
    isKept: (item) => hasTags(item, tags) && (!isDated || isWithin(item, from, to)),
  };
}

/** Returns the words of the search. The other conditions are checked on the results. */
function wordsOf(text: string, tags: readonly string[], name: string): Wanted['query'] {
  if (text.trim() !== '') return { query: text };
  const phrases = tags.filter((tag) => /[a-z\d]/.test(tag) && !/["\\]/.test(tag)).map(phrase);
  if (phrases.length > 0) return { query: phrases.join(' AND '), content_types: 'tags' };
  return name === '' ? undefined : { query: name, content_types: 'name' };
}

function hasTags(item: Json, tags: readonly string[]): boolean {
  const has = Array.isArray(item.tags) ? item.tags.map((tag) => String(tag).toLowerCase()) : [];
  return tags.every((tag) => has.includes(tag));
}

function isWithin({ modified_at }: Json, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): boolean {
  const at = Date.parse(String(modified_at));
  return at >= from && at <= to;
}

function textOf(value: Value | undefined): string {
  return value?.kind === 'string' ? value.value : '';
}

function instantOf(value: Value | undefined): number | undefined {
  return value?.kind === 'datetime' ? value.epochMs : undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the end of a time. A day arrives as its first instant, and includes its last one. */
function endOf(value: Value | undefined): number | undefined {
  const at = instantOf(value);
  return at !== undefined && at % DAY_MS === 0 ? at + DAY_MS - 1 : at;
}
