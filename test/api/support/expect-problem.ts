import { expect } from 'chai';
import { ERROR_STATUS, type ErrorCode } from '../../../src/errors.ts';
import type { ApiAnswer } from '../../support/app.ts';

/** An error as decisions D4 have it: status by code, the body's members and no others, the request's id. */
export function expectProblem(response: Readonly<ApiAnswer>, code: ErrorCode, message?: string | RegExp): void {
  const { body, headers, status } = response;
  expect(body, `${status} ${JSON.stringify(body)}`).to.include({ code });
  expect(status).to.equal(ERROR_STATUS[code]);
  expect(headers.get('content-type')).to.match(/^application\/json/);
  expect(body.requestId).to.be.a('string').and.equal(headers.get('elements-request-id'));
  expect(Object.keys(body)).to.include.members(['requestId', 'code', 'message']);
  expect(['requestId', 'code', 'message', 'details', 'providerMessage']).to.include.members(Object.keys(body));
  if (typeof message === 'string') expect(body.message).to.equal(message);
  if (message instanceof RegExp) expect(body.message).to.match(message);
}

/** An error about these parts of the request, as `faultsOf` has them, and no others. */
export function expectFaults(response: Readonly<ApiAnswer>, faults: object, message?: string | RegExp): void {
  expectProblem(response, 'REQUEST_INVALID', message);
  expect(faultsOf(response)).to.deep.equal(faults);
}

/** The places of `details`, which are JSON pointers (RFC 6901), with dots for their slashes; and what is said of each. */
export function faultsOf({ body }: Readonly<ApiAnswer>): Record<string, string> {
  const details: readonly { readonly path: string; readonly message: string }[] = body.details ?? [];
  return Object.fromEntries(
    details.map(({ path, message }) => {
      expect(path).to.match(/^\/(?:body|query|path|headers)(?:\/(?:[^/~]|~[01])*)*$/);
      return [path.slice(1).replaceAll('/', '.'), message];
    }),
  );
}
