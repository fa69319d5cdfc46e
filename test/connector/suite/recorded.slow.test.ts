import { expect } from 'chai';
import type { Connector, ProviderRequest, ProviderResponse } from '#connector';
import { connect, serveSimulator } from '#connector/testing';
import clover from '../../../connectors/clover/index.ts';
import * as simulated from '../../../connectors/clover/simulator.ts';
import connectwise from '../../../connectors/connectwise/index.ts';
import { createSimulator, DEMO_CONFIGURATION } from '../../../connectors/connectwise/simulator.ts';
import odata from '../../../connectors/odata/index.ts';
import { findRecordedFaults, type Recordings } from '../../../suite/recorded.ts';
import { type Fixture, scrub } from '../../../suite/scrub.ts';

const CLOVER = { ...simulated.DEMO_CONFIGURATION, 'oauth.user.token': simulated.DEMO_ACCESS_TOKEN };

/** What the probe writes of the lists of a connector. */
async function record(connector: Connector, create: typeof createSimulator, config: object): Promise<Recordings> {
  const { simulatorsUrl, stop } = await serveSimulator(connector.key, create);
  let fixtures: Fixture[] = [];
  const onExchange = (request: ProviderRequest, response: ProviderResponse) =>
    void fixtures.push(scrub(request, response));
  const connection = connect(connector, { config: { ...config }, simulatorsUrl, onExchange });
  const objects = typeof connector.objects === 'function' ? {} : connector.objects;
  const recordings: Record<string, readonly Fixture[]> = {};
  for (const [name, object] of Object.entries(objects)) {
    await connection.listAll(object, { limit: 20 });
    recordings[name] = fixtures;
    fixtures = [];
  }
  await stop();
  return recordings;
}

describe('a connector on recorded answers', function suite() {
  this.timeout(60_000);
  let recordings: Recordings;

  before(async () => {
    recordings = await record(connectwise, createSimulator, DEMO_CONFIGURATION);
  });

  const faultsOf = (changed: Recordings = recordings, connector: Connector = connectwise) =>
    findRecordedFaults({ connector, recordings: changed, configuration: DEMO_CONFIGURATION });

  it('reads each object again, also one whose parts are many calls', async () => {
    expect(Object.keys(recordings)).to.have.length(7);
    expect(await faultsOf()).to.deep.equal([]);
    const orders = await record(clover, simulated.createSimulator, CLOVER);
    expect(await findRecordedFaults({ connector: clover, recordings: orders, configuration: CLOVER })).to.deep.equal(
      [],
    );
  });

  it('is told of values of another type, and of rows without an id', async () => {
    const [{ request, response } = { request: {}, response: { status: 0, headers: {}, body: [] } }] = [
      ...(recordings.contacts ?? []),
    ];
    const rows = [{ id: 1, inactiveFlag: 'x' }, { firstName: 'X' }];
    const contacts = [{ request, response: { ...response, body: rows } }];
    expect(await faultsOf({ contacts })).to.deep.equal([
      'contacts.inactiveFlag is "x", which is no boolean.',
      'contacts has a row without id.',
    ]);
  });

  it('is told of requests that were not recorded, and of answers without a row', async () => {
    const [first] = recordings.contacts ?? [];
    if (first === undefined) throw new Error('Nothing was recorded.');
    const elsewhere = { ...first, request: { ...first.request, path: '/company/others' } };
    const [unasked = ''] = await faultsOf({ contacts: [elsewhere] });
    expect(unasked).to.match(/^contacts: /);
    const nothing = { ...first, response: { ...first.response, body: [] } };
    expect(await faultsOf({ contacts: [nothing] })).to.deep.equal([
      'contacts: no row was read of the recorded answers.',
    ]);
    expect(await faultsOf({})).to.deep.equal(['No object of connectwise was recorded: run the probe with --out.']);
    expect(await faultsOf(recordings, odata)).to.deep.equal([
      'odata discovers its objects, which recorded answers cannot describe.',
    ]);
  });
});
