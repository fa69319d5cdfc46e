import { createHash } from 'node:crypto';
import { cycle, DAY_MS, HOSTILE_TEXTS, makeRows, pick, type TableRow, times } from '#connector/simulator';

export type Kind = 'file' | 'folder' | 'web_link';
export type Row = TableRow;

export function kindOf({ type }: Row): Kind {
  return type === 'file' || type === 'folder' ? type : 'web_link';
}

export interface User {
  readonly type: 'user';
  readonly id: string;
  readonly name: string;
  readonly login: string;
}

export const ME: User = { type: 'user', id: '226067247', name: "Dana O'Neil & Söhne", login: 'dana@example.com' };
const COLLEAGUE: User = { type: 'user', id: '11446498', name: 'Ådne "Ops" 李', login: 'ops@example.com' };

export const ROOT_ID = '0';
const NOBODY: User = { type: 'user', id: '', name: '', login: '' };
/** It has no times and no etag, and cannot be changed. */
export const ROOT: Row = {
  ...{ type: 'folder', id: ROOT_ID, sequence: null, name: 'All Files', description: '', parent: null, tags: [] },
  ...{ created_at: null, modified_at: null, content_created_at: null, content_modified_at: null, trashed_at: null },
  ...{ created_by: NOBODY, modified_by: ME },
};

/** The steps from here on lead over the turn to daylight saving. */
const FIRST_MS = Date.parse('2024-02-28T22:10:00Z');
const HOUR_MS = 3_600_000;

/** What Box takes as a name: nothing that cannot be printed, no slashes, no blank at the end. */
export function isName(text: string): boolean {
  return text !== '' && text.length <= LONGEST_NAME && !/\p{Cc}|[/\\]| $|^\.\.?$/u.test(text);
}

export const LONGEST_NAME = 255;
const NAMES = HOSTILE_TEXTS.filter(isName);
const TAGS = HOSTILE_TEXTS.filter((text) => text.trim() !== '' && text.length < 100);
const WORDS = ['Invoice', 'Quarterly report', 'running notes', 'Contract for ACME', 'Blue-Box plan', 'California trip'];
const EXTENSIONS = ['txt', 'pdf', 'docx', 'csv', 'PNG', 'md', ''];

/** Several items in a row are of the same moment; some were changed later, by somebody else. */
function common(type: Kind, first: number, step: number) {
  const createdMs = (index: number) => FIRST_MS + Math.floor(index / 3) * step;
  const modifiedMs = (index: number) => createdMs(index) + (index % 4) * DAY_MS;
  return {
    type: () => type,
    // With gaps.
    id: (index: number) => String(first + index * 7 + (index % 5) * 1000),
    sequence: (index: number) => index % 4,
    description: (index: number) => (index % 2 === 0 ? '' : pick(HOSTILE_TEXTS, index >> 1).slice(0, 255)),
    created_at: createdMs,
    modified_at: modifiedMs,
    content_created_at: (index: number) => createdMs(index) - DAY_MS,
    content_modified_at: modifiedMs,
    trashed_at: () => null,
    created_by: (index: number) => (index % 6 === 5 ? COLLEAGUE : ME),
    modified_by: (index: number) => (index % 4 === 0 ? ME : COLLEAGUE),
    tags: (index: number) => (index % 5 === 0 ? [pick(TAGS, index), 'approved'] : index % 7 === 0 ? ['two words'] : []),
  };
}

const folderColumns = common('folder', 8_290_186_265, 123 * HOUR_MS);

export function makeFolders(): readonly Row[] {
  return makeRows(66, {
    ...folderColumns,
    name: (index) =>
      index < 40 ? `${pick(WORDS, index)} ${index}` : `${pick(NAMES, index)}${index}`.slice(-LONGEST_NAME),
    // The first eight are on top, the others below each other.
    parent: (index) => (index < 8 ? ROOT_ID : folderColumns.id(index % 8 === 3 ? index >> 1 : index % 8)),
  });
}

/** Most are in one folder. */
export function makeFiles(): readonly Row[] {
  return makeRows(130, {
    ...common('file', 73_835_521_473, 71 * HOUR_MS),
    name: (index) => {
      const text = index % 3 === 0 ? pick(NAMES, index / 3) : pick(WORDS, index);
      return withExtension(`${text.slice(0, 200)}-${index}`, pick(EXTENSIONS, index));
    },
    parent: (index) => (index % 3 === 0 ? ROOT_ID : folderColumns.id(index % 3 === 1 ? 2 : index % 40)),
    version: (index) => 1 + (index % 4),
    version_id: (index) => String(78_096_737_033 + index * 11),
  }).map((row, index) => ({ ...row, ...measure(contentOf(index)) }));
}

function withExtension(name: string, extension: string): string {
  return extension === '' ? name : `${name}.${extension}`;
}

/** What a file of an index holds; every tenth is empty. */
export function contentOf(index: number): Buffer {
  const lines = times(index % 10, (line) => `Line ${line} of file ${index}: ${pick(HOSTILE_TEXTS, index + line)}`);
  return Buffer.from(lines.join('\n'));
}

export function measure(content: Uint8Array): { readonly size: number; readonly sha1: string } {
  return { size: content.length, sha1: createHash('sha1').update(content).digest('hex') };
}

export function makeWebLinks(): readonly Row[] {
  return makeRows(6, {
    ...common('web_link', 11_446_400_000, 500 * HOUR_MS),
    name: (index) => `example${index}.com`,
    parent: (index) => (index % 2 === 0 ? ROOT_ID : folderColumns.id(1)),
    url: cycle(['https://example.com/', "https://example.com/?q=O'Neil&x=%20"]),
  });
}
