import type { Connector } from './contract.ts';
import { when } from './problems.ts';

/** Returns the problems of the texts for people: links to documentation, and steps of set-ups. */
export function catalogueProblems({ documentation = [], configuration, auth }: Connector): readonly string[] {
  const setups = [
    ...configuration.map(({ key, setup }) => [`'${key}'`, setup] as const),
    ...(auth.type === 'oauth2' ? [['the application', auth.setup] as const] : []),
  ];
  return [
    ...documentation.flatMap(({ title, url }) => [
      ...when(title.trim() === '', `the page ${url} of its documentation has no title`),
      ...when(!isPublicPage(url), `'${url}' of its documentation is not an address that begins with https://`),
    ]),
    ...setups.flatMap(([what, setup]) => [
      ...when(setup?.length === 0, `the set-up of ${what} has no steps: leave it out`),
      ...when(setup?.some((step) => step.trim() === '') === true, `a step in the set-up of ${what} is empty`),
    ]),
  ];
}

/** Links must be https, and without a name and password. */
function isPublicPage(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}
