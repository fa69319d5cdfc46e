import type { OperationId } from '../../generated/operations.ts';
import type { Clock } from '../clock.ts';
import type { SendInner } from '../http/inner-client.ts';
import type { Logger } from '../log.ts';
import { createOwnApi, type OwnApi } from './own-api.ts';
import { createOwnExamples } from './own-example.ts';
import { type CallId, createRunningCalls } from './running.ts';
import { createKnownFields } from './tools/known-fields.ts';

/** An HTTP request to `/mcp` whose access key is valid. */
interface AgentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly authorization: string;
  readonly keyId: number;
  /** Returns whether the key may use an operation of the API. */
  readonly may: (operation: OperationId) => boolean;
  /** Aborts when the caller closes the connection. */
  readonly signal: AbortSignal;
}

interface AgentPorts {
  /** Sends a request to the API of this process. */
  readonly send: SendInner;
  readonly basePath: string;
  readonly clock: Pick<Clock, 'after' | 'steady'>;
  readonly log: Pick<Logger, 'error'>;
}

export type AgentRoom = ReturnType<typeof composeMcp>;

/** Composes the server of the Model Context Protocol. Its tools call the API of this process, so they can do what the access key can do. */
export function composeMcp({ send, basePath, clock, log }: AgentPorts) {
  const running = createRunningCalls();
  const findExample = createOwnExamples(clock);
  const knownFields = createKnownFields();
  // The library is read when the first agent comes: most services have none.
  let loaded: Promise<typeof import('./server.ts')> | undefined;

  return {
    /** Answers a request. Undefined if the call was cancelled, so that nothing is left to say. */
    answer: async (request: AgentRequest): Promise<Response | undefined> => {
      const { url, headers, body, authorization, keyId, may } = request;
      loaded ??= import('./server.ts');
      const { answer, messagesOf } = await loaded;
      const controller = new AbortController();
      const signal = AbortSignal.any([request.signal, controller.signal]);
      const ends: (() => void)[] = [];
      for (const message of messagesOf(body)) {
        const { id, method, params } = Object(message);
        if (method === 'notifications/cancelled') running.cancel(keyId, idOf(Object(params).requestId) ?? '');
        const own = idOf(id);
        if (own !== undefined && method !== undefined) ends.push(running.add(keyId, own, controller));
      }
      const api = createOwnApi({ send, basePath, authorization, signal });
      const exampleOf = (own: OwnApi) => findExample(keyId, own);
      const noteError = (error: unknown) => log.error({ err: error }, 'a tool of an agent failed');
      const parts = { api, keyId, knownFields, may, clock, noteError };
      const cancelled = new Promise<undefined>((resolve) => {
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      const end = () => {
        for (const each of ends) each();
      };
      const sent = new Request(url, { method: 'POST', headers });
      try {
        const response = await Promise.race([answer(sent, body, { ...parts, signal, exampleOf }), cancelled]);
        if (response?.body == null || response.headers.get('content-type') !== EVENTS) {
          end();
          return response;
        }
        // A stream goes on after this, and can be cancelled until it ends.
        request.signal.addEventListener('abort', end, { once: true });
        return response;
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

const EVENTS = 'text/event-stream';

function idOf(value: unknown): CallId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
