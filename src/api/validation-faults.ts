import type { Request } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import {
  cutText,
  type ErrorDetail,
  escapeName,
  inWords,
  MOST_FAULTS,
  redactPointer,
  segmentsOf,
  summarise,
  unknownName,
} from '../errors.ts';
import type { Redactor } from '../redaction.ts';
import { parametersOf } from './validation.ts';

interface ValidationFault {
  readonly status: number | undefined;
  readonly message: string;
  /** The faults, but not all of them if there are more than are reported. */
  readonly faults: readonly ErrorDetail[];
}

/** Converts an error of the validator or of Express to the service's own texts. */
export function readFault(thrown: unknown, request: Request, redact: Redactor['redact']): ValidationFault {
  const { status, message, errors } = Object(thrown);
  const found: readonly unknown[] = Array.isArray(errors) ? errors : [];
  return {
    status: typeof status === 'number' ? status : undefined,
    message: String(message ?? ''),
    faults: found.slice(0, MOST_FAULTS + 1).map((fault) => toDetail(Object(fault), request, redact)),
  };
}

interface ValidatorError {
  readonly path?: unknown;
  readonly message?: unknown;
  /** The JSON Schema keyword with a suffix: `required.openapi.validation`. */
  readonly errorCode?: unknown;
}

/** Texts in place of the validator's, which do not fit after the path of the value. */
const WORDS: Readonly<Record<string, string>> = { required: 'is missing' };

/** The validator writes `/body/name`, and `/params/id` for what is in the path. */
function toDetail(
  { path, message, errorCode }: ValidatorError,
  request: Request,
  redact: Redactor['redact'],
): ErrorDetail {
  const [keyword = ''] = String(errorCode).split('.');
  const text = WORDS[keyword] ?? cutNames(String(message ?? ''));
  const isUnknownParameter = text.startsWith('Unknown query parameter ');
  const namesUnknown = isUnknownParameter || keyword === 'additionalProperties';
  const pointed = namesUnknown ? escapeEnd(String(path ?? ''), request) : String(path ?? '');
  const pointer = redactPointer(pointed, redact).replace(/^\/params(?=\/|$)/, '/path');
  const name = segmentsOf(pointer).at(-1) ?? '';
  if (isUnknownParameter) return { path: pointer, ...unknownParameter(request.res?.locals.sought, name) };
  return { path: pointer, ...(namesUnknown ? unknownName('member', name, []) : { message: text }) };
}

/** The validator escapes the names that lead to a name which is not known, and not that name itself. It is not cut here: secrets are looked for first. */
function escapeEnd(path: string, { body, query }: Request): string {
  let holder: unknown = { body, query };
  let at = 1;
  while (!Object.hasOwn(Object(holder), path.slice(at))) {
    const end = path.indexOf('/', at);
    const [name = ''] = segmentsOf(path.slice(at - 1, end));
    if (end < 0 || !Object.hasOwn(Object(holder), name)) return path;
    holder = Reflect.get(Object(holder), name);
    at = end + 1;
  }
  return path.slice(0, at) + escapeName(path.slice(at));
}

function cutNames(message: string): string {
  return message.replace(/'([^']*)'/g, (_, name: string) => `'${cutText(name)}'`);
}

export function sentence({ faults, message }: ValidationFault): string {
  const [first, ...others] = faults;
  if (first === undefined) return message;
  // Some of the validator's messages are sentences of their own.
  const subject = /^[A-Z]/.test(first.message) ? '' : `${inWords(first.path ?? '')} `;
  return summarise([{ message: subject + first.message + (/[.?]$/.test(first.message) ? '' : '.') }, ...others]);
}

/** The names of our parameters in other APIs, in lower case. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  limit: 'pageSize',
  size: 'pageSize',
  count: 'pageSize',
  per_page: 'pageSize',
  page_size: 'pageSize',
  max_results: 'pageSize',
  top: 'pageSize',
  $top: 'pageSize',
  cursor: 'nextPage',
  page_token: 'nextPage',
  pagetoken: 'nextPage',
  nextpagetoken: 'nextPage',
  sort: 'orderBy',
  sort_by: 'orderBy',
  sortby: 'orderBy',
  order: 'orderBy',
  order_by: 'orderBy',
  $orderby: 'orderBy',
  select: 'fields',
  $select: 'fields',
  filter: 'where',
  $filter: 'where',
};

/** The fault of a query parameter that the operation does not accept. */
function unknownParameter(id: OperationId | undefined, name: string): Pick<ErrorDetail, 'message' | 'nearest'> {
  const parameters = id === undefined ? [] : parametersOf(id);
  const known = parameters.filter((one) => one.in === 'query').map((one) => one.name);
  const synonym = Object.hasOwn(ELSEWHERE, name.toLowerCase()) ? ELSEWHERE[name.toLowerCase()] : undefined;
  if (synonym === undefined || !known.includes(synonym)) return unknownName('query parameter', name, known);
  const { message } = unknownName('query parameter', name, []);
  return { message: `${message} Did you mean '${synonym}'?`, nearest: synonym };
}
