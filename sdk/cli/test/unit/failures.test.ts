import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, NetworkError, NotFoundError, ProviderError, RateLimitedError, WhereError } from '@causeway/client';
import picocolors from 'picocolors';
import { errorJson, errorText } from '../../src/error-text.js';
import { EXIT, exitCodeOf } from '../../src/exit-codes.js';
import { NotReadyError, UnreachableError, UsageError } from '../../src/failures.js';

const PLAIN = picocolors.createColors(false);
const FILTER = "status = 'x' AND hireDat > 1";
const wrong = new WhereError(400, {
  requestId: 'the-request',
  code: 'WHERE_INVALID',
  message: "Unknown field 'hireDat'.",
  details: [{ position: 17, length: 7, message: "Unknown field 'hireDat'.", nearest: 'hireDate' }],
});

describe('a failure', () => {
  it('shows the filter with carets, what was meant, code and request', () => {
    assert.equal(
      errorText(wrong, FILTER, PLAIN),
      [
        "Error: Unknown field 'hireDat'.",
        '',
        "  status = 'x' AND hireDat > 1",
        '                   ^^^^^^^ did you mean hireDate?',
        '',
        '  WHERE_INVALID · request the-request',
      ].join('\n'),
    );
  });

  it('is JSON for programs', () => {
    const { error } = JSON.parse(errorJson(wrong));
    assert.deepEqual(
      [error.code, error.status, error.requestId, error.details[0].position],
      ['WHERE_INVALID', 400, 'the-request', 17],
    );
  });

  it('says where a body is wrong, what the provider said, and when to try again', () => {
    const body = {
      requestId: '',
      code: 'PROVIDER_RATE_LIMITED' as const,
      message: 'No.',
      providerMessage: 'Slow\u001b down',
      details: [{ path: '/body/name', message: 'It is long.' }],
    };
    const text = errorText(new RateLimitedError(429, body, 6.2), undefined, PLAIN);
    assert.match(
      text,
      /\/body\/name: It is long\.\n.*Slow\\u001b down\n.*Try again in 7 s\.\n {2}PROVIDER_RATE_LIMITED$/,
    );
  });

  it('says why there was no connection', () => {
    const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    assert.equal(
      errorText(new NetworkError('It failed.', { cause }), undefined, PLAIN),
      'Error: It failed: connect ECONNREFUSED',
    );
  });

  it('ends with an exit code that scripts can decide by', () => {
    const body = (code: 'FORBIDDEN' | 'NOT_FOUND' | 'PROVIDER_REJECTED' | 'RATE_LIMITED' | 'INTERNAL') => ({
      requestId: '',
      code,
      message: '',
    });
    const codes = [
      [wrong, EXIT.usage],
      [new UsageError(''), EXIT.usage],
      [new NotFoundError(404, body('NOT_FOUND')), EXIT.notFound],
      [new ApiError(403, body('FORBIDDEN')), EXIT.notAllowed],
      [new NotReadyError(''), EXIT.notAllowed],
      [new ProviderError(422, body('PROVIDER_REJECTED')), EXIT.provider],
      [new NetworkError(''), EXIT.notReached],
      [new UnreachableError(''), EXIT.notReached],
      [new RateLimitedError(429, body('RATE_LIMITED')), EXIT.later],
      [new ApiError(500, body('INTERNAL')), EXIT.failure],
      [new Error(''), EXIT.failure],
    ] as const;
    for (const [error, code] of codes) assert.equal(exitCodeOf(error), code, error.name);
  });
});
