import type { AddressQuery } from './query.ts';

const NAME = 'console';

/** For the API: what the console reads to show itself is left out unless the address says otherwise. */
export function consoleReadsOf(query: AddressQuery['query']): { readonly consoleReads: boolean } {
  return { consoleReads: query[NAME] !== undefined };
}

/** The switch that shows them. */
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
