import { GERMAN } from './languages/de.ts';
import { ENGLISH, type Texts } from './languages/en.ts';
import { SPANISH } from './languages/es.ts';
import { FRENCH } from './languages/fr.ts';

interface Language {
  readonly direction: 'ltr' | 'rtl';
  readonly texts: Texts;
}

/** The languages by their tags. `de` also serves a request for `de-CH`. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  en: { direction: 'ltr', texts: ENGLISH },
  de: { direction: 'ltr', texts: GERMAN },
  fr: { direction: 'ltr', texts: FRENCH },
  es: { direction: 'ltr', texts: SPANISH },
};

/**
 * Returns the first available language, or English.
 * @param asked tags such as `de-CH`
 */
function choose(asked: readonly (string | null | undefined)[]) {
  const language = asked
    .map((tag) => tag?.split('-')[0]?.toLowerCase() ?? '')
    .find((tag) => Object.hasOwn(LANGUAGES, tag));
  const { direction, texts }: Language = LANGUAGES[language ?? ''] ?? { direction: 'ltr', texts: ENGLISH };
  return { language: language ?? 'en', direction, texts };
}

/** The address chooses the language, otherwise the session, and otherwise the browser. */
export const { language, direction, texts } = choose([
  new URLSearchParams(location.search).get('lang'),
  document.documentElement.dataset.language,
  ...navigator.languages,
]);
