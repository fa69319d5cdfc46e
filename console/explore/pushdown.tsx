import { Badge, type Tone } from '../parts/badge.tsx';

const TONES = new Map<string, Tone>([
  ['full', 'good'],
  ['partial', 'warn'],
]);

/** Shows how much of the filter is pushed. */
export function Pushdown({ pushdown }: { readonly pushdown: string }) {
  return (
    <Badge
      tone={TONES.get(pushdown) ?? 'quiet'}
      title="How much of the filter the provider evaluates. Causeway checks the rest."
    >
      pushdown: {pushdown}
    </Badge>
  );
}
