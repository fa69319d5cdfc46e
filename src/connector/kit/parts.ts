import type { Fields, ListOperation, ObjectSpec, ProviderRequest } from '../contract.ts';
import { defineObject, notFound } from '../define.ts';
import { can } from './can.ts';
import { type Inputs, inputs } from './inputs.ts';
import { type Json, json } from './json.ts';
import { type ListQuery, list } from './list.ts';
import type { LinkPaging, Paging } from './paging.ts';

/** A description of records that the provider finds by the record that they belong to and their own id, such as comments of an issue. */
export interface PartsOptions {
  readonly about: Pick<ObjectSpec, 'label' | 'description' | 'aliases'>;
  /** The field with the id of the whole record, such as `issueId`. A list needs it, or the path of the whole record. */
  readonly whole: { readonly field: string; readonly label: string };
  /**
   * The id of a part: the id of the whole record, the separator, and the part's own id, which has the pattern `own`. The last separator
   * counts.
   */
  readonly id: { readonly separator: string; readonly own?: RegExp };
  /** The fields of a part, without its ids. */
  readonly fields: Fields;
  /** The bounds of a list, as for `inputs`. */
  readonly filters?: Parameters<typeof inputs>[0];
  /** Returns the path of the parts of a record, or of one of them. */
  readonly path: (whole: string, own?: string) => string;
  /** Returns the parameters of a list. Default: those of the page. */
  readonly listQuery?: (query: Pick<ListQuery<Inputs>, 'page' | 'filter'>) => NonNullable<ProviderRequest['query']>;
  /** The parameters of requests that return one part, and of those that return none. */
  readonly query?: ProviderRequest['query'];
  readonly removeQuery?: ProviderRequest['query'];
  /** The member of a list with its rows. */
  readonly rows: string;
  readonly paging: Exclude<Paging, LinkPaging>;
  /** The method of a change. */
  readonly change: 'PUT' | 'PATCH';
}

/** Returns an object whose records are parts of another record, with all operations. Their id holds the id of that record and their own. */
export function parts(options: PartsOptions): ObjectSpec {
  const { about, whole, fields, filters, path: pathOf, listQuery, query, removeQuery, rows, paging, change } = options;
  const { separator, own: form = /^.+$/s } = options.id;
  const divide = (id: string): readonly [whole: string, own: string] => {
    const end = id.lastIndexOf(separator);
    const own = id.slice(end + separator.length);
    if (end > 0 && form.test(own)) return [id.slice(0, end), own];
    throw notFound(`There is no such record: its id is \`<${whole.field}>${separator}<id>\`.`);
  };
  const pathTo = (id: string) => pathOf(...divide(id));
  const record = (part: unknown, wholeId: string): Json => {
    const native = json.object(part, 'a record');
    return { ...native, [whole.field]: wholeId, id: wholeId + separator + json.text(native.id, 'the id') };
  };
  const wholeIn = ({ filter, parentId }: Pick<ListQuery<Inputs>, 'filter' | 'parentId'>) =>
    parentId ?? String(filter?.[whole.field] ?? '');
  const pages = list<Inputs>({
    request: (input) => ({
      path: pathOf(wholeIn(input)),
      query: listQuery?.(input) ?? input.page,
    }),
    rows: (body) => json.array(json.at(body, rows), `the list '${rows}'`),
    paging,
  });
  return defineObject<Inputs>({
    ...about,
    fields: {
      id: { type: 'string', nullable: false },
      [whole.field]: {
        type: 'string',
        nullable: false,
        required: true,
        createable: true,
        label: whole.label,
        filter: can.only('exact', '='),
      },
      ...fields,
    },
    translator: inputs({ [whole.field]: whole.field, ...filters }),
    requiredFilters: [whole.field],
    list: {
      ...pages,
      read: (response, input) => {
        const page = pages.read(response, input);
        return { ...page, records: page.records.map((part) => record(part, wholeIn(input))) };
      },
    } satisfies ListOperation<Inputs>,
    get: {
      request: ({ id }) => ({ path: pathTo(id), query }),
      read: ({ body }, { id }) => record(body, divide(id)[0]),
    },
    create: {
      request: ({ values: { [whole.field]: wholeId, ...values } }) => ({
        method: 'POST',
        path: pathOf(String(wholeId)),
        query,
        json: values,
      }),
      read: ({ body }, { values }) => record(body, String(values[whole.field])),
    },
    update: {
      request: ({ id, values }) => ({ method: change, path: pathTo(id), query, json: values }),
      read: ({ body }, { id }) => record(body, divide(id)[0]),
    },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: pathTo(id), query: removeQuery }),
      read: () => undefined,
    },
  });
}
