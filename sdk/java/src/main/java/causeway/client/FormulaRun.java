package causeway.client;

import causeway.client.model.FormulaExecution;
import causeway.client.model.FormulaExecutionStatus;
import causeway.client.model.FormulaExecutionChange;
import causeway.client.model.FormulaExecutionUpdate;
import causeway.client.model.FormulaStepExecution;
import causeway.client.model.StartedFormulaExecution;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** A run of a formula instance: one execution, which the service runs in the background. */
public final class FormulaRun {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
  private static final Set<FormulaExecutionStatus> NOT_ENDED = Set.of(FormulaExecutionStatus.pending, FormulaExecutionStatus.queued);

  private final Causeway causeway;
  private final long id;

  FormulaRun(Causeway causeway, long id) {
    this.causeway = causeway;
    this.id = id;
  }

  static FormulaRun start(Causeway causeway, long instanceId, Object input) {
    List<Long> ids =
        causeway.formulaExecutions().startFormulaExecutions(instanceId, options -> options.body(input)).stream().map(StartedFormulaExecution::id).toList();
    if (ids.size() != 1) {
      throw new IllegalStateException(
          ids.isEmpty()
              ? "The input started no execution."
              : "The input started several executions: " + ids + ". Wait for each of them with formulaRun(id).");
    }
    return new FormulaRun(causeway, ids.get(0));
  }

  /** @return the id of the execution, by which {@link Causeway#formulaRun(long)} finds it again */
  public long id() {
    return id;
  }

  /** @return the execution with its steps so far */
  public FormulaExecution execution() {
    return causeway.formulaExecutions().getFormulaExecution(id);
  }

  /**
   * Waits for the end, with growing pauses between two requests. A failed execution is a result too: its status is {@code failed}.
   *
   * @return the execution with its steps
   * @throws TimedOutException when it has not ended within this time; it continues, and can be awaited again
   */
  public FormulaExecution await(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    Duration pause = FIRST_PAUSE;
    for (; ; ) {
      FormulaExecution execution = execution();
      if (!NOT_ENDED.contains(execution.status())) {
        return execution;
      }
      if (System.nanoTime() + pause.toNanos() > end) {
        throw new TimedOutException("Execution " + id + " has not ended within " + atMost + ": it is " + execution.status() + ".");
      }
      sleep(pause);
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }
  }

  /** @return all steps so far, with their values */
  public Listing<FormulaStepExecution> steps() {
    return causeway.formulaExecutions().listFormulaStepExecutions(id, options -> options.includeValues(true));
  }

  /** Cancels the execution: no further step starts. */
  public FormulaExecution cancel() {
    return causeway.formulaExecutions().cancelFormulaExecution(id, new FormulaExecutionUpdate(FormulaExecutionChange.cancelled));
  }

  private void sleep(Duration pause) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException interrupted) {
      throw InterruptedCallException.in("Waiting for the execution " + id, interrupted);
    }
  }
}
