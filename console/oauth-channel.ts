/** Between a page of the console and the window in which somebody authorizes: both are of this origin, whatever was shown between. */
const CHANNEL = 'causeway-oauth';

/** What a provider sent the browser back with. */
export type Sent = Readonly<Record<string, string>>;

type Message = { readonly kind: 'sent'; readonly sent: Sent } | { readonly kind: 'taken'; readonly state: string };

/** In the window that the provider sent back: says what came, and closes the window when somebody waited for it. */
export function answerOpener(parameters: URLSearchParams): void {
  const state = parameters.get('state');
  if (state === null) return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'taken' && data.state === state) window.close();
  };
  post(channel, { kind: 'sent', sent: Object.fromEntries(parameters) });
}

/** Waits for what comes back with this state, which nobody else knows. @returns what ends the waiting */
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
