import { expect } from 'chai';
import odata from '../../../connectors/odata/index.ts';
import type { Config } from '../../../src/connector/contract.ts';
import type { AppError } from '../../../src/errors.ts';
import { resolveConfiguration } from '../../../src/instances/configuration.ts';
import { assertInterval, readPollSettings } from '../../../src/instances/polling/poll-settings.ts';

const ENABLED = {
  'base.url': 'https://service.example.com/odata',
  'event.notification.enabled': true,
  'event.notification.callback.url': 'https://receiver.example.com/',
};
const CONFIGURATION = 'event.poller.configuration';

const resolve = (given: object): Config => resolveConfiguration(odata, { ...ENABLED, ...given });
const read = (given: object, polls: readonly string[] = []) =>
  readPollSettings(resolve(given), { objects: async () => ({}), polls });
const namesIn = (given: object, defaults?: readonly string[]) =>
  read(given, defaults)?.resources.map(({ name }) => name);

/** @returns the faults as `path: message`, the paths without what all of them begin with */
function faultsOf(given: object): readonly string[] {
  try {
    resolve(given);
    return [];
  } catch (error) {
    const { details = [] } = error as AppError;
    return details.map(({ path, message }) => `${path?.replace('/body/configuration/', '')}: ${message}`);
  }
}

const faultsOfResource = (resource: unknown) => faultsOf({ [CONFIGURATION]: { contacts: resource } });

