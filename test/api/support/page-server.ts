import { type Behaviour, json } from '../../support/misbehaving-server.ts';

/** Pages of ten rows: `cursor` is the number of the first row of a page. */
export function pagesOf(rows: readonly unknown[], pageSize = 10): Behaviour {
  return (response, request) => {
    const start = Number(new URL(request.url ?? '', 'http://provider').searchParams.get('cursor') ?? 0);
    const end = start + pageSize;
    const next = end < rows.length ? { next: String(end) } : {};
    json({ records: rows.slice(start, end), ...next })(response, request);
  };
}
