import type { Media, ObjectSpec } from '../connector/contract.ts';
import { AppError } from '../errors.ts';
import { chooseAnswer } from './accept.ts';
import type { CallReport, InstanceCall } from './call.ts';

/** The file of a record, as the provider sent it. */
export interface RecordFile extends CallReport {
  readonly bytes: Buffer;
  /** The provider's words; undefined where it sent none. */
  readonly contentType: string | undefined;
  readonly contentDisposition: string | undefined;
}

/** What to ask the provider for. */
export interface FileRequest {
  readonly media: Media;
  readonly accept: string;
}

/**
 * The file that the caller would rather have than the record; undefined for the record.
 * @throws AppError NOT_ACCEPTABLE that says what there is
 */
export function chooseFile(
  objectName: string,
  object: ObjectSpec,
  accept: string | undefined,
): FileRequest | undefined {
  const { media } = object;
  const choice = chooseAnswer(accept, media?.types ?? []);
  if (choice.kind === 'record') return undefined;
  if (choice.kind === 'file' && media !== undefined) return { media, accept: choice.type };
  const types = ['application/json', ...(media?.types ?? [])];
  const message = `A record of '${objectName}' is answered as ${types.map(nameType).join(' or ')}; the Accept header asks for '${accept}'.`;
  throw new AppError('NOT_ACCEPTABLE', message, { details: [{ path: '/headers/accept', message, expected: types }] });
}

function nameType(type: string): string {
  return type === '*' ? 'any other type' : type;
}

export async function fetchFile(call: InstanceCall, { media, accept }: FileRequest, id: string): Promise<RecordFile> {
  const request = media.request({ id, accept }, call.instance.config);
  const { bytes, headers } = await call.sendForFile({ ...request, headers: { accept, ...request.headers } });
  return {
    bytes,
    contentType: headers['content-type'],
    contentDisposition: headers['content-disposition'],
    ...call.report(),
  };
}
