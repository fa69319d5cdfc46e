import { type Inputs, inputs, json, list, path, plainText, type Value } from '#connector';

export const ORIGIN = 'https://api.twilio.com';

/**
 * Returns the bounds of a time. The operator is part of the parameter's name, as in `DateSent>=2026-01-31`, which is a bound of that day.
 */
export const between = (parameter: string) => ({ from: `${parameter}>`, to: `${parameter}<` });

/** Returns a translator for parameters. Twilio compares times by their day in UTC. */
export const byInputs = (table: Parameters<typeof inputs>[0]) => inputs(table, ',', { text: printDay });

function printDay(value: Value): string {
  return value.kind === 'datetime' ? value.text.slice(0, 10) : plainText(value);
}

/**
 * Returns the list operation of the account's resources, or of those below one of its `parent` resources. The name in lower case is the
 * member that contains the rows.
 */
export const listOf = (name: string, parent = '') =>
  list<Inputs>({
    request: ({ filter = {}, parameters: { includeDeleted }, page, parentId }) => ({
      path: parentId === undefined ? `/${name}.json` : path`/${parent}/${parentId}/${name}.json`,
      query: {
        ...throughLastDay(filter),
        ...(includeDeleted?.kind === 'boolean' && { IncludeSoftDeleted: includeDeleted.value }),
        ...page,
      },
    }),
    rows: (body) => json.array(json.at(body, name.toLowerCase()), `the ${name.toLowerCase()}`),
    paging: {
      kind: 'link',
      size: 'PageSize',
      max: 1000,
      next: ({ body }) => {
        const uri = json.findText(json.at(body, 'next_page_uri'));
        return uri && new URL(uri, ORIGIN).href;
      },
    },
  });

/**
 * Moves upper bounds to the next day. Twilio's documents contradict each other on whether an upper bound includes its day. The next day as
 * the bound includes it in any case.
 */
function throughLastDay(filter: Inputs): Inputs {
  const asked = Object.entries(filter).map(([name, text]) =>
    name.endsWith('<') ? [name, dayAfter(String(text))] : [name, text],
  );
  return Object.fromEntries(asked);
}

const DAY_MS = 24 * 60 * 60 * 1000;

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}
