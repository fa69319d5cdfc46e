from __future__ import annotations

import time
from typing import Any, List

import pytest
from conftest import Both
from service import Reply, serving

from causeway_client import CallTimeoutError, CausewayError

TIMES = {"createdDate": "2026-11-23T10:00:00.000Z", "updatedDate": "2026-11-23T10:00:00.250Z"}
STEPS = [
    {"id": 901, "stepName": "trigger", "status": "success", "fault": False, **TIMES},
    {"id": 902, "stepName": "get", "status": "failed", "fault": True, **TIMES},
]


def execution(status: str, steps: Any = ()) -> Reply:
    return Reply(body={"id": 61, "formulaInstanceId": 88, "status": status, **TIMES, "stepExecutions": list(steps)})


def test_a_run_returns_the_ended_execution_with_its_steps(both: Both) -> None:
    seen: List[str] = []
    replies = [Reply(body=[{"id": 61}]), execution("queued"), execution("pending"), execution("failed", STEPS)]
    with serving(*replies) as service:
        ended = both.run(
            service, lambda it: it.formula_executions.run(88, {"id": 7}, on_progress=lambda now: seen.append(now.status))
        )
    assert (ended.id, ended.status) == (61, "failed")
    assert [(step.step_name, step.status) for step in ended.step_executions] == [("trigger", "success"), ("get", "failed")]
    assert seen == ["queued", "pending", "failed"]
    assert len(both.pauses) == 2
    start, *looks = service.asked
    assert (start.method, start.path) == ("POST", "/elements/api-v2/formulas/instances/88/executions")
    assert start.json() == {"id": 7}
    assert start.headers["Idempotency-Key"]
    assert {(look.method, look.path) for look in looks} == {("GET", "/elements/api-v2/formulas/instances/executions/61")}


def test_a_run_without_input_sends_no_body(both: Both) -> None:
    with serving(Reply(body=[{"id": 61}]), execution("success")) as service:
        both.run(service, lambda it: it.formula_executions.run(88))
    assert service.asked[0].body == b""


def test_an_input_of_any_type(both: Both) -> None:
    with serving(Reply(body=[{"id": 61}]), execution("success")) as service:
        both.run(service, lambda it: it.formula_executions.run(88, ["a", 1]))
    assert service.asked[0].json() == ["a", 1]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([61, 62], r"^The input started several executions: 61, 62\. Wait for each of them with wait\(id\)\.$"),
        ([], r"^The input started no execution\.$"),
    ],
)
def test_an_input_that_starts_not_one_execution(both: Both, ids: List[int], message: str) -> None:
    with serving(Reply(body=[{"id": each} for each in ids])) as service, pytest.raises(CausewayError, match=message):
        both.run(service, lambda it: it.formula_executions.run(88, {}))


@pytest.mark.parametrize("status", ["success", "failed", "cancelled", "retry", "unknown"])
def test_the_ends_of_an_execution(both: Both, status: str) -> None:
    with serving(execution(status)) as service:
        assert both.run(service, lambda it: it.formula_executions.wait(61)).status == status
    assert len(service.asked) == 1


def test_a_wait_ends_in_time(both: Both) -> None:
    start = time.time()
    with (
        serving(*[execution("pending")] * 50) as service,
        pytest.raises(CallTimeoutError, match=r"^Execution 61 did not end within 0\.2 s: it is pending\.$"),
    ):
        both.run(service, lambda it: it.formula_executions.wait(61, timeout=0.2))
    assert time.time() - start < 5
    assert both.pauses and max(both.pauses) <= 0.2
