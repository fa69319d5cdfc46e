import type { FileDescription, Media, ObjectSpec } from '../connector/contract.ts';
import { AppError } from '../errors.ts';
import type { CallReport, InstanceCall } from './call.ts';

/** The file of a record, byte for byte as the provider sent it. */
export interface RecordFile extends CallReport {
  readonly bytes: Buffer;
  /** The media type that the record names, where it has one; otherwise the header that the provider sent. */
  readonly contentType: string | undefined;
  /** The header that the provider sent. */
  readonly contentDisposition: string | undefined;
  /** The file name that the record has. */
  readonly name: string | undefined;
}

/** The request to the provider. */
interface FileRequest {
  readonly media: Media;
  readonly accept: string;
}

/**
 * Decides between the record and its file by the `Accept` header.
 * @returns undefined for the record
 * @throws AppError NOT_ACCEPTABLE that lists the available types
 */
export function chooseFile(
  objectName: string,
  object: ObjectSpec,
  accept: string | undefined,
): FileRequest | undefined {
  const { media } = object;
  const choice = chooseResponse(accept, media?.types ?? []);
  if (choice.kind === 'record') return undefined;
  if (choice.kind === 'file' && media !== undefined) return { media, accept: choice.type };
  throw notAcceptable(objectName, accept, media?.types ?? []);
}

/** A file whose type and name are known. */
interface KnownFile extends FileRequest {
  readonly about: FileDescription;
}

const BYTES = 'application/octet-stream';

/**
 * Reads the type of the file, and decides again between the record and the file.
 * @returns undefined for the record
 * @throws AppError NOT_ACCEPTABLE that lists the available types
 */
export async function describeFile(
  call: InstanceCall,
  { objectName, id, file, accept }: DescribedFile,
): Promise<KnownFile | undefined> {
  const about = file.media.about === undefined ? {} : await call.execute(file.media.about, { id });
  if (about.type === undefined) return { ...file, about };
  const choice = chooseResponse(accept, [about.type, BYTES]);
  if (choice.kind === 'record') return undefined;
  if (choice.kind === 'file') return { ...file, about: { ...about, type: choice.type } };
  throw notAcceptable(objectName, accept, [about.type, BYTES]);
}

interface DescribedFile {
  readonly objectName: string;
  readonly id: string;
  readonly file: FileRequest;
  readonly accept: string | undefined;
}

/** Requests the file of a record. */
export async function fetchFile(
  call: InstanceCall,
  { media, accept, about }: KnownFile,
  id: string,
): Promise<RecordFile> {
  const request = media.request({ id, about }, call.instance.config);
  const { bytes, headers } = await call.sendForFile({ ...request, headers: { accept, ...request.headers } });
  return {
    bytes,
    contentType: about.type ?? headers['content-type'],
    contentDisposition: headers['content-disposition'],
    name: about.name,
    ...call.tally,
  };
}

function notAcceptable(objectName: string, accept: string | undefined, fileTypes: readonly string[]): AppError {
  const types = ['application/json', ...fileTypes];
  const message = `A record of '${objectName}' is available as ${types.map(nameType).join(' or ')}. The Accept header requests '${accept}'.`;
  return new AppError('NOT_ACCEPTABLE', message, { details: [{ path: '/headers/accept', message, expected: types }] });
}

function nameType(type: string): string {
  return type === '*' ? 'any other type' : type;
}

/** One entry of an `Accept` header (RFC 9110, 12.5.1). Parameters other than `q` are ignored. */
interface MediaRange {
  /** The media type in lower case, with `*` for its second half or for both halves. */
  readonly type: string;
  readonly quality: number;
}

const RECORD_TYPE = 'application/json';
/** The `Accept` headers of most callers. For each of them, the record is the best choice. */
const TAKES_RECORDS: ReadonlySet<string> = new Set([RECORD_TYPE, '*/*']);
const RANGE = /^\s*([\w!#$&^.+*-]+\/[\w!#$&^.+*-]+)\s*(?:;(.*))?$/;

/** The choice between a record and its file. */
type FileChoice =
  | { readonly kind: 'record' }
  /** `type` is one of the offered types, or what the caller requested where any type is offered. */
  | { readonly kind: 'file'; readonly type: string }
  | { readonly kind: 'none' };

/**
 * Chooses between the record and the `offered` types of its file by an `Accept` header (`*` offers any type). If both have the same
 * quality, it chooses the record, so that callers who accept anything receive JSON.
 */
export function chooseResponse(accept: string | undefined, offered: readonly string[]): FileChoice {
  if (accept === undefined || accept.trim() === '' || TAKES_RECORDS.has(accept)) return { kind: 'record' };
  const ranges = parseAccept(accept);
  const recordQuality = qualityOf(RECORD_TYPE, ranges);
  const [file] = offered.flatMap((type) => candidates(type, ranges)).sort((a, b) => b.quality - a.quality);
  if (file !== undefined && file.quality > recordQuality) return { kind: 'file', type: file.type };
  return { kind: recordQuality > 0 ? 'record' : 'none' };
}

/** Returns the offered type with the highest quality, the first of equal ones. Undefined where none is acceptable. */
export function chooseType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  const ranges = parseAccept(accept === undefined || accept.trim() === '' ? '*/*' : accept);
  const qualities = offered.map((type) => ({ type, quality: qualityOf(type, ranges) }));
  const [best] = qualities.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
  return best?.type;
}

function candidates(type: string, ranges: readonly MediaRange[]): readonly MediaRange[] {
  if (type === '*') return ranges.filter((range) => !range.type.includes('json'));
  return [{ type, quality: qualityOf(type, ranges) }];
}

/** Returns the quality of the most specific range that matches; 0 if the type is not acceptable. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const [half] = type.split('/');
  for (const wanted of [type, `${half}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/** Invalid entries are ignored. */
function parseAccept(accept: string): readonly MediaRange[] {
  return accept.split(',').flatMap((entry) => {
    const [, type, parameters = ''] = RANGE.exec(entry) ?? [];
    return type === undefined ? [] : [{ type: type.toLowerCase(), quality: readQuality(parameters) }];
  });
}

function readQuality(parameters: string): number {
  const [, text] = /(?:^|;)\s*q=\s*([\d.]+)\s*(?:;|$)/i.exec(parameters) ?? [];
  const quality = text === undefined ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 0;
}
