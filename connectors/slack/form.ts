import { json, type ProviderResponse } from '#connector';

/** Returns values as a form has them. */
export function form(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value == null ? [] : [[name, String(value)]])),
  );
}

/** Returns the cursor of the next page, which is empty on the last one. */
export function nextCursor({ body }: ProviderResponse): unknown {
  return json.at(body, 'response_metadata', 'next_cursor');
}
