"""What is sent again, and when: flows, driven by hand."""

from __future__ import annotations

from typing import Any, List, Tuple, Union

import pytest

from causeway_client import ApiError, CallTimeoutError, NetworkError, RateLimitedError
from causeway_client._flow import Answer, Pause, Request, Retries, Send, exchange

Outcome = Union[int, Exception, Answer]
OK = Answer(200, {}, b"{}")


def play(method: str, outcomes: List[Outcome], **more: Any) -> Tuple[List[Request], List[float], Union[Answer, Exception]]:
    """What was sent, how long was waited in between, and what came of it."""
    clock = [1_000_000.0]
    retries = Retries(more.pop("limit", 4), more.pop("seconds", 120.0), now=lambda: clock[0], random=lambda: 1.0)
    flow = exchange(Request(method, "http://service/x", more.pop("headers", {})), retries)
    sent: List[Request] = []
    pauses: List[float] = []
    try:
        step = next(flow)
        while True:
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                clock[0] += step.seconds
                step = flow.send(None)
                continue
            assert isinstance(step, Send)
            sent.append(step.request)
            outcome = outcomes[min(len(sent), len(outcomes)) - 1]
            if isinstance(outcome, Exception):
                step = flow.throw(outcome)
            else:
                step = flow.send(Answer(outcome, {}) if isinstance(outcome, int) else outcome)
    except StopIteration as end:
        return sent, pauses, end.value
    except Exception as error:
        return sent, pauses, error


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
@pytest.mark.parametrize("failure", [429, 502, 503, 504, NetworkError("broken"), CallTimeoutError("late")])
def test_what_can_be_repeated_is_repeated(method: str, failure: Outcome) -> None:
    sent, pauses, result = play(method, [failure, failure, OK])
    assert result is OK
    assert len(sent) == 3
    assert pauses == [0.25, 0.5]


@pytest.mark.parametrize("failure", [400, 401, 403, 404, 409, 422, 500, 501])
def test_other_failures_are_final(failure: int) -> None:
    sent, _, result = play("GET", [failure, OK])
    assert len(sent) == 1
    assert isinstance(result, ApiError)
    assert result.status == failure


@pytest.mark.parametrize("failure", [502, 503, 504, NetworkError("broken"), CallTimeoutError("late")])
def test_a_patch_is_sent_once(failure: Outcome) -> None:
    assert len(play("PATCH", [failure, OK])[0]) == 1


def test_a_patch_that_was_too_fast_is_sent_again() -> None:
    assert len(play("PATCH", [429, OK])[0]) == 2


def test_a_post_has_one_key_in_all_attempts() -> None:
    sent, _, _ = play("POST", [503, NetworkError("broken"), OK])
    keys = {request.headers["Idempotency-Key"] for request in sent}
    assert len(sent) == 3
    assert len(keys) == 1
    assert keys != {request.headers["Idempotency-Key"] for request in play("POST", [OK])[0]}
    assert "Idempotency-Key" not in play("GET", [OK])[0][0].headers


def test_the_key_of_the_caller_is_kept() -> None:
    sent, _, _ = play("POST", [OK], headers={"idempotency-key": "mine"})
    assert sent[0].headers == {"idempotency-key": "mine"}


def test_a_conflict_with_an_earlier_attempt_of_the_same_key_is_waited_for() -> None:
    assert len(play("POST", [503, 409, OK])[0]) == 3
    assert len(play("POST", [409, OK])[0]) == 1


def test_pauses_grow_up_to_a_bound_and_end() -> None:
    sent, pauses, result = play("GET", [503], limit=8)
    assert pauses == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert len(sent) == 9
    assert isinstance(result, ApiError)


def test_no_attempt_begins_after_the_whole_time() -> None:
    _, pauses, result = play("GET", [503], limit=1000, seconds=20.0)
    assert sum(pauses) <= 20.0
    assert len(pauses) == 6
    assert isinstance(result, ApiError)


def test_what_the_answer_asks_for_is_waited() -> None:
    _, pauses, result = play("GET", [Answer(429, {"retry-after": "30"}), OK])
    assert pauses == [30.25]
    assert result is OK
    date = "Mon, 12 Jan 1970 13:47:10 GMT"
    assert play("GET", [Answer(503, {"retry-after": date}), OK])[1] == [30.25]


def test_a_pause_that_is_too_long_is_the_callers() -> None:
    body = b'{"code": "RATE_LIMITED", "message": "Too fast.", "requestId": "r"}'
    sent, _, result = play("GET", [Answer(429, {"retry-after": "3600"}, body), OK])
    assert len(sent) == 1
    assert isinstance(result, RateLimitedError)
    assert result.retry_after == 3600
