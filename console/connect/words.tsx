import { useEffect, useRef } from 'preact/hooks';

/**
 * Shows a text of a connector, which is English. Text between backticks is code. The text keeps its own direction on pages of the other
 * direction.
 */
export function Words({ text }: { readonly text: string }) {
  const parts = text.split('`');
  return <bdi lang="en">{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</bdi>;
}

/** Shows the title of the current view and moves the focus to it, so that screen readers announce the change. */
export function Title({ text }: { readonly text: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = text;
    title.current?.focus();
  }, [text]);
  return (
    <h1 ref={title} tabIndex={-1}>
      {text}
    </h1>
  );
}

/**
 * Returns the text as a URL if it is one of the web. The addresses of providers are data, so a `javascript:` URL must not become a link.
 */
export function webUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
