import type { ComponentChildren } from 'preact';

/** A name and what it is, in a `<dl class="facts">`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
