import { openAsBlob } from 'node:fs';
import { access, rename, stat } from 'node:fs/promises';
import {
  BulkAction,
  type BulkDownload,
  type BulkError,
  type BulkJob,
  type BulkRequest,
  type BulkUpload,
  type Causeway,
} from '@causeway/client';
import { Option } from 'commander';
import { type AddCommands, names, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { RowsFailedError, UsageError } from '../failures.js';
import { first } from '../limit.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { counted, printable } from '../texts.js';
import { timeOf } from '../times.js';

interface FileChoice {
  readonly output?: string;
  readonly force?: true;
}

interface QueryOptions extends FileChoice {
  readonly where?: string;
  readonly fields?: readonly string[];
  readonly orderBy?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly wait: boolean;
}

interface UploadOptions {
  readonly action: BulkAction;
  readonly identifier?: string;
  readonly fileFormat?: FileFormat;
  readonly errors?: string;
  readonly outcomes?: string;
  readonly force?: true;
  readonly wait: boolean;
}

const FILE_FORMATS = ['csv', 'jsonl'] as const;
type FileFormat = (typeof FILE_FORMATS)[number];

/** Maximum number of errors of an upload that are printed. */
const MOST_ERRORS_SHOWN = 5;

interface ListOptions {
  readonly where?: string;
  readonly limit: number;
}

export const addBulk: AddCommands = (program, run) => {
  const bulk = program
    .command('bulk')
    .description('download all records of a query to a file, or upload the rows of a file, in the background');
  withFile(bulk.command('query <object>'))
    .description('start a download, wait for it, and write its file')
    .option('-w, --where <filter>', 'as for query')
    .option('-f, --fields <names>', 'as for query; in the order of the columns', names)
    .option('-o, --order-by <order>', 'as for query; the provider must support the order itself')
    .option('--from <time>', 'only records changed since a time, or an age such as 30m, 2h, 7d')
    .option('--to <time>', 'only records changed before a time, or an age')
    .option('-n, --limit <rows>', 'maximum number of rows', wholeNumber)
    .option('--no-wait', 'start the job and do not wait')
    .action(run(query));
  withFile(withJob(bulk.command('download')))
    .description('wait for a job and write its file; resumes an interrupted file')
    .action(run(download));
  bulk
    .command('upload <object> <file>')
    .description('write the rows of a file to the provider, wait for the end, and list the rows that failed')
    .addOption(
      new Option('-a, --action <action>', 'file for the outcome of each row')
        .choices(Object.values(BulkAction))
        .makeOptionMandatory(),
    )
    .option('--identifier <field>', 'the field that identifies the record of a row (default: the id of the object)')
    // `--format` is already the format of the output, so the format of the file has an option of its own.
    .addOption(
      new Option('--file-format <format>', 'format of the file (default: by its extension)').choices(FILE_FORMATS),
    )
    .option('--errors <file>', 'write the failed rows to this file, unchanged, so that you can correct and upload them')
    .option('--outcomes <file>', 'write the outcome of each row to this file, in the format of the uploaded file')
    .option('--force', 'overwrite existing files of --errors and --outcomes')
    .option('--no-wait', 'start the job and do not wait')
    .action(run(upload));
  bulk
    .command('jobs')
    .description('list the jobs of the instance, the newest first')
    .option('--where <filter>', "such as: status = 'RUNNING'")
    .option('-n, --limit <count>', 'maximum number of entries', wholeNumber, 20)
    .action(run(jobs));
  withJob(bulk.command('status')).description('show the progress of a job').action(run(status));
  withJob(bulk.command('errors')).description('list the errors of a job').action(run(errors));
  withJob(bulk.command('cancel')).description('cancel a running job').action(run(cancel));
  withJob(bulk.command('delete')).description('delete a job and its file').action(run(remove));
};

type Commands = Parameters<AddCommands>[0];

function withFile(command: Commands): Commands {
  return command
    .option(
      '-O, --output <file>',
      'the file; .jsonl or .ndjson writes one JSON object per line (default: <object>.csv)',
    )
    .option('--force', 'overwrite an existing file');
}

function withJob(command: Commands): Commands {
  return command.argument('<job>', `the id of the job, see ${CAUSEWAY} bulk jobs`, wholeNumber);
}

async function query(session: Session, objectName: string, options: QueryOptions): Promise<void> {
  const file = fileOf(options, session, `${objectName}.csv`);
  if (options.wait) await assertFree(file, options.force);
  const account = await session.account();
  const started = await account.bulk.start(requestOf(objectName, file, options), { signal: session.signal });
  if (!options.wait) {
    await session.output.one(
      { id: started.id, objectName },
      () => `The job ${started.id} is started. Its file: ${CAUSEWAY} bulk download ${started.id}`,
    );
    return;
  }
  session.output.note(`The job ${started.id} is started.`);
  await writeFile(session, started, file);
}

function requestOf(
  objectName: string,
  file: string,
  { where, fields, orderBy, from, to, limit }: QueryOptions,
): BulkRequest {
  const now = Date.now();
  return {
    objectName,
    format: isJsonLines(file) ? 'jsonl' : 'csv',
    ...(where !== undefined && { where }),
    ...(fields !== undefined && { fields }),
    ...(orderBy !== undefined && { orderBy }),
    ...(from !== undefined && { from: timeOf(from, now) }),
    ...(to !== undefined && { to: timeOf(to, now) }),
    ...(limit !== undefined && { limit }),
  };
}

async function download(session: Session, id: number, options: FileChoice): Promise<void> {
  const account = await session.account();
  const job = await account.bulk.getBulkStatus({ id }, { signal: session.signal });
  if (options.output !== undefined && isJsonLines(options.output) !== (job.fileFormat === 'jsonl')) {
    throw new UsageError(
      `The file of the job ${id} has the format ${job.fileFormat}. Choose another extension than that of ${options.output}.`,
    );
  }
  const file = options.output ?? `${job.objectName}.${job.fileFormat}`;
  await assertFree(file, options.force);
  await writeFile(session, account.bulk.download(id, job.objectName), file);
}

/** Writes the file under a temporary name until it is complete. The next command continues from that file. */
async function writeFile(session: Session, bulkDownload: BulkDownload, file: string): Promise<void> {
  const { output, signal } = session;
  const { id, objectName } = bulkDownload;
  const hint = () =>
    output.note(`Continue: ${CAUSEWAY} bulk download ${id} --output ${file}\nEnd it: ${CAUSEWAY} bulk cancel ${id}`);
  signal.addEventListener('abort', hint);
  try {
    const job = await bulkDownload.wait({ signal, onProgress: (now) => output.progress(progressOf(now)) });
    const part = partOf(file, id);
    const fromByte = await sizeOf(part);
    if (fromByte > job.fileSize) throw new UsageError(`${part} is longer than the file of the job ${id}. Remove it.`);
    output.progress(`${objectName}: writing ${job.fileSize} bytes`);
    if (fromByte < job.fileSize || job.fileSize === 0) await bulkDownload.toFile(part, { signal, fromByte });
    await rename(part, file);
    output.done();
    const result = {
      id,
      objectName,
      rows: job.recordsCount,
      bytes: job.fileSize,
      file,
      ...(fromByte > 0 && { fromByte }),
    };
    await output.one(
      result,
      () =>
        `${counted(job.recordsCount, 'row')} in ${file}${fromByte > 0 ? `, of which the first ${fromByte} bytes existed` : ''}.`,
    );
  } finally {
    output.done();
    signal.removeEventListener('abort', hint);
  }
}

async function upload(session: Session, objectName: string, file: string, options: UploadOptions): Promise<void> {
  const { action, identifier } = options;
  const { output, signal } = session;
  const format = options.fileFormat ?? formatOf(file);
  await assertWritable(options, format);
  const rows = await blobOf(file);
  const account = await session.account();
  output.progress(`${objectName}: sending ${rows.size} bytes`);
  const metaData = { format, action, ...(identifier !== undefined && { identifierFieldName: identifier }) };
  const started = await account.bulk.upload(objectName, rows, metaData, { signal }).finally(() => output.done());
  const { id } = started;
  if (!options.wait) {
    await output.one({ id, objectName }, () => `The job ${id} is started. Its progress: ${CAUSEWAY} bulk status ${id}`);
    return;
  }
  output.note(`The job ${id} is started.`);
  await tellOutcome(session, started, options);
}

/** Prints the outcome of an upload. @throws RowsFailedError */
async function tellOutcome(session: Session, started: BulkUpload, { errors: errorsFile, outcomes }: UploadOptions) {
  const { output, signal } = session;
  const { id, objectName } = started;
  const hint = () =>
    output.note(`See the progress: ${CAUSEWAY} bulk status ${id}\nEnd it: ${CAUSEWAY} bulk cancel ${id}`);
  signal.addEventListener('abort', hint);
  try {
    const job = await started.wait({ signal, onProgress: (now) => output.progress(progressOf(now)) });
    if (errorsFile !== undefined) await whole(errorsFile, id, (part) => started.failedRowsToFile(part, { signal }));
    if (outcomes !== undefined) await whole(outcomes, id, (part) => started.toFile(part, { signal }));
    const shown: BulkError[] = [];
    for await (const error of first(MOST_ERRORS_SHOWN, started.errors({ signal }))) shown.push(error);
    output.done();
    const { recordsCount: rows, recordsFailedCount: failed } = job;
    const result = { id, objectName, rows, written: rows - failed, failed, errors: shown };
    await output.one(result, () =>
      [`${counted(rows, 'row')}: ${rows - failed} written, ${failed} failed.`, ...shown.map(errorLine)].join('\n'),
    );
    if (failed > 0)
      throw new RowsFailedError(
        `${failed} of ${counted(rows, 'row')} failed. All of them: ${CAUSEWAY} bulk errors ${id}`,
      );
  } finally {
    output.done();
    signal.removeEventListener('abort', hint);
  }
}

function errorLine({ row, code, doubtful, message }: BulkError): string {
  const words = [row === undefined ? '' : `row ${row}`, doubtful ? 'doubtful' : '', code ?? ''];
  return `  ${words.filter((word) => word !== '').join(', ')}: ${printable(message)}`;
}

/** Checks the files that the command writes before it sends the upload, so that an error does not appear only afterwards. */
async function assertWritable({ errors: failed, outcomes, force }: UploadOptions, format: FileFormat): Promise<void> {
  if (failed !== undefined && failed === outcomes) throw new UsageError('--errors and --outcomes name the same file.');
  for (const file of [failed, outcomes].filter((name) => name !== undefined)) {
    if (isJsonLines(file) !== (format === 'jsonl'))
      throw new UsageError(
        `The rows are sent and written as ${format}. Choose another extension than that of ${file}.`,
      );
    await assertFree(file, force);
  }
}

/** Returns the file as a `Blob` that is read while it is sent. */
async function blobOf(file: string): Promise<Blob> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) throw new UsageError(`There is no file ${file}.`);
  if (!found.isFile()) throw new UsageError(`${file} is not a file.`);
  return openAsBlob(file);
}

