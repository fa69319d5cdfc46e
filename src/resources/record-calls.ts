import type { ObjectSpec, StoredUpload } from '../connector/index.ts';
import type { Row } from '../where/index.ts';
import type { CallReport, InstanceCall } from './call.ts';
import { bodyOf } from './mapped.ts';
import { chooseFile, describeFile, fetchFile, type RecordFile } from './media.ts';
import { refuseOperation } from './objects.ts';
import { type Action, type ObjectTarget, type Opened, onRecord } from './opened.ts';
import { wholeRecord } from './query.ts';
import { holdsReadOnly, sizeOf, writeRecord } from './record.ts';
import { assertTakesJson, type FileForm, readTexts, refuseFile } from './upload.ts';

/** A single record, as the API returns it. */
interface OneRecord extends CallReport {
  readonly record: Row;
}

/** Creates the calls on one record, and those that make one. `open` finds the object. */
export function createRecordCalls(open: (target: ObjectTarget, action: Action) => Promise<Opened>) {
  async function write(target: ObjectTarget, action: 'update' | 'replace', id: string, body: Row): Promise<OneRecord> {
    const { call, object } = await open(target, action);
    const operation = requireWrite(target, object, action);
    const values = await judgeUpdate(target, id, body, { call, object });
    const { fields } = wholeRecord(object);
    const record = await onRecord(target, id, call.execute(operation, { id, values, fields }));
    return toRecord(call, object, record);
  }

  return {
    getRecord: async (target: ObjectTarget, id: string) => readRecord(target, id, await open(target, 'get')),

    /**
     * Returns the record or its file, depending on the `Accept` header.
     * @throws AppError NOT_ACCEPTABLE
     */
    getRecordOrFile: async (
      target: ObjectTarget,
      id: string,
      accept: string | undefined,
    ): Promise<OneRecord | RecordFile> => {
      const opened = await open(target, 'get');
      const file = chooseFile(target.objectName, opened.object, accept);
      if (file === undefined) return readRecord(target, id, opened);
      const described = { objectName: target.objectName, id, file, accept };
      const known = await onRecord(target, id, describeFile(opened.call, described));
      if (known === undefined) return readRecord(target, id, opened);
      return onRecord(target, id, fetchFile(opened.call, known, id));
    },

    createRecord: async (target: ObjectTarget, body: Row) => {
      const { call, object } = await open(target, 'create');
      const operation = requireWrite(target, object, 'create');
      const values = judgeBody(body, object, 'create');
      const { fields } = wholeRecord(object);
      return toRecord(call, object, await call.execute(operation, { values, fields }));
    },

    /**
     * Creates a record from a file.
     * @throws AppError UNSUPPORTED_MEDIA_TYPE for an object that accepts no files
     */
    uploadRecord: async (target: ObjectTarget, { values: given, isText, file, bytes }: FileForm) => {
      const opened = await open(target, 'upload');
      const { call, object } = opened;
      const operation = object.upload?.create ?? refuseFile(target, object, 'create');
      const values = writeRecord(isText ? readTexts(given, object) : given, object, 'create');
      const input = { values, fields: wholeRecord(object).fields, file };
      return readUploaded(target, opened, await call.upload(operation, input, bytes));
    },

    /**
     * Stores a new version of a file.
     * @throws as `uploadRecord`
     */
    uploadVersion: async (target: ObjectTarget, id: string, { values: given, isText, file, bytes }: FileForm) => {
      const opened = await open(target, 'upload');
      const { call, object } = opened;
      const operation = object.upload?.replace ?? refuseFile(target, object, 'replace');
      const values = await judgeUpdate(target, id, isText ? readTexts(given, object) : given, opened);
      const input = { id, values, fields: wholeRecord(object).fields, file };
      return readUploaded(target, opened, await onRecord(target, id, call.upload(operation, input, bytes)));
    },

    updateRecord: (target: ObjectTarget, id: string, body: Row) => write(target, 'update', id, body),
    replaceRecord: (target: ObjectTarget, id: string, body: Row) => write(target, 'replace', id, body),

    deleteRecord: async (target: ObjectTarget, id: string) => {
      const { call, object } = await open(target, 'delete');
      const operation = object.remove ?? refuseOperation(target, object, 'remove');
      await onRecord(target, id, call.execute(operation, { id }));
      return call.tally;
    },
  };
}

function toRecord(call: InstanceCall, object: ObjectSpec, native: unknown): OneRecord {
  call.assertMembers(native);
  const record = wholeRecord(object).map(native);
  call.keep(sizeOf(record));
  return { record, ...call.tally };
}

async function readRecord(target: ObjectTarget, id: string, { call, object }: Opened): Promise<OneRecord> {
  const operation = object.get ?? refuseOperation(target, object, 'get');
  const { fields } = wholeRecord(object);
  return toRecord(call, object, await onRecord(target, id, call.execute(operation, { id, fields })));
}

/**
 * Returns the values of a request in the fields of an object. Writes and their try-outs share it.
 * @throws AppError REQUEST_INVALID that names the members that cannot be written
 */
export function judgeBody(body: Row, object: ObjectSpec, action: 'create' | 'update', stored?: Row): Row {
  return writeRecord(body, bodyOf(object), action, stored);
}

/** Asserts that the object has an operation that takes JSON. */
export function requireWrite<Name extends 'create' | 'update' | 'replace'>(
  target: ObjectTarget,
  object: ObjectSpec,
  action: Name,
) {
  if (action !== 'update') assertTakesJson(target.objectName, object, action);
  return object[action] ?? refuseOperation(target, object, action);
}

/** Returns the values of an update. A record may be sent back as it was read. */
async function judgeUpdate(target: ObjectTarget, id: string, body: Row, { call, object }: Opened): Promise<Row> {
  const isJudged = object.get !== undefined && holdsReadOnly(body, bodyOf(object));
  const stored = isJudged ? (await readRecord(target, id, { call, object })).record : undefined;
  return judgeBody(body, object, 'update', stored);
}

/** Returns the record as it is stored. Some providers return only its id. */
async function readUploaded(target: ObjectTarget, opened: Opened, stored: StoredUpload): Promise<OneRecord> {
  if ('record' in stored) return toRecord(opened.call, opened.object, stored.record);
  return readRecord(target, stored.id, opened);
}
