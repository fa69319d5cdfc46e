import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/time.tsx';
import { type ConnectSession, PATH } from './list.tsx';

/** The link of a session that was just made, and how a product opens it. */
export function Link({ session: { id, url = '', expiresDate } }: { readonly session: ConnectSession }) {
  const snippet = `<script src="${location.origin}/connect.js"></script>
<script>
  // sessionUrl comes from your server: POST /connect/sessions, one for each user.
  Causeway.connect({ sessionUrl: '${url}' })
    .then(({ instanceId }) => console.log('connected', instanceId));
</script>`;
  return (
    <div class="stack">
      <h1>The link is made</h1>
      <section class="card stack tight" aria-label="Link">
        <p>
          It is a secret, is shown now and not again, works once, and expires <Time at={expiresDate} />.
        </p>
        <div class="note">
          <div class="row apart">
            <code class="break">{url}</code>
            <span class="row">
              <Copy text={url} what="the link" />
              {/^https?:/.test(url) && (
                <a href={url} target="_blank" rel="noreferrer">
                  Open
                </a>
              )}
            </span>
          </div>
        </div>
      </section>
      <section class="card stack tight" aria-label="In your product">
        <div class="row apart">
          <h2>In your product</h2>
          <Copy text={snippet} what="the snippet" />
        </div>
        <p class="soft">
          Shows the page in a window of its own, or with <code>mode: 'frame'</code> in a frame. The page of your product
          has to be of one of the <a href="/console/organization/connect-origins">connect origins</a>. The token of the
          new instance goes to your server: it asks for <code>/connect/sessions/{id}</code>.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <pre tabIndex={0}>{snippet}</pre>
      </section>
      <div class="row">
        <a class="button" href={`${PATH}/${id}`}>
          See what comes of it
        </a>
        <a href={PATH}>To the sessions</a>
      </div>
    </div>
  );
}
