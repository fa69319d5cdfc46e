import type { RecordsApi } from '../apis/index.js';
import type { DeletedRecord, QueryMode } from '../models/index.js';
import type { ApiResponse, InitOverrideFunction } from '../runtime.js';
import { allOf, type Page, pageOf } from './pages.js';
import type { Where } from './where.js';

/** The query of a list of records. */
export interface RecordQuery {
  readonly where?: Where | string;
  /** Fields to return. Default: all. */
  readonly fields?: readonly string[];
  /** Fields to sort by, such as `lastName asc, hireDate desc`. */
  readonly orderBy?: string;
  /** Number of rows per page, 1 to 5000. Default: 200. */
  readonly pageSize?: number;
  /** Maximum number of calls to the provider per page. Default: 25. */
  readonly maxProviderCalls?: number;
  /** `pushdown-only` rejects a query that the provider cannot evaluate completely. */
  readonly mode?: QueryMode;
}

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Reads and writes the records of one object. */
export class Records<Row extends object> {
  readonly #api: RecordsApi;
  readonly #objectName: string;

  constructor(api: RecordsApi, objectName: string) {
    this.#api = api;
    this.#objectName = objectName;
  }

  /** Iterates over all matching records. Each page is requested when the iteration reaches it. */
  all(query: RecordQuery = {}, options: CallOptions = {}): AsyncGenerator<Row, void> {
    return allOf((page) => this.#list({ ...query, ...page }, options));
  }

  /** Returns one page. */
  async list(query: RecordQuery & { readonly nextPage?: string } = {}, options: CallOptions = {}): Promise<Page<Row>> {
    return pageOf(await this.#list(query, options));
  }

  /** Iterates over the child records of a record, such as the comments of an incident. */
  children<Child extends object = Row>(
    objectId: string | number,
    childObjectName: string,
    query: RecordQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Child, void> {
    const below = { objectName: this.#objectName, objectId: String(objectId), childObjectName };
    return allOf(
      (page) =>
        this.#api.listChildRecordsRaw({ ...below, ...parametersOf(query), ...page }, options) as Promise<
          ApiResponse<Child[]>
        >,
    );
  }

  /**
   * Returns one record.
   * @throws NotFoundError
   */
  get(objectId: string | number, options: CallOptions = {}): Promise<Row> {
    return this.#api.getRecord(this.#at(objectId), options) as Promise<Row>;
  }

  /**
   * Creates a record.
   * @returns the record as stored
   */
  create(record: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    const request = { objectName: this.#objectName, requestBody: record };
    return this.#api.createRecord(request, options) as Promise<Row>;
  }

  /**
   * Changes the given fields.
   * @returns the record as stored
   */
  update(objectId: string | number, changes: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    return this.#api.updateRecord({ ...this.#at(objectId), requestBody: changes }, options) as Promise<Row>;
  }

  /**
   * Replaces the record by the given one.
   * @returns the record as stored
   */
  replace(objectId: string | number, record: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    return this.#api.replaceRecord({ ...this.#at(objectId), requestBody: record }, options) as Promise<Row>;
  }

  /** Returns the file of a record in one of its media types, such as `application/pdf`. */
  async file(objectId: string | number, mediaType: string, options: CallOptions = {}): Promise<Response> {
    const { raw } = await this.#api.getRecordRaw(this.#at(objectId), async ({ init }) => ({
      ...options,
      headers: { ...init.headers, Accept: mediaType },
    }));
    return raw;
  }

  /**
   * Creates a record that is a file. The name of a `File` is sent with it.
   * @returns the record as stored
   */
  async createFile(fields: Partial<Row>, file: Blob, options: CallOptions = {}): Promise<Row> {
    const request = { objectName: this.#objectName, requestBody: fields };
    return (await this.#api.createRecordRaw(request, formOf(fields, file, options))).value() as Promise<Row>;
  }

  /**
   * Stores a new version of a record's file.
   * @returns the record as stored
   */
  async replaceFile(
    objectId: string | number,
    fields: Partial<Row>,
    file: Blob,
    options: CallOptions = {},
  ): Promise<Row> {
    const request = { ...this.#at(objectId), requestBody: fields };
    return (await this.#api.replaceRecordRaw(request, formOf(fields, file, options))).value() as Promise<Row>;
  }

  delete(objectId: string | number, options: CallOptions = {}): Promise<DeletedRecord> {
    return this.#api.deleteRecord(this.#at(objectId), options);
  }

  /** Casts a record to the type that the caller declares, because the fields are not known at compile time. */
  #list(query: RecordQuery & { readonly nextPage?: string }, options: CallOptions): Promise<ApiResponse<Row[]>> {
    const { nextPage } = query;
    const request = {
      objectName: this.#objectName,
      ...parametersOf(query),
      ...(nextPage !== undefined && { nextPage }),
    };
    return this.#api.listRecordsRaw(request, options) as Promise<ApiResponse<Row[]>>;
  }

  #at(objectId: string | number) {
    return { objectName: this.#objectName, objectId: String(objectId) };
  }
}

function parametersOf({ where, fields, orderBy, pageSize, maxProviderCalls, mode }: RecordQuery) {
  return {
    where: where?.toString(),
    fields: fields?.join(','),
    orderBy,
    pageSize,
    elementsMaxProviderCalls: maxProviderCalls,
    elementsQueryMode: mode,
  };
}

/** Returns the same request with a form as its body: the fields in one part, then the file. The form sets its own content type. */
function formOf(fields: object, file: Blob, options: CallOptions): InitOverrideFunction {
  return async ({ init }) => {
    const body = new FormData();
    body.append('metadata', JSON.stringify(fields));
    body.append('file', file);
    const { 'Content-Type': _, ...headers } = init.headers ?? {};
    return { ...options, body, headers };
  };
}
