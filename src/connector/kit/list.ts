import type { Config, ListInput, ListOperation, ProviderRequest } from '../contract.ts';
import { createPager, type Paging } from './paging.ts';

export interface ListOptions<Native> {
  readonly request: (query: ListQuery<Native>, config: Config) => ProviderRequest;
  /** @throws Error when the body has no rows, see `json` */
  readonly rows: (body: unknown) => readonly unknown[];
  readonly paging: Paging;
  readonly order?: Order;
  readonly readRecord?: ListOperation<Native>['readRecord'];
}

export interface Order {
  readonly term: (native: string, direction: 'asc' | 'desc') => string;
  /** Between terms. Default `,`. */
  readonly join?: string;
  /** The native id: it ends every order, as pages must neither overlap nor leave gaps. */
  readonly id?: string;
}

export interface ListQuery<Native> extends ListInput<Native> {
  /** Of the fields, each once. */
  readonly natives: readonly string[];
  /** What the paging asks for the page with. */
  readonly page: Readonly<Record<string, string | number>>;
  /** Absent when there is nothing to order by. */
  readonly order?: string;
}

/** Its two halves, so that a `run` can be made of them. */
type PureList<Native> = Extract<ListOperation<Native>, { readonly request: unknown }>;

/** The list operation of a provider with one of five families of paging. */
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
    maxPageSize,
    ...(cursorAt !== undefined && { cursorAt }),
    ...(pagesAtOnce !== undefined && { pagesAtOnce }),
    ...(readRecord !== undefined && { readRecord }),
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
    natives: [...new Set(input.fields.map(({ native }) => native))],
    page,
    ...(terms.length > 0 && { order: terms.join(order?.join ?? ',') }),
  };
}

function orderTerms({ term, id }: Order, { orderBy }: Pick<ListInput<unknown>, 'orderBy'>): readonly string[] {
  const asked = orderBy.map(({ field, direction }) => [field.native, direction] as const);
  const isComplete = id === undefined || asked.some(([native]) => native === id);
  return [...asked, ...(isComplete ? [] : [[id, 'asc'] as const])].map(([native, direction]) =>
    term(native, direction),
  );
}
