"""Runs of formula instances, which wait for the end of their execution."""

from __future__ import annotations

from typing import Any, Callable, Optional

from causeway_client._call import AsyncRunner, Runner
from causeway_client._flow import Flow, Pause
from causeway_client._session import Session
from causeway_client._transport import AsyncTransport, Transport
from causeway_client.api import formula_executions_api
from causeway_client.api.formula_executions_api import AsyncFormulaExecutionsApi, FormulaExecutionsApi
from causeway_client.errors import CallTimeoutError, CausewayError
from causeway_client.models.formula_execution import FormulaExecution
from causeway_client.models.formula_execution_status import FormulaExecutionStatus

OnExecution = Callable[[FormulaExecution], Any]

_NOT_ENDED = (FormulaExecutionStatus.PENDING, FormulaExecutionStatus.QUEUED)
_WAIT = 300.0


def _run(
    session: Session, instance_id: int, input: Any, timeout: float, on_progress: Optional[OnExecution]
) -> Flow[FormulaExecution]:
    started = yield from session.flow(formula_executions_api._start_formula_executions(instance_id, body=input))
    ids = [execution.id for execution in started]
    if not ids:
        raise CausewayError("The input started no execution.")
    if len(ids) > 1:
        names = ", ".join(map(str, ids))
        raise CausewayError(f"The input started several executions: {names}. Wait for each of them with wait(id).")
    execution = yield from _wait(session, ids[0], timeout, on_progress)
    return execution


def _wait(session: Session, execution_id: int, timeout: float, on_progress: Optional[OnExecution]) -> Flow[FormulaExecution]:
    end = session.retries.now() + timeout
    attempt = 1
    while True:
        execution = yield from session.flow(formula_executions_api._get_formula_execution(execution_id))
        if on_progress is not None:
            on_progress(execution)
        if execution.status not in _NOT_ENDED:
            return execution
        left = end - session.retries.now()
        if left <= 0:
            raise CallTimeoutError(f"Execution {execution_id} did not end within {timeout:g} s: it is {execution.status}.")
        yield Pause(min(session.retries.pause(attempt), left))
        attempt += 1


class FormulaExecutions(FormulaExecutionsApi):
    """The operations on executions of formulas, and calls that wait for the end of an execution."""

    def __init__(self, runner: Runner, transport: Transport, session: Session) -> None:
        super().__init__(runner)
        self._transport = transport
        self._session = session

    def run(
        self,
        instance_id: int,
        input: Any = None,
        *,
        timeout: float = _WAIT,
        on_progress: Optional[OnExecution] = None,
    ) -> FormulaExecution:
        """Runs a formula instance and waits for the end. A failed execution is a result too: its status is `failed`.

        :param input: what the formula sees as `trigger.args`
        :param timeout: maximum number of seconds to wait for the end
        :param on_progress: called with the execution after each request for its state
        :returns: the execution with its steps
        :raises CallTimeoutError: when the time is over; the execution continues, and `wait` resumes waiting
        :raises CausewayError: when the input starts no execution or several, as the input of an event trigger can
        """
        return self._transport.run(_run(self._session, instance_id, input, timeout, on_progress))

    def wait(self, execution_id: int, *, timeout: float = _WAIT, on_progress: Optional[OnExecution] = None) -> FormulaExecution:
        """Waits for the end of an execution, with growing pauses between two requests.

        :param timeout: maximum number of seconds
        :param on_progress: called with the execution after each request for its state
        :returns: the execution with its steps
        :raises CallTimeoutError: when the time is over; the execution continues
        """
        return self._transport.run(_wait(self._session, execution_id, timeout, on_progress))


class AsyncFormulaExecutions(AsyncFormulaExecutionsApi):
    """The operations on executions of formulas, and calls that wait for the end of an execution."""

    def __init__(self, runner: AsyncRunner, transport: AsyncTransport, session: Session) -> None:
        super().__init__(runner)
        self._transport = transport
        self._session = session

    async def run(
        self,
        instance_id: int,
        input: Any = None,
        *,
        timeout: float = _WAIT,
        on_progress: Optional[OnExecution] = None,
    ) -> FormulaExecution:
        """Runs a formula instance and waits for the end. A failed execution is a result too: its status is `failed`.

        :param input: what the formula sees as `trigger.args`
        :param timeout: maximum number of seconds to wait for the end
        :param on_progress: called with the execution after each request for its state
        :returns: the execution with its steps
        :raises CallTimeoutError: when the time is over; the execution continues, and `wait` resumes waiting
        :raises CausewayError: when the input starts no execution or several, as the input of an event trigger can
        """
        return await self._transport.run(_run(self._session, instance_id, input, timeout, on_progress))

    async def wait(
        self, execution_id: int, *, timeout: float = _WAIT, on_progress: Optional[OnExecution] = None
    ) -> FormulaExecution:
        """Waits for the end of an execution, with growing pauses between two requests.

        :param timeout: maximum number of seconds
        :param on_progress: called with the execution after each request for its state
        :returns: the execution with its steps
        :raises CallTimeoutError: when the time is over; the execution continues
        """
        return await self._transport.run(_wait(self._session, execution_id, timeout, on_progress))
