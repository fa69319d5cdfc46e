import { getHeapStatistics } from 'node:v8';
import { sleep } from '../../clock.ts';
import type { Egress } from '../../egress/index.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type {
  ConnectorContext,
  Operation,
  ProviderRequest,
  ProviderResponse,
  UploadInput,
  UploadOperation,
} from '../contract.ts';
import { detailsOf } from '../define.ts';
import { createBindings, prepareOutgoing, resolveUrls } from './binding.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import {
  type AccessTokens,
  type CallTally,
  DEFAULT_TIMEOUT_MS,
  type ExchangePorts,
  exchange,
  type MappingFaults,
  type PreparedRequest,
  type ProviderCall,
} from './exchange.ts';
import {
  describeFailure,
  type FailedCall,
  isIdempotent,
  type JudgedFailure,
  judgeResponse,
  planRetry,
} from './failure.ts';
import { type PassedRequest, pass } from './passthrough.ts';
import { logProviderCalls, measureBudget, measureProviderCalls, type ReportRequest } from './reporting.ts';
import { sendFile } from './upload.ts';
import { followLink, resolveTarget } from './url.ts';

export { type ByteBudget, createByteBudget, type Hold } from './byte-budget.ts';
export type { AccessTokens, CallGate, CallTally, GatedRequest, MappingFaults, ProviderCall } from './exchange.ts';
export type { PassedRequest, PassedResponse } from './passthrough.ts';

/** Sends requests to providers. */
export type ProviderClient = ReturnType<typeof createProviderClient>;