describe('settings of polls', () => {
  const CONTACTS = {
    url: "/contacts?where=modified >= '${date:yyyy-MM-dd}'&pageSize=7",
    idField: 'contactId',
    datesConfiguration: {
      updatedDateField: 'modified',
      updatedDateFormat: 'dd.MM.yyyy HH:mm',
      createdDateField: 'made',
      createdDateFormat: 'dd.MM.yyyy',
    },
    filterByUpdatedDate: true,
    createdCheckTolerance: 30,
    pageSize: 50,
    pollDelay: 90,
  };
  const checkContacts = (configuration: unknown) => {
    const settings = read({ [CONFIGURATION]: configuration, 'event.poller.time.zone': 'Europe/Berlin' });
    const [contacts] = settings?.resources ?? [];
    expect(contacts).to.include({
      name: 'contacts',
      idField: 'contactId',
      filterByUpdated: true,
      createdToleranceMs: 30_000,
      pageSize: 50,
      overlapMs: 90_000,
    });
    expect(contacts?.query).to.include({ objectName: 'contacts', pageSize: 7 });
    expect([contacts?.updated?.field, contacts?.created?.field]).to.deep.equal(['modified', 'made']);
    expect(contacts?.updated?.read('02.01.2030 12:00')).to.equal(Date.parse('2030-01-02T11:00:00Z'));
  };

  it('are an object by the names of resources', () => checkContacts({ contacts: CONTACTS }));

  it('may be the JSON text of one, in which everything may be a text', () => {
    const texts = { filterByUpdatedDate: 'true', createdCheckTolerance: '30', pageSize: '50', pollDelay: '90' };
    checkContacts(JSON.stringify({ contacts: CONTACTS }));
    checkContacts(JSON.stringify({ contacts: { ...CONTACTS, ...texts } }));
  });

  it('have defaults: 15 minutes, UTC, no backfill, two seconds', () => {
    const settings = read({ [CONFIGURATION]: { contacts: {} } });
    expect(settings).to.deep.include({ intervalMs: 15 * 60_000, backfill: false });
    expect(settings?.zone.id()).to.equal('UTC');
    expect(settings?.resources).to.deep.equal([
      {
        name: 'contacts',
        query: undefined,
        idField: undefined,
        updated: undefined,
        created: undefined,
        filterByUpdated: false,
        createdToleranceMs: 2_000,
        pageSize: undefined,
        overlapMs: undefined,
      },
    ]);
  });

  it('may be texts on the outside, too', () => {
    const settings = read({
      'event.notification.enabled': 'true',
      'event.poller.refresh_interval': '5',
      'event.poller.backfill': 'true',
      'event.objects': 'orders',
    });
    expect(settings).to.deep.include({ intervalMs: 5 * 60_000, backfill: true });
  });

  it('take null and an empty text of a member as absent', () => {
    expect(faultsOfResource({ url: '', idField: null, datesConfiguration: null, pageSize: '' })).to.deep.equal([]);
  });

  it('name objects by `event.objects`, beside those of the configuration, once each', () => {
    expect(namesIn({ 'event.objects': 'orders, contacts,,' })).to.deep.equal(['orders', 'contacts']);
    expect(namesIn({ 'event.objects': 'orders,contacts', [CONFIGURATION]: { contacts: {} } })).to.deep.equal([
      'contacts',
      'orders',
    ]);
  });

  it('are those of the element when nothing is named, as soon as polling is asked for', () => {
    const defaults = ['people'];
    expect(namesIn({ 'event.vendor.type': 'polling' }, defaults)).to.deep.equal(['people']);
    expect(namesIn({ 'event.poller.refresh_interval': 5 }, defaults)).to.deep.equal(['people']);
    expect(namesIn({ 'event.poller.refresh_interval': 5, 'event.objects': 'orders' }, defaults)).to.deep.equal([
      'orders',
    ]);
    expect(namesIn({}, defaults)).to.equal(undefined);
  });

  it('are none while events are off, and where the provider sends webhooks', () => {
    expect(namesIn({ 'event.objects': 'orders', 'event.notification.enabled': false })).to.equal(undefined);
    expect(namesIn({ 'event.objects': 'orders', 'event.vendor.type': 'webhook' })).to.equal(undefined);
  });

  const path = `${CONFIGURATION}/contacts`;
  const name = `${CONFIGURATION}.contacts`;
  const FAULTS: readonly (readonly [resource: unknown, ...faults: readonly string[]])[] = [
    [7, `${path}: '${name}' must be an object.`],
    [[], `${path}: '${name}' must be an object.`],
    [{ idFeild: 'x' }, `${path}/idFeild: '${name}.idFeild' is unknown. Did you mean 'idField'?`],
    [{ url: 7 }, `${path}/url: '${name}.url' must be a text.`],
    [
      { url: '/contacts?where=modified >=' },
      `${path}/url: '${name}.url' cannot be used: The filter cannot be read at position 11: Expected a value, found the end.`,
    ],
    [
      { filterByUpdatedDate: 'yes' },
      `${path}/filterByUpdatedDate: '${name}.filterByUpdatedDate' must be true or false.`,
    ],
    [
      { createdCheckTolerance: -1 },
      `${path}/createdCheckTolerance: '${name}.createdCheckTolerance' must be a number from 0 to 86400.`,
    ],
    [{ pageSize: 0 }, `${path}/pageSize: '${name}.pageSize' must be a whole number from 1 to 5000.`],
    [{ pageSize: 2.5 }, `${path}/pageSize: '${name}.pageSize' must be a whole number from 1 to 5000.`],
    [{ pageSize: {} }, `${path}/pageSize: '${name}.pageSize' must be a whole number from 1 to 5000.`],
    [{ pageSize: ' ' }, `${path}/pageSize: '${name}.pageSize' must be a whole number from 1 to 5000.`],
    [{ pollDelay: true }, `${path}/pollDelay: '${name}.pollDelay' must be a number from 0 to 2592000.`],
    [{ datesConfiguration: 'x' }, `${path}/datesConfiguration: '${name}.datesConfiguration' must be an object.`],
    [
      { datesConfiguration: { updatedDateFormat: 'yyyy-MM-ddTHH' } },
      `${path}/datesConfiguration/updatedDateFormat: '${name}.datesConfiguration.updatedDateFormat' cannot be used: 'yyyy-MM-ddTHH' is not a Java date pattern: 'T' is not a pattern letter. Write text in single quotes.`,
    ],
    [
      { datesConfiguration: { updated: 'x' }, idField: 5 },
      `${path}/datesConfiguration/updated: '${name}.datesConfiguration.updated' is unknown.`,
      `${path}/idField: '${name}.idField' must be a text.`,
    ],
  ];
  for (const [resource, ...faults] of FAULTS) {
    it(`say what is wrong with ${JSON.stringify(resource)}, and where`, () => {
      expect(faultsOfResource(resource)).to.deep.equal(faults);
      expect(faultsOf({ [CONFIGURATION]: JSON.stringify({ contacts: resource }) })).to.deep.equal(faults);
    });
  }

  it('say what is wrong with the rest, and where', () => {
    expect(
      faultsOf({
        'event.poller.refresh_interval': -1,
        'event.poller.time.zone': 'Europe/Atlantis',
        'event.vendor.type': 'poll',
        'event.poller.backfill': 'maybe',
      }).map((fault) => fault.split(':')[0]),
    ).to.have.members([
      'event.poller.refresh_interval',
      'event.poller.time.zone',
      'event.vendor.type',
      'event.poller.backfill',
    ]);
    for (const notObject of ['[]', '{', '7', '"x"'])
      expect(faultsOf({ [CONFIGURATION]: notObject })[0]).to.match(
        /^event\.poller\.configuration: .*must be an object/,
      );
    expect(faultsOf({ [CONFIGURATION]: { '': {} } })[0]).to.match(/must have a name of 1 to 200 characters/);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`r${index}`, {}]));
    expect(faultsOf({ [CONFIGURATION]: many })).to.deep.equal([
      `${CONFIGURATION}: '${CONFIGURATION}' names more than 100 resources.`,
    ]);
  });

  it('are wrong while events are off, too: nobody finds out later', () => {
    const off = { 'event.notification.enabled': false, [CONFIGURATION]: { contacts: { pageSize: 0 } } };
    expect(faultsOf(off)).to.have.length(1);
  });

  it('have an interval that a process allows', () => {
    const given = { 'event.poller.refresh_interval': 0.5 };
    expect(() => assertInterval(given, 60_000)).to.throw("'event.poller.refresh_interval' must be at least 1 minutes.");
    expect(() => assertInterval(given, 1_000)).not.to.throw();
    expect(() => assertInterval({}, 60_000)).not.to.throw();
  });
});
