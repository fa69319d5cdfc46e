import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Request, Response } from 'express';
import type { TenantIds } from '../accounts/store.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import type { UploadedFile } from '../connector/contract.ts';
import { AppError, cutText, invalidRequest, pointer } from '../errors.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import { countPiece } from '../pace.ts';
import type { FileForm } from '../resources/upload.ts';
import {
  askForBody,
  assertLength,
  brokenOff,
  KB,
  MB,
  MOST_STREAMED_BYTES,
  noRoom,
  openBodyRoom,
  tooLarge,
} from './body-bytes.ts';
import { flowOf, letTakeItsTime } from './incoming-body.ts';
import { assertJsonShape, LARGE, parseText } from './json-body.ts';

/** The part with the file. */
const FILE = 'file';
/** The part with the fields of the record as JSON, in place of a part for each. */
const METADATA = 'metadata';
/** The part that says what to do with a file of any size. */
const INSTRUCTIONS = 'metaData';

/** Maximum size of the names and values of all fields. */
const MOST_FIELD_BYTES = 64 * KB;
const MOST_FIELDS = 1_000;
/** Maximum size of the headers of one part. A name of a few hundred characters, percent-encoded, needs less. */
const MOST_HEADER_BYTES = 16 * KB;
const MOST_HEADERS = 20;
/** The memory for a file that is streamed: buffers from the caller's connection to the provider's, and the fields. */
const FORM_BYTES = 512 * KB;

/** A form with a file. Its fields can come before or after the file. */
export interface StreamedForm {
  /** Fields of the form. They are complete when the bytes have ended. */
  readonly fields: ReadonlyMap<string, string>;
  readonly file: UploadedFile;
  /**
   * Bytes of the file, which can be read once.
   * @throws AppError for faults in the rest of the form
   */
  readonly bytes: AsyncIterable<Buffer>;
}

interface FormRules {
  /** Maximum size of the whole form. */
  readonly maxBytes: number;
  /** The part of JSON. It is a field also with a filename, without which many clients send no part that has a type. */
  readonly json: string;
  /** Fields may follow the file. */
  readonly takesLateFields: boolean;
}

const OF_RECORDS: FormRules = { maxBytes: MOST_STREAMED_BYTES, json: METADATA, takesLateFields: false };
/** The reader of the file limits its size. */
const STREAMED: FormRules = { maxBytes: Number.POSITIVE_INFINITY, json: INSTRUCTIONS, takesLateFields: true };
/** The memory for a part of a file before it is stored, and for its compressed form. */
const PART_BYTES = 3 * MB;

interface FormBounds {
  /** Memory limit of this process for the bodies of requests. */
  readonly budget: ByteBudget;
  /** Aborts when the caller disconnects, and after the response. */
  readonly signal: AbortSignal;
}

export function isForm({ headers }: Pick<Request, 'headers'>): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Reads a form up to its file. The bytes of the file are read during iteration, at the pace of the reader, and end when the whole form has
 * arrived and contains nothing else. Unread bytes are discarded, so that the caller can read its response.
 * @throws AppError REQUEST_INVALID, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, OVERLOADED; iterating over the bytes throws the same
 */
export async function readFileForm(request: Request, response: Response, bounds: FormBounds): Promise<FileForm> {
  const { fields, file, bytes } = await openForm(request, response, {
    ...bounds,
    rules: OF_RECORDS,
    roomBytes: FORM_BYTES,
  });
  const metadata = fields.get(METADATA);
  if (metadata === undefined) return { values: Object.fromEntries(fields), isText: true, file, bytes };
  if (fields.size > 1) throw fault(METADATA, 'contains all fields of the record, so send no other parts');
  return { values: await readMetadata(metadata, response), isText: false, file, bytes };
}

