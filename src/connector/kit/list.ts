import type { Config, ListInput, ListOperation, ProviderRequest } from '../contract.ts';
import { defined } from './kinds.ts';
import { createPager, type Paging } from './paging.ts';

/** A description of a provider's list of rows. */
export interface ListOptions<Native> {
  /** Returns the request of a page, made from the filter, the order and the paging parameters. */
  readonly request: (query: ListQuery<Native>, config: Config) => ProviderRequest;
  /**
   * Returns the rows in the body of a response.
   * @throws Error when the body has no rows, see `json`
   */
  readonly rows: (body: unknown) => readonly unknown[];
  /** The paging of the provider. */
  readonly paging: Paging;
  /** The provider's notation of an order. Without it, lists cannot be sorted by the provider. */
  readonly order?: Order;
  /** Turns a row into a native record, see `ListOperation.readRecord`. */
  readonly readRecord?: ListOperation<Native>['readRecord'];
}

/** A provider's notation of an order. */
export interface Order {
  /** Returns one term of the order. */
  readonly term: (native: string, direction: 'asc' | 'desc') => string;
  /** The text between terms. Default `,`. */
  readonly join?: string;
  /** The native id field. It ends every order, because pages must neither overlap nor leave gaps. */
  readonly id?: string;
}

/** The input of a list with the parts of its request that the kit prepares. */
export interface ListQuery<Native> extends ListInput<Native> {
  /** The native names of the fields, each once. */
  readonly natives: readonly string[];
  /** The paging parameters of the page. */
  readonly page: Readonly<Record<string, string | number>>;
  /** The order as the provider writes it. It is absent when there is none. */
  readonly order?: string;
}

/** A list operation that has both halves, so that a `run` can use them. */
type PureList<Native> = Extract<ListOperation<Native>, { readonly request: unknown }>;

/** Returns the list operation of a provider whose paging is one of five kinds. */
export function list<Native>(options: ListOptions<Native>): PureList<Native> {
  const { paging, rows, readRecord } = options;
  const { parameters, end, maxPageSize, cursorAt, pagesAtOnce } = createPager(paging);
  const build = (input: ListInput<Native>, config: Config): ProviderRequest =>
    paging.kind === 'link' && input.cursor !== undefined
      ? { url: input.cursor, ...paging.follow?.(input) }
      : options.request(toQuery(options, input, parameters(input)), config);
  // An input that is frozen comes again with each request for the same page.
  const built = new WeakMap<ListInput<Native>, { readonly config: Config; readonly request: ProviderRequest }>();
  return {
    request: (input, config) => {
      const known = built.get(input);
      if (known?.config === config) return known.request;
      const request = build(input, config);
      if (Object.isFrozen(input)) built.set(input, { config, request: Object.freeze(request) });
      return request;
    },
    read: (response, input) => end(input, { rows: rows(response.body), response }),
    ...defined({ maxPageSize, cursorAt, pagesAtOnce, readRecord }),
  };
}

function toQuery<Native>(
  { order }: ListOptions<Native>,
  input: ListInput<Native>,
  page: ListQuery<Native>['page'],
): ListQuery<Native> {
  const terms = order === undefined ? [] : orderTerms(order, input);
  return {
    ...input,
    natives: nativesOf(input),
    page,
    ...(terms.length > 0 && { order: terms.join(order?.join ?? ',') }),
  };
}

/** Returns the native names of the fields that a request needs, each once. Two fields may have the same native name. */
export function nativesOf({ fields }: { readonly fields: readonly { readonly native: string }[] }): readonly string[] {
  return [...new Set(fields.map(({ native }) => native))];
}

function orderTerms({ term, id }: Order, { orderBy }: Pick<ListInput<unknown>, 'orderBy'>): readonly string[] {
  const asked = orderBy.map(({ field, direction }) => [field.native, direction] as const);
  const isComplete = id === undefined || asked.some(([native]) => native === id);
  return [...asked, ...(isComplete ? [] : [[id, 'asc'] as const])].map(([native, direction]) =>
    term(native, direction),
  );
}
