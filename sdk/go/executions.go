package causeway

import (
	"context"
	"errors"
	"fmt"
)

// RunFormula runs a formula instance with an input, which the formula sees as `trigger.args`, and waits for the end. It
// returns the execution with its steps; a failed execution is a result too. No input is nil. It is an error when the
// input starts no execution or several, as the input of an event trigger can.
func (c *Client) RunFormula(ctx context.Context, instanceID int64, input any) (*FormulaExecution, error) {
	params := &StartFormulaExecutionsParams{}
	if input != nil {
		params.Body = &input
	}
	started, err := c.FormulaExecutions.StartFormulaExecutions(ctx, instanceID, params).Collect()
	if err != nil {
		return nil, err
	}
	if len(started) == 0 {
		return nil, errors.New("causeway: the input started no execution")
	}
	if len(started) > 1 {
		ids := make([]int64, len(started))
		for index, execution := range started {
			ids[index] = execution.Id
		}
		return nil, fmt.Errorf("causeway: the input started several executions %v: wait for each of them with WaitForExecution", ids)
	}
	return c.WaitForExecution(ctx, started[0].Id)
}

// WaitForExecution waits until an execution of a formula has ended, with growing pauses, and returns it with its steps.
// The context limits the time; the execution continues when that is over.
func (c *Client) WaitForExecution(ctx context.Context, id int64) (*FormulaExecution, error) {
	for pause := firstLook; ; pause = min(pause*3/2, longestLook) {
		execution, err := c.FormulaExecutions.GetFormulaExecution(ctx, id)
		if err != nil {
			return nil, err
		}
		if execution.Status != FormulaExecutionStatusPending && execution.Status != FormulaExecutionStatusQueued {
			return execution, nil
		}
		if err := c.clock.sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("causeway: execution %d is %s: %w", id, execution.Status, err)
		}
	}
}
