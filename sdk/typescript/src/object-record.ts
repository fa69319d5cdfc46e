/** A record of a provider: its fields, as the metadata of its object names them. */
// biome-ignore lint/suspicious/noExplicitAny: what a field is, is told at run time only; callers who know give a type of their own.
export type ObjectRecord = Record<string, any>;
