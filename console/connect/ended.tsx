import { texts } from './texts.ts';
import { Title, webUrl } from './words.tsx';

interface EndedProps {
  readonly title: string;
  readonly message: string;
  readonly isGood?: boolean;
  /** The page to which the user can return. */
  readonly link?: { readonly url: string; readonly label: (host: string) => string } | undefined;
}

/** Shows the outcome of a session that has ended. */
export function Ended({ title, message, isGood = false, link }: EndedProps) {
  const url = webUrl(link?.url);
  return (
    <>
      <Title text={title} />
      <p class={isGood ? 'note good' : 'note'}>{message}</p>
      {url === undefined || link === undefined ? (
        isGood && <p class="soft">{texts.done.close}</p>
      ) : (
        <p>
          <a class="button main" href={url.href} target="_self">
            {link.label(url.host)}
          </a>
        </p>
      )}
    </>
  );
}