/** Reads a form with a file of any size, which is stored as it arrives. It throws the errors of `readFileForm`. */
export function readStreamedForm(request: Request, response: Response, bounds: FormBounds): Promise<StreamedForm> {
  letTakeItsTime(request);
  return openForm(request, response, { ...bounds, rules: STREAMED, roomBytes: FORM_BYTES + PART_BYTES });
}

interface FormInput extends FormBounds {
  readonly rules: FormRules;
  /** The memory that it holds. */
  readonly roomBytes: number;
}

async function openForm(request: Request, response: Response, input: FormInput): Promise<StreamedForm> {
  const { budget, signal, rules, roomBytes } = input;
  if (request.headers['content-encoding'] !== undefined)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'A form with a file must not have a Content-Encoding.');
  assertLength(request, rules.maxBytes);
  const principal: TenantIds | undefined = response.locals.principal;
  if (!openBodyRoom(budget, principal?.accountId, response).take(roomBytes)) throw noRoom();
  const parser = openParser(request, rules);
  askForBody(request, response);
  return readHead(request, parser, { rules, signal });
}

/** @throws AppError REQUEST_INVALID without a boundary */
function openParser({ headers }: Request, { json }: FormRules): BusboyInstance {
  const type = headers['content-type'] ?? '';
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      isPartAFile: (name, _type, fileName) => fileName !== undefined && name !== json,
      limits: {
        files: 1,
        fields: MOST_FIELDS,
        // Those that are neither a field nor a file cost as much.
        parts: MOST_FIELDS + 1,
        fieldSize: MOST_FIELD_BYTES,
        headerPairs: MOST_HEADERS,
        headerSize: MOST_HEADER_BYTES,
      },
    });
  } catch (cause) {
    throw new AppError('REQUEST_INVALID', 'The Content-Type of the form names no boundary of at most 200 characters.', {
      cause,
    });
  }
}

async function readHead(
  request: Request,
  parser: BusboyInstance,
  { rules, signal }: Pick<FormInput, 'rules' | 'signal'>,
): Promise<StreamedForm> {
  if (request.destroyed) throw brokenOff();
  const head = Promise.withResolvers<StreamedForm>();
  const whole = Promise.withResolvers<void>();
  // Reported to the reader of the file. There may be none yet, or none any more.
  whole.promise.catch(() => {});
  const fields = createFields();
  const flow = flowOf(request);
  let size = 0;
  let failure: AppError | undefined;
  let file: Readable | undefined;

  /** The rest is thrown away. */
  function drop(): void {
    request.unpipe(parser);
    request.off('data', count);
    request.resume();
  }

  function fail(error: AppError): void {
    failure ??= error;
    drop();
    head.reject(error);
    whole.reject(error);
    file?.destroy(error);
  }

  function count(piece: Buffer): void {
    size += piece.length;
    countPiece(flow, piece.length);
    if (size > rules.maxBytes) fail(tooLarge(rules.maxBytes));
  }

  /**
   * Returns the bytes of the file. It ends when the form ends, because the parts behind the file may show that it is not the intended one.
   */
  async function* bytesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    try {
      yield* stream;
      await whole.promise;
    } catch (error) {
      // The parser has words of its own for a file that breaks off.
      throw failure ?? error;
    } finally {
      drop();
    }
  }

  parser.on('field', (name: string | undefined, value: string, _nameCut: boolean, isCut: boolean) => {
    const isInPlace = file === undefined || rules.takesLateFields;
    const wrong = isInPlace ? fields.add(name, value, isCut) : lateField(name);
    if (wrong !== undefined) fail(wrong);
  });
  parser.on(
    'file',
    (name: string | undefined, stream: Readable, fileName: string | undefined, encoding: string, type: string) => {
      // The parser may emit an error when there is no listener yet.
      stream.on('error', () => {});
      file = stream;
      const named = nameFile(name, fileName, encoding);
      if (named instanceof AppError) fail(named);
      else head.resolve({ fields: fields.values, file: { name: named, type: typeOf(type) }, bytes: bytesOf(stream) });
    },
  );
  parser.on('filesLimit', () => fail(fault(FILE, 'is not the only file: send one file in a request')));
  parser.on('fieldsLimit', () => fail(tooManyFields()));
  parser.on('partsLimit', () => fail(tooManyFields()));
  parser.on('error', (cause: unknown) => fail(brokenForm(cause)));
  parser.on('finish', () => {
    if (file === undefined) fail(fault(FILE, 'is missing: the form has no part with a file'));
    whole.resolve();
  });
  request.on('error', (cause) => fail(brokenOff(cause)));
  signal.addEventListener('abort', drop, { once: true });
  request.on('data', count);
  request.pipe(parser);
  return head.promise;
}