function formatOf(file: string): FileFormat {
  if (isJsonLines(file)) return 'jsonl';
  if (/\.csv$/i.test(file)) return 'csv';
  throw new UsageError(`${file} has neither the extension .csv nor .jsonl. Add --file-format.`);
}

/** Writes a file under a temporary name, and renames it when it is complete. */
async function whole(file: string, id: number, write: (part: string) => Promise<void>): Promise<void> {
  const part = partOf(file, id);
  await write(part);
  await rename(part, file);
}

async function jobs(session: Session, { where, limit }: ListOptions): Promise<void> {
  const account = await session.account();
  const query = { pageSize: Math.min(limit, 200), ...(where !== undefined && { where }) };
  const list = account.all((page) => account.bulk.listBulkJobsRaw({ ...query, ...page }, { signal: session.signal }));
  await session.output.list(first(limit, list), JOB_COLUMNS);
}

const JOB_COLUMNS: Columns<BulkJob> = {
  job: ({ id }) => id,
  object: ({ objectName }) => objectName,
  status: ({ status: state }) => state,
  rows: ({ recordsCount }) => recordsCount,
  failed: ({ recordsFailedCount }) => recordsFailedCount,
  bytes: ({ fileSize }) => fileSize,
  format: ({ fileFormat }) => fileFormat,
  created: ({ createdDate }) => createdDate,
  finished: ({ bulkFinishTime }) => bulkFinishTime,
};

