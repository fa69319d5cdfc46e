import type { AddressQuery } from './query.ts';

const NAME = 'console';

/** Returns the parameter that leaves out the requests that the console sends to show its own pages, unless the address includes them. */
export function consoleReadsOf(query: AddressQuery['query']): { readonly consoleReads: boolean } {
  return { consoleReads: query[NAME] !== undefined };
}

/** A switch that includes the requests of the console itself. */
export function ConsoleReadsSwitch({ query, change }: AddressQuery) {
  return (
    <label class="inline" title="GET requests of this console that called no provider">
      <input
        type="checkbox"
        checked={consoleReadsOf(query).consoleReads}
        onChange={({ currentTarget }) => change({ [NAME]: currentTarget.checked ? '1' : undefined })}
      />
      Include the console's own reads
    </label>
  );
}
