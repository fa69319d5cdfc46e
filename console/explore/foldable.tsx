import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Where it stands beside others and not above them. */
const WIDE = '(min-width: 70rem)';

interface FoldableProps {
  readonly title: string;
  /** A summary that is also visible while it is folded. */
  readonly gist?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Open from the beginning where there is room for it. */
export function Foldable({ title, gist, children }: FoldableProps) {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  return (
    <details class="card fold" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
        {!isOpen && gist}
      </summary>
      {isOpen && children}
    </details>
  );
}
