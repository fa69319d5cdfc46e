import { expect } from 'chai';
import { AppError } from '../src/errors.ts';
import * as sharedErrors from '../src/shared-errors.ts';

const { changedMeanwhile, credentialsRejected, missing, onlyJson, reversedPeriod } = sharedErrors;

interface Case {
  readonly error: AppError;
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

/** One for each error: a new one without a case does not pass the type check. */
const CASES: Readonly<Record<keyof typeof sharedErrors, Case>> = {
  missing: { error: missing('account', 5), code: 'NOT_FOUND', status: 404, message: 'There is no account 5.' },
  changedMeanwhile: {
    error: changedMeanwhile('Instance 5'),
    code: 'CONFLICT',
    status: 409,
    message: 'Instance 5 was changed by another request at the same time. Read it again and repeat the change.',
  },
  reversedPeriod: {
    error: reversedPeriod('/query/to'),
    code: 'REQUEST_INVALID',
    status: 400,
    message: "'to' must be after 'from'.",
  },
  onlyJson: {
    error: onlyJson(),
    code: 'UNSUPPORTED_MEDIA_TYPE',
    status: 415,
    message: 'This path accepts JSON. Send Content-Type: application/json.',
  },
  credentialsRejected: {
    error: credentialsRejected('BambooHR', 'username, password', { providerMessage: 'No.' }),
    code: 'PROVIDER_CREDENTIALS_INVALID',
    status: 400,
    message: 'BambooHR rejects these credentials. Check username, password. Nothing was stored.',
  },
};

describe('the errors that rooms share', () => {
  for (const [name, { error, ...expected }] of Object.entries(CASES)) {
    it(`have one code and one text: ${name}`, () => {
      expect(error).to.be.instanceOf(AppError).and.to.include(expected);
    });
  }

  it('quote a name, cut a long one, and suggest the nearest', () => {
    expect(missing('role', 'admim', ['user', 'admin']).message).to.equal(
      "There is no role 'admim'. Did you mean 'admin'?",
    );
    expect(missing('account', 'x'.repeat(300)).message).to.equal(`There is no account '${'x'.repeat(100)}…'.`);
  });

  it('keep id and digits as they are', () => {
    expect(missing('organization', '-1').message).to.equal('There is no organization -1.');
  });

  it('point at the end of a period, and keep the words of a provider', () => {
    expect(CASES.reversedPeriod.error.details).to.deep.equal([
      { path: '/query/to', message: "'to' must be after 'from'." },
    ]);
    expect(CASES.credentialsRejected.error.providerMessage).to.equal('No.');
  });
});
