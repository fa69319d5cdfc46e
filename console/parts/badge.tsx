import type { ComponentChildren } from 'preact';

/** The tone of a state, which determines its colour. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'busy';

export function Badge({
  tone,
  children,
  title,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
  readonly title?: string;
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
