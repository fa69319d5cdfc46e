import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Width from which the section stands beside others instead of above them. */
const WIDE = '(min-width: 70rem)';

interface FoldableProps {
  readonly title: string;
  /** A short summary that is also visible while the section is folded. */
  readonly gist?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section that can be folded. It is open at the beginning if the window is wide enough. */
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
