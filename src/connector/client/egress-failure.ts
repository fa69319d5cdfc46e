import type { EgressError, EgressReason } from '../../egress/index.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { noRoom } from './byte-budget.ts';
import { type FailedCall, neverAgain, type Resend } from './failure.ts';

/** What the request was when it failed without an answer. */
export interface Undertaking {
  /** The element's name. */
  readonly name: string;
  /** The URL came out of an answer, not out of the configuration. */
  readonly linked: boolean;
  readonly timeoutMs: number;
}

interface Report {
  readonly code: ErrorCode;
  readonly resend: Resend;
  readonly text: (undertaking: Undertaking, error: EgressError) => string;
}

const REPORTS: Record<Exclude<EgressReason, 'refused' | 'invalid' | 'no-room'>, Report> = {
  connect: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'always',
    text: ({ name }, { message }) => `${name} cannot be reached: ${message} Try again later.`,
  },
  tls: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'never',
    text: ({ name }, { message }) => `${name} cannot be reached: ${message}`,
  },
  reset: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'ifIdempotent',
    text: ({ name }, { message }) => `${name} did not answer completely: ${message} Try again later.`,
  },
  timeout: {
    code: 'PROVIDER_TIMEOUT',
    resend: 'never',
    text: ({ name, timeoutMs }) =>
      `${name} did not answer within ${timeoutMs / 1000} s. Try again later, or ask for less.`,
  },
  'too-large': {
    code: 'PROVIDER_PROTOCOL',
    resend: 'never',
    text: ({ name }, { message }) => `The answer of ${name} is too large: ${message} Ask for less.`,
  },
  protocol: {
    code: 'PROVIDER_PROTOCOL',
    resend: 'never',
    text: ({ name }, { message }) => `The answer of ${name} cannot be read: ${message}`,
  },
  aborted: {
    code: 'OVERLOADED',
    resend: 'never',
    text: ({ name }) => `The call to ${name} was given up, as this server is stopping. Try again.`,
  },
};

// Not in the table as a link of the provider's and an address in the configuration are the faults of two parties.
const LINKED: Report = {
  code: 'PROVIDER_PROTOCOL',
  resend: 'never',
  text: ({ name }, { message }) => `The answer of ${name} contains a link that is not followed: ${message}`,
};
const CONFIGURED: Report = {
  code: 'REQUEST_INVALID',
  resend: 'never',
  text: ({ name }, { message }) => `The call to ${name} cannot be made: ${message} Correct the configuration.`,
};

export function describeEgressError(error: EgressError, undertaking: Undertaking): FailedCall {
  if (error.reason === 'no-room') return neverAgain(noRoom(error));
  const report = getReport(error.reason, undertaking);
  return {
    error: new AppError(report.code, report.text(undertaking, error), { cause: error }),
    resend: report.resend,
    retryAfterMs: undefined,
  };
}

function getReport(reason: Exclude<EgressReason, 'no-room'>, undertaking: Undertaking): Report {
  if (reason === 'refused' || reason === 'invalid') return undertaking.linked ? LINKED : CONFIGURED;
  return REPORTS[reason];
}

/** By name: this folder knows egress as an argument only. */
export function isEgressError(error: unknown): error is EgressError {
  return error instanceof Error && error.name === 'EgressError' && 'reason' in error;
}