function createFields() {
  const values = new Map<string, string>();
  let size = 0;
  return {
    values,
    /** @returns what is wrong with it */
    add: (name: string | undefined, value: string, isCut: boolean): AppError | undefined => {
      if (name === undefined || name === '')
        return invalidRequest([{ path: '/body', message: 'A part of the form has no name.' }]);
      size += Buffer.byteLength(name) + Buffer.byteLength(value);
      if (isCut || size > MOST_FIELD_BYTES) return tooManyFields();
      if (name === FILE) return fault(FILE, 'has no filename, so it is not a file');
      if (values.has(name)) return fault(name, 'comes more than once');
      if (isGarbled(name) || isGarbled(value)) return fault(name, 'is not well-formed UTF-8');
      values.set(name, value);
      return undefined;
    },
  };
}

function lateField(name: string | undefined): AppError {
  return fault(name ?? '', `is after the file: send all fields before the part '${FILE}'`);
}

const AS_IT_IS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/** @returns the name of the file, or what is wrong with the part */
function nameFile(part: string | undefined, given: string | undefined, encoding: string): string | AppError {
  if (part !== FILE) return fault(part ?? '', `has a filename; the part with the file is called '${FILE}'`);
  if (!AS_IT_IS.has(encoding)) return fault(FILE, 'has a Content-Transfer-Encoding; send the bytes as they are');
  const name =
    unescapeName(given ?? '')
      .split(/[\\/]/)
      .at(-1) ?? '';
  if (name === '' || name === '.' || name === '..') return fault(FILE, 'has an empty filename');
  if (/\p{Cc}/u.test(name)) return fault(FILE, 'has a filename with control characters, such as a line break');
  return isGarbled(name) ? fault(FILE, 'has a filename that is not well-formed UTF-8') : name;
}

/** As browsers write what would end the name (Fetch, "multipart/form-data parser"). */
function unescapeName(name: string): string {
  return name.replaceAll(/%0a/gi, '\n').replaceAll(/%0d/gi, '\r').replaceAll('%22', '"');
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;

function typeOf(given: string): string {
  return MEDIA_TYPE.test(given) ? given.toLowerCase() : 'application/octet-stream';
}

/** Returns whether a decoded text contains the replacement character for bytes that are no text. */
function isGarbled(text: string): boolean {
  return text.includes('\ufffd');
}

async function readMetadata(text: string, response: Response): Promise<FileForm['values']> {
  const what = `The part '${METADATA}'`;
  await assertJsonShape(Buffer.from(text), LARGE, response);
  const value = parseText(text, what);
  if (isJsonObject(value)) return value;
  throw fault(METADATA, 'is not a JSON object');
}

function fault(part: string, what: string): AppError {
  return invalidRequest([{ path: pointer('body', part), message: `'${cutText(part)}' ${what}.` }]);
}

function tooManyFields(): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The fields of the form are more than ${MOST_FIELDS}, or larger than 64 kB together.`,
  );
}

function brokenForm(cause: unknown): AppError {
  return new AppError(
    'REQUEST_INVALID',
    'The form is incomplete or not well-formed multipart/form-data. It must end with its boundary and two hyphens.',
    { cause },
  );
}
