import { useEffect, useRef } from 'preact/hooks';

/** A text of a connector, which is English; what stands between backticks is code. Of its own direction, whatever that of the page is. */
export function Words({ text }: { readonly text: string }) {
  const parts = text.split('`');
  return <bdi lang="en">{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</bdi>;
}

/** The title of what is shown now: the focus goes there, so that a change of the page is also heard. */
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

/** The address, where it is one of the web: the addresses of providers are data. */
export function webUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