function status(session: Session, id: number): Promise<void> {
  return showJob(session, (account) => account.bulk.getBulkStatus({ id }, { signal: session.signal }));
}

function cancel(session: Session, id: number): Promise<void> {
  return showJob(session, (account) => account.bulk.cancelBulkJob({ id }, { signal: session.signal }));
}

async function showJob(session: Session, ask: (account: Causeway) => Promise<BulkJob>): Promise<void> {
  const job = await ask(await session.account());
  await session.output.one(job, () =>
    [`The job ${job.id} is ${job.status}.`, progressOf(job), ...(job.message ? [printable(job.message)] : [])].join(
      '\n',
    ),
  );
}

async function errors(session: Session, id: number): Promise<void> {
  const account = await session.account();
  const list = account.all((page) => account.bulk.listBulkErrorsRaw({ id, ...page }, { signal: session.signal }));
  await session.output.list(
    list,
    { row: ({ row }) => row, code: ({ code }) => code, message: ({ message }) => message },
    'The job has no errors.',
  );
}

async function remove(session: Session, id: number): Promise<void> {
  const account = await session.account();
  await account.bulk.deleteBulkJob({ id }, { signal: session.signal });
  await session.output.one({ id, deleted: true }, () => `The job ${id} is deleted.`);
}

function progressOf({ objectName, status: state, recordsCount, progress }: BulkJob): string {
  const total = progress?.estimatedTotal === undefined ? '' : ` of about ${progress.estimatedTotal}`;
  const calls = progress === undefined ? '' : `, ${counted(progress.providerCalls, 'call')} to the provider`;
  return `${printable(objectName)}: ${state.toLowerCase()}, ${counted(recordsCount, 'row')}${total}${calls}`;
}

function fileOf({ output }: FileChoice, session: Session, preset: string): string {
  if (output !== undefined) return output;
  return session.output.format === 'ndjson' ? preset.replace(/csv$/, 'jsonl') : preset;
}

async function assertFree(file: string, force: true | undefined): Promise<void> {
  if (force) return;
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw new UsageError(`${file} already exists. Choose another --output, or add --force.`);
}

function partOf(file: string, id: number): string {
  return `${file}.${id}.part`;
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return 0;
      throw error;
    },
  );
}

function isJsonLines(file: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(file);
}
