import { Badge, type Tone } from '../parts/badge.tsx';

/** Shows an HTTP status as a number with a colour. */
export function Status({ status }: { readonly status: number }) {
  return <Badge tone={toneOf(status)}>{status}</Badge>;
}

export function toneOf(status: number | undefined): Tone {
  if (status === undefined || status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  return status >= 300 ? 'quiet' : 'good';
}
