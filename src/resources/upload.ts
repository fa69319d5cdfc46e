import type { ObjectSpec, Upload, UploadedFile } from '../connector/contract.ts';
import { AppError, type ErrorDetail, invalidRequest, pointer } from '../errors.ts';
import { readDecimal } from '../numbers/number-value.ts';
import type { FieldType, Row } from '../where/index.ts';
import { type Addressee, refuseOperation } from './objects.ts';

/** A record together with its file. */
export interface FileForm {
  readonly values: Row;
  /** Whether all values are text, whatever their fields are, because they arrived as fields of a form. */
  readonly isText: boolean;
  readonly file: UploadedFile;
  /**
   * The bytes of the file, which can be read once.
   * @throws AppError for faults of the form behind them
   */
  readonly bytes: AsyncIterable<Buffer>;
}

const FORM = 'multipart/form-data';

/**
 * Rejects a file for an object that accepts none.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE; OPERATION_UNSUPPORTED where the object does not support the operation at all
 */
export function refuseFile(target: Addressee, object: ObjectSpec, name: keyof Upload): never {
  if (object[name] === undefined) refuseOperation(target, object, name);
  const message = `'${target.objectName}' accepts no file here. Send the record as application/json.`;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', message);
}

/**
 * Rejects JSON for an object that accepts only files.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE
 */
export function assertTakesJson(objectName: string, object: ObjectSpec, name: keyof Upload): void {
  if (object[name] !== undefined || object.upload?.[name] === undefined) return;
  const message = `'${objectName}' accepts files here. Send ${FORM} with a part 'file'.`;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', message);
}

interface TextForm {
  /** @returns undefined for a text that is no such value */
  readonly read: (text: string) => string | boolean | undefined;
  readonly expected: string;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const TEXT: TextForm = { read: (text) => text, expected: 'text' };
const NUMBER: TextForm = {
  // Text that is a number becomes a number later, where its range is checked as that of JSON.
  read: (text) => (readDecimal(text) === undefined ? undefined : text),
  expected: 'a number',
};
const STRUCTURE: TextForm = {
  read: () => undefined,
  expected: "JSON. Send it with all other fields in one part named 'metadata'",
};

const TEXT_FORMS: Readonly<Record<FieldType, TextForm>> = {
  string: TEXT,
  date: TEXT,
  datetime: TEXT,
  integer: NUMBER,
  number: NUMBER,
  boolean: { read: (text) => BOOLEANS.get(text), expected: "'true' or 'false'" },
  object: STRUCTURE,
  array: STRUCTURE,
};

/**
 * Converts the texts of a form to the values that JSON would have. Unknown fields stay as they are.
 * @throws AppError REQUEST_INVALID
 */
export function readTexts(texts: Row, { fields }: ObjectSpec): Row {
  const faults: ErrorDetail[] = [];
  const values = Object.entries(texts).map(([name, text]) => {
    const type = Object.hasOwn(fields, name) ? (fields[name]?.type ?? 'string') : 'string';
    const { read, expected } = TEXT_FORMS[type];
    const value = read(String(text));
    const message = `'${name}' is of type ${type}: expected ${expected}.`;
    if (value === undefined) faults.push({ path: pointer('body', name), message });
    return [name, value] as const;
  });
  if (faults.length > 0) throw invalidRequest(faults);
  return Object.fromEntries(values);
}
