import { AppError } from '../../errors.ts';
import { currentTrace } from '../../trace.ts';
import type { ProviderRequest, ProviderResponse } from '../contract.ts';
import { type Answer, readAnswer, readFileAnswer } from './answer.ts';
import type { Binding } from './binding.ts';
import { describeEgressError, isEgressError } from './egress-failure.ts';
import { describeFailure, describeMisshapen, type FailedCall, judgeAnswer } from './failure.ts';
import type { Outgoing } from './outgoing.ts';
import type { ClientPorts, ProviderCall } from './ports.ts';
import { sendTold } from './send-told.ts';
import { followLink } from './target.ts';

export const DEFAULT_TIMEOUT_MS = 30_000;

const MAX_BYTES = 32 * 1024 * 1024;
/** Plenty for words. */
const FAILURE_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface Attempt {
  readonly binding: Binding;
  readonly call: ProviderCall;
  readonly request: ProviderRequest;
  /** With `file` the body of a success is a Buffer. */
  readonly expects: 'record' | 'file';
  readonly outgoing: Outgoing;
  /** The provider's URL, checked. */
  readonly target: URL;
  /** On the clock of `now`. */
  readonly deadlineMs: number;
}

export type Outcome =
  | { readonly kind: 'answered'; readonly response: ProviderResponse }
  | { readonly kind: 'failed'; readonly failed: FailedCall };

/** One way to the provider and back, over at most three redirects. @throws what no retry can mend, and the reason of an abort. */
export async function makeAttempt(ports: ClientPorts, attempt: Attempt): Promise<Outcome> {
  let url = attempt.target;
  for (let redirects = 0; ; redirects++) {
    const exchanged = await exchange(ports, attempt, url);
    if (exchanged.kind === 'failed') return exchanged;
    const step = judge(ports, attempt, exchanged.answer, url);
    if (step.kind !== 'redirected') return step;
    if (redirects === MAX_REDIRECTS) throw tooManyRedirects(attempt);
    url = followLink(attempt.binding, step.location, url.href);
  }
}

type Exchanged =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failed: FailedCall };

async function exchange(ports: ClientPorts, attempt: Attempt, url: URL): Promise<Exchanged> {
  const { binding, call, outgoing } = attempt;
  const headers = chooseHeaders(attempt, url);
  call.signal.throwIfAborted();
  call.onProviderCall?.();
  noteProviderCall();
  let taken = 0;
  const takeBytes = (bytes: number) => {
    if (call.hold?.take(bytes) === false) return false;
    taken += bytes;
    return true;
  };
  try {
    const told = { element: call.connector.key, url, redactor: binding.redactor };
    const raw = await sendTold(ports, told, {
      url: binding.simulator?.enter(url) ?? url,
      method: outgoing.method,
      headers,
      body: outgoing.body,
      timeoutMs: Math.max(1, attempt.deadlineMs - ports.now()),
      maxBytes: MAX_BYTES,
      failureBytes: FAILURE_BYTES,
      toSimulator: binding.simulator !== undefined,
      takeBytes,
      signal: call.signal,
    });
    call.onAnswer?.(raw.headers);
    const isFile = attempt.expects === 'file';
    const answer = await (isFile ? readFileAnswer(call, raw) : readAnswer(call, raw, headers.accept));
    // A file is its bytes: they stay counted. Of the others, what they were parsed to.
    if (answer.file !== undefined) taken = 0;
    return { kind: 'answered', answer };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    return { kind: 'failed', failed: describeEgressError(error, getUndertaking(attempt, url)) };
  } finally {
    call.hold?.give(taken);
  }
}

function noteProviderCall(): void {
  const trace = currentTrace();
  if (trace !== undefined) trace.providerCalls += 1;
}

function getUndertaking({ binding, request, target }: Attempt, url: URL) {
  return {
    name: binding.connector.name,
    linked: request.url !== undefined || url !== target,
    timeoutMs: binding.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

/** A redirect to another origin, though among the hosts, does not get the credentials. */
function getsCredentials({ target }: Attempt, url: URL): boolean {
  return url.origin === target.origin;
}

function chooseHeaders(attempt: Attempt, url: URL): Readonly<Record<string, string>> {
  const { binding, outgoing } = attempt;
  const headers = getsCredentials(attempt, url) ? outgoing.headers : outgoing.headersWithoutAuth;
  return binding.simulator === undefined ? headers : { ...headers, forwarded: binding.simulator.forwarded(url) };
}

type Judgement = Outcome | { readonly kind: 'redirected'; readonly location: string };

function judge(ports: ClientPorts, attempt: Attempt, answer: Answer, url: URL): Judgement {
  const { binding, outgoing } = attempt;
  const { response, misshapen, quotable } = answer;
  const said = binding.connector.classify?.(response);
  if (said === null) return accept(answer);
  const location = getRedirect(response);
  if (said?.kind === undefined && location !== undefined && outgoing.method === 'GET') {
    return { kind: 'redirected', location };
  }
  const failure = judgeAnswer(said, response.status, outgoing.method);
  if (failure?.kind === 'credentials' && !getsCredentials(attempt, url)) throw credentialsWithheld(attempt, url);
  if (failure !== undefined) {
    return { kind: 'failed', failed: describeFailure(ports, { binding, response, failure, quotable }) };
  }
  if (misshapen) return { kind: 'failed', failed: describeMisshapen(binding, answer) };
  return accept(answer);
}

function accept({ response, file }: Answer): Outcome {
  return { kind: 'answered', response: file === undefined ? response : { ...response, body: file } };
}

function getRedirect(response: ProviderResponse): string | undefined {
  return REDIRECTS.has(response.status) ? response.headers.location : undefined;
}

/** Nobody refused the instance's credentials, as nobody was shown any. */
function credentialsWithheld({ binding, target }: Attempt, { host }: URL): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `${binding.connector.name} redirected to ${host}, which wants credentials. Causeway shows them to ${target.host} only, where the call was made.`,
  );
}

function tooManyRedirects({ binding }: Attempt): AppError {
  return new AppError('PROVIDER_PROTOCOL', `${binding.connector.name} redirected more than ${MAX_REDIRECTS} times.`);
}
