import { useState } from 'preact/hooks';
import { Empty } from '../parts/show.tsx';
import type { OfferedElement } from './session.ts';
import { texts } from './texts.ts';
import { Title } from './words.tsx';

/** Minimum number of elements from which there is a search. Users find one among fewer without it. */
const LEAST_TO_SEARCH = 7;

interface ChooseProps {
  readonly elements: readonly OfferedElement[];
  readonly linkOf: (element: OfferedElement) => string;
}

/** Lists the providers that the user can choose. */
export function Choose({ elements, linkOf }: ChooseProps) {
  const [words, setWords] = useState('');
  const found = elements.filter((element) => matches(element, words));
  return (
    <>
      <header>
        <Title text={texts.choose.title} />
        <p class="soft">{elements.length === 0 ? texts.choose.empty : texts.choose.words}</p>
      </header>
      {elements.length >= LEAST_TO_SEARCH && (
        <input
          type="search"
          dir="auto"
          aria-label={texts.choose.search}
          placeholder={texts.choose.search}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      {found.length === 0 && words !== '' && <Empty title={texts.choose.none(words)} />}
      <ul class="choices bare">
        {found.map((element) => (
          <li key={element.key}>
            <a href={linkOf(element)}>
              <Mark element={element} />
              <span class="lines">
                <span class="strong">
                  <bdi>{element.name}</bdi>
                </span>
                <span class="small soft">
                  <bdi lang="en">{element.description}</bdi>
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows the picture of a provider, beside its name. */
export function Mark({ element: { image } }: { readonly element: Pick<OfferedElement, 'image'> }) {
  return <img class="mark" src={image.startsWith('data:image/') ? image : ''} alt="" />;
}

/** Returns whether each word occurs in the key, the name, the hub or the description of an element. */
function matches({ key, name, hub, description }: OfferedElement, words: string): boolean {
  const known = `${name} ${key} ${hub} ${description}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => known.includes(word));
}
