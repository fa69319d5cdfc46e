import { expect } from 'chai';
import { judgeResponse } from '../../src/connector/client/failure.ts';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { json } from '../support/misbehaving-server.ts';
import { setUpClient } from './client-setup.ts';

const STATUSES = [400, 401, 403, 404, 409, 410, 412, 415, 422, 429, 500, 501, 502, 503, 504];

/** Nothing in here says what it is about, save to people. */
const BODIES = [
  { message: 'No.' },
  { error: { code: 'X', message: 'No.' } },
  { title: 'No.', detail: 'Not at all.' },
  [{ errorCode: 'X', message: 'No.' }],
];

/** Where a provider uses a status for something else than others do. */
const OWN_MEANING: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  // A value that a field does not take.
  bamboohr: { 409: 'rejected' },
  // Every change is sent with `If-Match: *`.
  odata: { 412: 'notFound' },
  dynamics: { 412: 'notFound' },
};

const connectors = await loadConnectors({ folders: [OWN_CONNECTORS] });

describe('failures of every provider', () => {
  for (const { key, classify } of connectors) {
    it(`are judged by one table of statuses: ${key}`, () => {
      for (const status of STATUSES) {
        for (const body of BODIES) {
          const response = { status, headers: { 'content-type': 'application/json' }, body };
          const { kind, mayPass } = judgeResponse(classify?.(response) ?? undefined, status, 'POST') ?? {};
          const byStatus = judgeResponse(undefined, status, 'POST');
          const expected = OWN_MEANING[key]?.[status] ?? byStatus?.kind;
          expect([kind, mayPass], `${status} ${JSON.stringify(body)}`).to.deep.equal([expected, byStatus?.mayPass]);
        }
      }
    });

    it(`make a GET go out once after a 500, and three times after a 503, whatever the words: ${key}`, async () => {
      const setup = await setUpClient();
      try {
        for (const [status, times] of [
          [500, 1],
          [503, 3],
        ] as const) {
          for (const [index, body] of BODIES.entries()) {
            const path = `/${status}/${index}`;
            setup.server.answer(`/api${path}`, json(body, status));
            await setup.fail({ path }, classify === undefined ? {} : { classify });
            expect(
              setup.server.requests.filter(({ url }) => url === `/api${path}`),
              `${status} ${JSON.stringify(body)}`,
            ).to.have.length(times);
          }
        }
      } finally {
        await setup.close();
      }
    });
  }
});
