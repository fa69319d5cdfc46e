import { FormulaExecutionsApi } from '../apis/index.js';
import type { FormulaExecution } from '../models/index.js';
import type { Configuration } from '../runtime.js';
import { CausewayError, TimeoutError } from './errors.js';
import type { CallOptions } from './records.js';
import type { Transport } from './transport.js';

export interface ExecutionWaitOptions extends CallOptions {
  /** Maximum time to wait for the end, in milliseconds. Default: 300,000. */
  readonly timeoutMs?: number;
  /** Receives the execution after each request for its state. */
  readonly onProgress?: (execution: FormulaExecution) => void;
}

const WAIT_MS = 300_000;
const NOT_ENDED: ReadonlySet<string> = new Set(['pending', 'queued']);

/** The operations on executions of formulas, with calls that wait for the end of an execution. */
export class FormulaExecutions extends FormulaExecutionsApi {
  readonly #transport: Transport;

  constructor(configuration: Configuration, transport: Transport) {
    super(configuration);
    this.#transport = transport;
  }

  /**
   * Runs a formula instance and waits for the end. A failed execution is a result too: its `status` is `failed`.
   *
   * @param input what the formula sees as `trigger.args`
   * @returns the execution with its steps
   * @throws TimeoutError when the time is over; the execution continues, and `wait` resumes waiting
   * @throws CausewayError when the input starts no execution or several, as the input of an event trigger can
   */
  async run(instanceId: number, input?: unknown, options: ExecutionWaitOptions = {}): Promise<FormulaExecution> {
    const { signal } = options;
    const started = await this.startFormulaExecutions({ instanceId, body: input }, { signal });
    const [first, ...others] = started.map(({ id }) => id);
    if (first === undefined) throw new CausewayError('The input started no execution.');
    if (others.length > 0) {
      const ids = [first, ...others].join(', ');
      throw new CausewayError(`The input started several executions: ${ids}. Wait for each of them with wait(id).`);
    }
    return this.wait(first, options);
  }

  /**
   * Waits for the end of an execution, with growing pauses between two requests.
   *
   * @returns the execution with its steps
   * @throws TimeoutError when the time is over; the execution continues
   */
  async wait(
    executionId: number,
    { signal, timeoutMs = WAIT_MS, onProgress }: ExecutionWaitOptions = {},
  ): Promise<FormulaExecution> {
    const end = this.#transport.now() + timeoutMs;
    for (let attempt = 1; ; attempt++) {
      const execution = await this.getFormulaExecution({ executionId }, { signal });
      onProgress?.(execution);
      if (!NOT_ENDED.has(execution.status)) return execution;
      const leftMs = end - this.#transport.now();
      if (leftMs <= 0) {
        throw new TimeoutError(
          `Execution ${executionId} did not end within ${timeoutMs} ms: it is ${execution.status}.`,
        );
      }
      await this.#transport.pause(attempt, signal, leftMs);
    }
  }
}
