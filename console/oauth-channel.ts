/**
 * Name of the channel between a page of the console and the window in which the user authorizes. Both pages are of this origin, even if the
 * window showed others in between.
 */
const CHANNEL = 'causeway-oauth';

/** The parameters with which a provider redirected the browser. */
export type Sent = Readonly<Record<string, string>>;

type Message = { readonly kind: 'sent'; readonly sent: Sent } | { readonly kind: 'taken'; readonly state: string };

/** Runs in the window that the provider redirected: sends the parameters, and closes the window if a page waits for them. */
export function respondToOpener(parameters: URLSearchParams): void {
  const state = parameters.get('state');
  if (state === null) return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'taken' && data.state === state) window.close();
  };
  post(channel, { kind: 'sent', sent: Object.fromEntries(parameters) });
}

/**
 * Waits for the parameters with this state, which no other page knows.
 * @returns a function that ends the wait
 */
export function listen(state: string, onSent: (sent: Sent) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind !== 'sent' || data.sent.state !== state) return;
    post(channel, { kind: 'taken', state });
    onSent(data.sent);
  };
  return () => channel.close();
}

function post(channel: BroadcastChannel, message: Message): void {
  channel.postMessage(message);
}
