import { expect } from 'chai';
import { judge } from '#connector/testing';
import bamboohr from './index.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function withHeader(status: number, message: string) {
  return { status, headers: { 'x-bamboohr-error-message': message }, body: undefined };
}

describe('what an answer of BambooHR means', () => {
  it('takes the words of a refusal from the header', () => {
    const kinds = [400, 401, 403, 404, 409, 429, 500, 503].map((status) =>
      judge(bamboohr, withHeader(status, 'No.'), 'POST'),
    );
    expect(kinds).to.deep.equal([
      { kind: 'rejected', message: 'No.' },
      { kind: 'credentials', message: 'No.' },
      { kind: 'rejected', message: 'No.' },
      { kind: 'notFound', message: 'No.' },
      { kind: 'rejected', message: 'No.' },
      { kind: 'rateLimited', message: 'No.' },
      { kind: 'unavailable', message: 'No.' },
      { kind: 'unavailable', message: 'No.' },
    ]);
  });

  it('takes them from the detail of a problem, which names the field, rather than from its title', () => {
    const body = { title: 'Bad Request', detail: 'Invalid field name: employee_nope', code: 'INVALID_ARGUMENT' };
    expect(judge(bamboohr, { status: 400, headers: JSON_TYPE, body })).to.deep.equal({
      kind: 'rejected',
      message: 'Invalid field name: employee_nope',
    });
  });

  it('finds the failure behind a 200', () => {
    expect(judge(bamboohr, withHeader(200, 'Nothing was saved.'))).to.deep.equal({
      kind: 'rejected',
      message: 'Nothing was saved.',
    });
    expect(
      judge(bamboohr, { status: 200, headers: JSON_TYPE, body: { success: false, message: 'Locked' } }),
    ).to.deep.equal({
      kind: 'rejected',
      message: 'Locked',
    });
    expect(judge(bamboohr, { status: 200, headers: JSON_TYPE, body: { success: false } })).to.deep.equal({
      kind: 'rejected',
    });
  });

  it('leaves a good answer, and an error without words, to its status', () => {
    expect(bamboohr.classify?.({ status: 200, headers: JSON_TYPE, body: { id: '5', message: 'Hello' } })).to.equal(
      undefined,
    );
    expect(judge(bamboohr, { status: 503, headers: {}, body: '<html></html>' })).to.deep.equal({
      kind: 'unavailable',
    });
  });
});
