import type { ComponentChildren } from 'preact';

/** How something is: by its words, and by a colour for those who see one. */
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
