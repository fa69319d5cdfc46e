// The generated part names types of browsers, which a program for Node.js alone need not know.
/// <reference lib="dom" preserve="true" />
export * from '../apis/index.js';
export * from '../models/index.js';
export type { ApiResponse } from '../runtime.js';
export {
  BulkDownload,
  BulkDownloads,
  BulkJobError,
  type BulkRequest,
  BulkUpload,
  type FileOptions,
  type WaitOptions,
} from './bulk.js';
export { Causeway, type CausewayOptions } from './client.js';
export {
  ApiError,
  type ApiErrorCode,
  CausewayError,
  NetworkError,
  NotFoundError,
  ProviderError,
  RateLimitedError,
  SignatureError,
  TimeoutError,
  WhereError,
} from './errors.js';
export { type CausewayEvent, type EventData, type EventHeaders, verifyElementsEvent, verifyEvent } from './events.js';
export { type ExecutionWaitOptions, FormulaExecutions } from './formula-executions.js';
export type { ObjectRecord } from './object-record.js';
export type { ListPage, Page } from './pages.js';
export { type CallOptions, type RecordQuery, Records } from './records.js';
export { escapeLike, Where, type WhereValue, where } from './where.js';
