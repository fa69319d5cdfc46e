import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLoad } from '../load.ts';
import { Skeleton } from '../parts/show.tsx';
import { Bar } from './bar.tsx';
import { Choose } from './choose.tsx';
import type { ConnectingProps } from './connecting.ts';
import { Ended } from './ended.tsx';
import { Failure, failedOf } from './failure.tsx';
import { ElementForm } from './form.tsx';
import { addressOf, isFramed, isReported, report } from './host.ts';
import { endingOf, endingTexts, type SessionEnd } from './outcome.ts';
import { createCalls, isUnknown, type SessionState } from './session.ts';
import { texts } from './texts.ts';
import { webUrl } from './words.tsx';

/** Shows the page of a connect session. @param pageKey key of the session, the last segment of the address */
export function ConnectPage({ pageKey }: { readonly pageKey: string }) {
  const calls = useMemo(() => createCalls(pageKey), [pageKey]);
  const { value: session, error, reload, isLoading: isAsking } = useLoad(calls.read, [pageKey]);
  const { query } = useLocation();
  const isReturned = query.returned !== undefined;
  const isOurs = useRef(isReturned);
  const onDone = () => {
    isOurs.current = true;
    reload();
  };
  const ending = useEnding(session, isOurs.current);
  const main = useRef<HTMLElement>(null);
  useHeight(main, session);
  return (
    <main ref={main} class={isFramed ? 'connect framed' : 'connect'}>
      <div class="stack">
        {session !== undefined && <Bar {...{ session, calls, reload, onDone }} />}
        {session === undefined && error === undefined && <Skeleton />}
        {isUnknown(error) && <Ended {...texts.ended.unknown} />}
        {session === undefined && error !== undefined && !isUnknown(error) && (
          <Failure failed={failedOf(error)} retry={reload} />
        )}
        {ending !== undefined && session !== undefined && <Ended {...endingTexts(ending, session)} />}
        {ending === undefined && session !== undefined && (
          <Open {...{ session, calls, isReturned, reload, isAsking, onDone }} />
        )}
      </div>
    </main>
  );
}

/** Shows an open session. The address names the chosen element, so that the browser's Back button returns to the choice. */
function Open(props: Omit<ConnectingProps, 'element'>) {
  const { elements, returnsTo } = props.session;
  const { query } = useLocation();
  const only = elements.length === 1 ? elements[0] : undefined;
  const element = only ?? elements.find(({ key }) => key === query.element);
  const host = webUrl(returnsTo)?.host;
  return (
    <>
      {element === undefined ? (
        <Choose elements={elements} linkOf={({ key }) => addressOf(key)} />
      ) : (
        <ElementForm
          key={element.key}
          {...props}
          element={element}
          otherLink={only === undefined ? addressOf() : undefined}
        />
      )}
      {host !== undefined && <p class="small soft">{texts.returns(host)}</p>}
    </>
  );
}

/**
 * Reports the outcome of the session to the page that shows this one, or redirects to the return URL of the session.
 * @param isOurs whether this page ended the session; otherwise its return URL must not be used
 */
function useEnding(session: SessionState | undefined, isOurs: boolean): SessionEnd | undefined {
  const ending = session === undefined ? undefined : endingOf(session, isOurs);
  const kind = ending?.kind;
  // Reported once, even if the session is requested again.
  useEffect(() => {
    if (session === undefined || ending === undefined) return;
    report(session, ending.event);
    const url = webUrl(session.returnUrl);
    if (isOurs && !isReported && url !== undefined) location.replace(url.href);
  }, [kind]);
  return ending;
}

/** Reports the height of the content, so that the host can resize the frame. */
function useHeight(main: { readonly current: HTMLElement | null }, session: SessionState | undefined): void {
  const id = session?.id;
  useEffect(() => {
    const element = main.current;
    if (element === null || session === undefined) return;
    const observer = new ResizeObserver(() => report(session, { type: 'resize', height: element.offsetHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [id]);
}
