import { AppError, isAppError } from '../../errors.ts';
import type { Operation, ProviderRequest, ProviderResponse } from '../contract.ts';
import type { ProviderCall } from './ports.ts';

export type Send = (call: ProviderCall, request: ProviderRequest) => Promise<ProviderResponse>;

/** @throws AppError: the classified failure, or PROVIDER_PROTOCOL when the connector cannot read the answer. */
export async function execute<Input, Output>(
  send: Send,
  operation: Operation<Input, Output>,
  input: Input,
  call: ProviderCall,
): Promise<Output> {
  if ('run' in operation) return run(send, operation.run, input, call);
  const response = await send(call, operation.request(input, call.config));
  try {
    return operation.read(response, input);
  } catch (error) {
    throw toUnreadable(call, error);
  }
}

async function run<Input, Output>(
  send: Send,
  operation: Extract<Operation<Input, Output>, { run: unknown }>['run'],
  input: Input,
  call: ProviderCall,
): Promise<Output> {
  try {
    return await operation({ config: call.config, signal: call.signal, send: (request) => send(call, request) }, input);
  } catch (error) {
    call.signal.throwIfAborted();
    throw toUnreadable(call, error);
  }
}

/** An answer of another shape than documented shows as a TypeError in the connector; the cause goes to the log. */
export function toUnreadable({ connector }: Pick<ProviderCall, 'connector'>, error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError('PROVIDER_PROTOCOL', `The answer of ${connector.name} is not one that Causeway understands.`, {
    cause: error,
  });
}