/** A file in a response. */
export interface ProviderFile {
  /** The response headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A request as people read it. */
export interface RequestPreview {
  readonly method: string;
  /** The provider's URL, even if a simulator would respond. */
  readonly url: string;
  readonly body?: string;
}

/** The parts of the platform that the client needs. */
export interface ClientPorts extends ExchangePorts {
  readonly random: { readonly fraction: () => number };
  /** Memory for the responses of calls that have no `hold`. Default: unlimited. */
  readonly budget?: ByteBudget;
  /** The address of the simulators. Without it, an instance with `simulator: true` is rejected. */
  readonly simulatorsUrl?: string | undefined;
}

/** The parts of the platform that the client is built from. This room must not import them by name. */
type Ground = Pick<ClientPorts, 'clock' | 'random'> & {
  readonly egress: Egress;
  readonly metrics: Metrics;
  readonly log: Logger;
};

/** Settings of the client. */
export interface ProviderClientSettings {
  readonly simulatorsUrl: string | undefined;
  /** Memory for responses of providers in bytes. Default: a third of the heap limit of the process. */
  readonly memoryBytes: number | undefined;
  /** Whether to log a line for every request. */
  readonly logsCalls: boolean;
}

const MEMORY_SHARE = 1 / 3;

/** Creates the client and the budget of memory for its responses. */
export function composeProviderClient(
  ground: Ground,
  { simulatorsUrl, memoryBytes, logsCalls }: ProviderClientSettings,
): { readonly client: ProviderClient; readonly budget: ByteBudget } {
  const { metrics, log } = ground;
  const budget = createByteBudget(memoryBytes ?? getHeapStatistics().heap_size_limit * MEMORY_SHARE);
  measureBudget(budget, metrics);
  const measure = measureProviderCalls(metrics);
  const logCall = logProviderCalls(log);
  const measureAndLog: ReportRequest = (request) => {
    measure(request);
    logCall(request);
  };
  const report = logsCalls ? measureAndLog : measure;
  return { client: createProviderClient({ ...ground, report, budget, simulatorsUrl }), budget };
}

const MAX_REDIRECTS = 3;
/** A failed result of a bulk job is a failure, whatever the connector reads from its words. */
const REJECTED: JudgedFailure = { kind: 'rejected', status: 400, mayPass: false };

/** Creates the client. It adds the base URL, authentication, time-outs and retries to the requests of connectors. */
export function createProviderClient(ports: ClientPorts) {
  const { clock, budget = createByteBudget(Number.POSITIVE_INFINITY) } = ports;
  const bind = createBindings(ports.simulatorsUrl);

  /**
   * Sends a request: over at most three redirects, with retries where they do no harm, and once more with another access token. A rejected
   * token did not authorize anything, so the same request is sent again whatever its method is.
   */
  async function send(
    call: ProviderCall,
    request: ProviderRequest,
    expects: PreparedRequest['expects'] = 'record',
  ): Promise<ProviderResponse> {
    const { connector, config, signal } = call;
    const { target, receiver } = resolveUrls(bind(connector, config), request);
    const tokens = connector.auth.type === 'oauth2' && request.anonymous !== true ? tokensOf(call) : undefined;
    const hold = call.hold ?? budget.open(call.accountId);
    const setOut = (accessToken: string | undefined): PreparedRequest => {
      const binding = bind(connector, config, accessToken);
      const deadlineMs = clock.steady() + (connector.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      const outgoing = prepareOutgoing(binding, request);
      return { binding, call, request, expects, hold, target, receiver, deadlineMs, outgoing };
    };
    try {
      // Absent after the token was replaced once.
      let held = tokens && { tokens, token: await tokens.current(signal) };
      let prepared = setOut(held?.token);
      let url = target;
      for (let redirects = 0, retries = 0, resends = 0; ; resends++) {
        const outcome = await exchange(ports, prepared, { url, resends });
        if (outcome.kind === 'responded') return outcome.response;
        if (outcome.kind === 'redirected') {
          if (redirects++ === MAX_REDIRECTS) throw tooManyRedirects(connector.name);
          url = followLink(prepared.binding, outcome.location, url.href);
          continue;
        }
        const { failed } = outcome;
        if (held !== undefined && isAppError(failed.error, 'INSTANCE_CREDENTIALS_FAILED')) {
          const another = await held.tokens.replace(held.token, signal);
          if (another === held.token) throw failed.error;
          held = undefined;
          prepared = setOut(another);
          retries = 0;
        } else {
          await waitToRetry(prepared, failed, retries++);
        }
        url = target;
        redirects = 0;
      }
    } finally {
      if (call.hold === undefined) hold.close();
    }
  }

  /**
   * Waits before a retry.
   * @throws the failure when there is no retry; the reason of the signal
   */
  async function waitToRetry({ call, request, deadlineMs }: PreparedRequest, failed: FailedCall, retries: number) {
    const remainingMs = deadlineMs - clock.steady();
    const waitMs = planRetry(ports.random, { failed, retries, remainingMs, idempotent: isIdempotent(request) });
    if (waitMs === undefined || call.retry === false) throw failed.error;
    await sleep(clock, waitMs, call.signal);
  }

  return {
    /**
     * Sends a request.
     * @returns a response that the connector or a 2xx status calls a success
     * @throws AppError for any other; the reason of `signal` when it aborts
     */
    send: (call: ProviderCall, request: ProviderRequest): Promise<ProviderResponse> => send(call, request),

    /** Sends a request as `send` does, and returns the bytes of the response unchanged. */
    sendForFile: async (call: ProviderCall, request: ProviderRequest): Promise<ProviderFile> => {
      const { headers, body } = await send(call, request, 'file');
      if (!Buffer.isBuffer(body)) throw new Error('The client read a file as something else');
      return { headers, bytes: body };
    },

    /**
     * Passes a request on unchanged, except for the authentication.
     * @returns the provider's response, whatever its status is
     * @throws AppError where there is no response
     */
    pass: async (call: ProviderCall, request: PassedRequest) => {
      const tokens = call.connector.auth.type === 'oauth2' ? tokensOf(call) : undefined;
      return pass(ports, { call, tokens, bind }, request);
    },

    /**
     * Sends a file once, as its bytes arrive. Nothing is kept to be sent again. After the provider rejected an access token, the next call
     * has another one.
     * @throws as `execute`; PROVIDER_UNAVAILABLE where an access token was rejected; any error of reading the bytes
     */
    upload: async <Input extends UploadInput>(
      operation: UploadOperation<Input>,
      { input, bytes }: { readonly input: Input; readonly bytes: AsyncIterable<Buffer> },
      call: ProviderCall,
    ) => {
      const tokens = call.connector.auth.type === 'oauth2' ? tokensOf(call) : undefined;
      const hold = call.hold ?? budget.open(call.accountId);
      try {
        const request = operation.request(input, call.config);
        const response = await sendFile(ports, { call, tokens, bind, hold }, request, { ...input.file, bytes });
        return readAs(call, () => operation.read(response, input));
      } finally {
        if (call.hold === undefined) hold.close();
      }
    },

    /** Returns the first request that `send` would send, with every secret redacted. It sends nothing. */
    preview: (
      { connector, config }: Pick<ProviderCall, 'connector' | 'config'>,
      request: ProviderRequest,
    ): RequestPreview => {
      const binding = bind(connector, config);
      const { method, body } = prepareOutgoing(binding, request);
      const { redact } = binding.redactor;
      const url = redact(resolveTarget(binding, request).href);
      return { method, url, ...(body !== undefined && { body: redact(body) }) };
    },

    /** Returns the error of a call whose response would have been `assumed`. */
    judge: ({ connector, config }: ProviderCall, assumed: Pick<ProviderResponse, 'status' | 'body'>) => {
      const response = { headers: {}, ...assumed };
      const said = connector.classify?.(response);
      const failure = judgeResponse(said ?? undefined, assumed.status, 'POST') ?? REJECTED;
      return describeFailure(clock, { binding: bind(connector, config), response, failure, quotable: true }).error;
    },

    /**
     * Runs an operation of a connector and returns its result.
     * @throws as `send`, and AppError PROVIDER_PROTOCOL when the connector cannot read the response
     */
    execute: async <Input, Output>(operation: Operation<Input, Output>, input: Input, call: ProviderCall) => {
      const { config, signal } = call;
      if ('run' in operation) {
        try {
          const context = { config, signal, send: send.bind(undefined, call) };
          if (call.tally !== undefined) tallies.set(context, call.tally);
          return await operation.run(context, input);
        } catch (error) {
          signal.throwIfAborted();
          throw toUnreadable(call, error);
        }
      }
      const response = await send(call, operation.request(input, config));
      return readAs(call, () => operation.read(response, input));
    },
  };
}

/** The tallies of the calls that operations make, by their contexts. */
const tallies = new WeakMap<ConnectorContext, CallTally>();

/** Returns where the faults of a mapping are counted during an operation. */
export function mappingFaultsOf(context: ConnectorContext): MappingFaults {
  const tally = tallies.get(context);
  const faults = tally?.mapping ?? { values: new Map(), scripts: 0 };
  if (tally !== undefined) tally.mapping = faults;
  return faults;
}

/** @throws AppError PROVIDER_PROTOCOL when the connector cannot read the response */
function readAs<Output>(call: ProviderCall, read: () => Output): Output {
  try {
    return read();
  } catch (error) {
    throw toUnreadable(call, error);
  }
}

function tokensOf({ tokens, connector }: ProviderCall): AccessTokens {
  if (tokens === undefined) throw new Error(`A call to ${connector.name} needs the access tokens of its instance`);
  return tokens;
}

function tooManyRedirects(name: string): AppError {
  return new AppError('PROVIDER_PROTOCOL', `${name} redirected more than ${MAX_REDIRECTS} times.`);
}

/**
 * Returns the error for a response that the connector cannot read. Another shape than documented shows as a ResponseError of the kit or as a
 * TypeError in the connector. Log and activity have the cause.
 */
export function toUnreadable({ connector }: Pick<ProviderCall, 'connector'>, error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError('PROVIDER_PROTOCOL', `Causeway does not understand the response of ${connector.name}.`, {
    details: detailsOf(error),
    cause: error instanceof SyntaxError ? withoutQuote(error) : error,
  });
}

/**
 * A parser quotes a few characters of a text that it cannot read. The beginning of a secret is too short for the redactor to recognize, so
 * the quote is removed.
 */
function withoutQuote(error: SyntaxError): SyntaxError {
  const bare = new SyntaxError(error.message.replace(/["'`].*["'`]/su, '…'));
  const frames = error.stack?.slice(error.stack.indexOf('\n    at ')) ?? '';
  bare.stack = `${bare.name}: ${bare.message}${frames}`;
  return bare;
}
