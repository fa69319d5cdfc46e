import type { RecordsApi } from '../apis/index.js';
import type { DeletedRecord, QueryMode } from '../models/index.js';
import type { ApiResponse, InitOverrideFunction } from '../runtime.js';
import { allOf, type Page, pageOf } from './pages.js';
import type { Where } from './where.js';

/** What a list of records is asked for. */
export interface RecordQuery {
  readonly where?: Where | string;
  /** All of them unless given. */
  readonly fields?: readonly string[];
  /** `lastName asc, hireDate desc` */
  readonly orderBy?: string;
  /** Rows of one page, 1 to 5000. Default: 200. */
  readonly pageSize?: number;
  /** How many calls to the provider one page may take. Default: 25. */
  readonly maxProviderCalls?: number;
  /** `pushdown-only` refuses what the provider cannot answer alone. */
  readonly mode?: QueryMode;
}

/** What is true of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The records of one object. */
export class Records<Row extends object> {
  readonly #api: RecordsApi;
  readonly #objectName: string;

  constructor(api: RecordsApi, objectName: string) {
    this.#api = api;
    this.#objectName = objectName;
  }

  /** Every record that matches, page by page as they are asked for. */
  all(query: RecordQuery = {}, options: CallOptions = {}): AsyncGenerator<Row, void> {
    return allOf((page) => this.#list({ ...query, ...page }, options));
  }

  /** One page. */
  async list(query: RecordQuery & { readonly nextPage?: string } = {}, options: CallOptions = {}): Promise<Page<Row>> {
    return pageOf(await this.#list(query, options));
  }

  /** The records below one of these, such as the comments of an incident. */
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

  /** @throws NotFoundError */
  get(objectId: string | number, options: CallOptions = {}): Promise<Row> {
    return this.#api.getRecord(this.#at(objectId), options) as Promise<Row>;
  }

  /** @returns the record as it was stored */
  create(record: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    const request = { objectName: this.#objectName, requestBody: record };
    return this.#api.createRecord(request, options) as Promise<Row>;
  }

  /** Changes the fields that are given. @returns the record as it was stored */
  update(objectId: string | number, changes: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    return this.#api.updateRecord({ ...this.#at(objectId), requestBody: changes }, options) as Promise<Row>;
  }

  /** Makes the record what is given. @returns the record as it was stored */
  replace(objectId: string | number, record: Partial<Row>, options: CallOptions = {}): Promise<Row> {
    return this.#api.replaceRecord({ ...this.#at(objectId), requestBody: record }, options) as Promise<Row>;
  }

  /** The file of a record, as one of the media types that it is there in, such as `application/pdf`. */
  async file(objectId: string | number, mediaType: string, options: CallOptions = {}): Promise<Response> {
    const { raw } = await this.#api.getRecordRaw(this.#at(objectId), async ({ init }) => ({
      ...options,
      headers: { ...init.headers, Accept: mediaType },
    }));
    return raw;
  }

  /** Creates a record that is a file. A `File` brings its name. @returns the record as it was stored */
  async createFile(fields: Partial<Row>, file: Blob, options: CallOptions = {}): Promise<Row> {
    const request = { objectName: this.#objectName, requestBody: fields };
    return (await this.#api.createRecordRaw(request, formOf(fields, file, options))).value() as Promise<Row>;
  }

  /** Makes the file a new version of the record's. @returns the record as it was stored */
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

  /** What the provider has is what the caller says that it has: nothing is known of a record when this is compiled. */
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

/** The same request with a form for its body: the fields in one part, then the file. Its content type comes with it. */
function formOf(fields: object, file: Blob, options: CallOptions): InitOverrideFunction {
  return async ({ init }) => {
    const body = new FormData();
    body.append('metadata', JSON.stringify(fields));
    body.append('file', file);
    const { 'Content-Type': _, ...headers } = init.headers ?? {};
    return { ...options, body, headers };
  };
}
