import { expect } from 'chai';
import { secretsInPath } from '../../src/api/redact-call.ts';

const KEY = 'k'.repeat(43);

describe('secretsInPath', () => {
  for (const [path, secrets] of [
    [`/events/shop/${KEY}?challenge=1`, [KEY]],
    ['/events/shop/short', ['short']],
    [`/EVENTS/shop/${KEY}/more`, [KEY, 'more']],
    [`/elements/api-v2/events/shop/${KEY}`, [KEY]],
    [`/connect/${KEY}`, [KEY]],
    ['/connect/authorize/a.ticket', ['a.ticket']],
    ['/events/shop/%zz', ['%zz']],
    // Of the API itself nothing is hidden.
    ['/elements/api-v2/events/test', []],
    ['/elements/api-v2/instances/12/events', []],
    ['/elements/api-v2/connect/sessions/12', []],
    ['/elements/api-v2/events/17', []],
    ['/elements/api-v2/Orders/a%20b', []],
    [`/elements/api-v2/Orders/${KEY}`, []],
  ] as const) {
    it(path, () => {
      expect([...new Set(secretsInPath(path))]).to.deep.equal(secrets);
    });
  }
});
