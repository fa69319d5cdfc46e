import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { json } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useFiling } from './support/filing.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

describe('a provider that shows only so many rows of one query', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const filing = useFiling(service);
  const list = (query = '') => service.call(`/entries${query}`, { token: filing.instance.token });

  /** It has a thousand, and fails where it is asked for one beyond those that it shows. */
  beforeEach(() =>
    filing.provider.answer('/entries', (response, request) => {
      const query = new URL(request.url ?? '', 'http://provider').searchParams;
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
      const rows = Array.from({ length: limit }, (_, index) => ({ id: offset + index }));
      const answer = offset + limit > 40 ? json({ error: 'too far' }, 400) : json(rows);
      answer(response, request);
    }),
  );

  it('is not asked for more, and the answer says that there may be', async () => {
    const { status, body, headers } = await list();
    expect([status, body.length, headers.get('elements-partial-result')]).to.deep.equal([200, 40, 'result-window']);
    expect(headers.get('elements-next-page-token')).to.equal(null);
  });

  it('gives them in pages, of which the last says so', async () => {
    const first = await list('?pageSize=20');
    expect(first.headers.get('elements-partial-result')).to.equal(null);
    const last = await list(`?pageSize=20&nextPage=${first.headers.get('elements-next-page-token')}`);
    expect(last.body.at(-1)).to.deep.equal({ id: 39 });
    expect(last.headers.get('elements-partial-result')).to.equal('result-window');
    expect(last.headers.get('elements-next-page-token')).to.equal(null);
  });

  it('has its window in the metadata, and cannot have its rows sorted here', async () => {
    const { token } = filing.instance;
    const body = await service.get('/objects/entries/metadata', { token });
    expect(body.limits).to.deep.equal({ resultWindow: 40, maxPageSize: 20 });
    const message =
      "The provider cannot sort by 'id', and Causeway cannot sort the rows itself, because the provider returns only 40 of them. Narrow the filter.";
    expectProblem(await list('?orderBy=id%20desc'), 'WHERE_UNSUPPORTED', message);
  });
});
