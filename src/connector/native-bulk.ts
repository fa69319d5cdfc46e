import type { Config, ListInput, Operation, ProviderRequest } from './contract.ts';

/**
 * What a provider does with many records at a time by itself: a job of its own, which is started, asked for its state until it is done, and
 * read page by page. All of it is data and requests: the core does the doing, and falls back on the pages of `list` where the job does not fit.
 */
export interface NativeBulk<Native = unknown> {
  readonly query?: NativeQuery<Native>;
}

/** The names of members, one in the other, that lead to a value of an answer of JSON. */
export type Place = readonly string[];

/** Where a value of an answer stands. */
export type Found = { readonly header: string } | { readonly member: Place };

/** A job of the provider, whatever it does. */
export interface NativeJob {
  /** Where the answer to its start has its id. */
  readonly id: Place;
  /** Asks for its state. */
  readonly status: (id: string, config: Config) => ProviderRequest;
  /** Where the answer to `status` has the state. */
  readonly state: Place;
  /** What each state means. One that is not named is an answer that nobody understands. */
  readonly states: NativeStates;
  /** Where the answer to `status` says why it failed. */
  readonly message?: Place;
  /** Sent when nobody wants its rows any more, and it may still be at work. */
  readonly abort?: (id: string, config: Config) => ProviderRequest;
  /** Sent at its end, however it ended, so that the provider keeps nothing. */
  readonly remove?: (id: string, config: Config) => ProviderRequest;
}

export interface NativeStates {
  readonly running: readonly string[];
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/**
 * A job that finds the rows of a query. It is used for a query that the provider takes as one, in no order and without a limit; what is
 * pushed as a superset is checked again, as in a list.
 */
export interface NativeQuery<Native = unknown> extends NativeJob {
  /** From so many rows on. Below, the pages of `list` are cheaper. */
  readonly fromRows: number;
  /** How many rows the query has, by one cheap call. Where it fails, the pages of `list` are read. */
  readonly count: Operation<ListInput<Native>, number>;
  /** The input has neither order nor cursor; its limit means nothing. */
  readonly start: (input: ListInput<Native>, config: Config) => ProviderRequest;
  /** Types (`FieldSpec.nativeType`) whose values it does not answer, or not as the list does. */
  readonly withoutTypes?: readonly string[];
  readonly pages: NativePages;
}

/** How the rows of a job that is done are read. */
export interface NativePages {
  /**
   * `csv`: a row of native names, then texts, which become what JSON would have by the types of the fields: no text is null. Fields of the
   * type `object` are not fetched. `json`: native records, as `list` has them.
   */
  readonly format: 'csv' | 'json';
  /** Rows of a page at most. An answer has 32 MB at most. */
  readonly size: number;
  readonly request: (place: NativePlace, config: Config) => ProviderRequest;
  /** Of `json`: where the records are. */
  readonly rows?: Place;
  /** Where an answer says how to go on; it comes back as `cursor`. Nothing, null and empty text mean the end. */
  readonly next: Found;
  /** More texts that mean the end, such as `null`. */
  readonly end?: readonly string[];
  /** Where an answer says how many rows it has: one with another number of them was cut off. */
  readonly rowCount?: Found;
}

export interface NativePlace {
  /** Of the job. */
  readonly id: string;
  /** What the page before said; absent for the first. */
  readonly cursor?: string;
  /** Rows wanted. */
  readonly limit: number;
}
