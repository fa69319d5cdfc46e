import { Mark } from './choose.tsx';
import type { OfferedElement } from './session.ts';
import { texts } from './texts.ts';
import { Title } from './words.tsx';

interface HeadingProps {
  readonly element: OfferedElement;
  readonly title: string;
  /** Address at which the user chooses another provider. Undefined if there is no other. */
  readonly otherLink: string | undefined;
}

/** Shows the chosen provider, and the link to the choice of another one. */
export function Heading({ element, title, otherLink }: HeadingProps) {
  return (
    <header class="stack tight">
      {otherLink !== undefined && (
        <a class="back" href={otherLink}>
          {texts.form.other}
        </a>
      )}
      <div class="row beside">
        <Mark element={element} />
        <Title text={title} />
      </div>
    </header>
  );
}
