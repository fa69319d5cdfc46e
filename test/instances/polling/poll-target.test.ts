import { expect } from 'chai';
import bamboohr from '../../../connectors/bamboohr/index.ts';
import keap from '../../../connectors/keap/index.ts';
import odata from '../../../connectors/odata/index.ts';
import twilio from '../../../connectors/twilio/index.ts';
import type { Connector } from '../../../src/connector/contract.ts';
import { loadConnectors, OWN_CONNECTORS } from '../../../src/connector/registry.ts';
import { findPollFaults, readPollSettings } from '../../../src/instances/polling/poll-settings.ts';

const CONFIGURATION = 'event.poller.configuration';
const OWN_URLS = ['https://causeway.example.com', 'http://127.0.0.1:8080', 'http://localhost:8080'];

/** @returns the faults as `path: message`, the paths without what all of them begin with */
function faultsOf(element: Connector, resources: object, more = {}): readonly string[] {
  const config = { 'event.notification.enabled': true, [CONFIGURATION]: resources, ...more };
  return findPollFaults(config, element, { element, ownUrls: OWN_URLS }).map(
    ({ path, message }) => `${path?.replace('/body/configuration/', '')}: ${message}`,
  );
}

function polled(element: Connector, resources: object, more = {}) {
  const config = { 'event.notification.enabled': true, [CONFIGURATION]: resources, ...more };
  return readPollSettings(config, element)?.resources;
}

describe('what a poll asks', () => {
  for (const url of ['', '/elements/api-v2', ...OWN_URLS, ...OWN_URLS.map((own) => `${own}/elements/api-v2`)]) {
    it(`is this service: ${url}/messages`, () => {
      expect(faultsOf(twilio, { messages: { url: `${url}/messages` } })).to.deep.equal([]);
    });
  }

  for (const origin of ['https://api.cloud-elements.com', 'http://causeway.example.com', 'http://127.0.0.1:8081']) {
    it(`is no other service, which ${origin} is`, () => {
      const url = `${origin}/elements/api-v2/messages?where=dateSent >= '\${gmtDate:yyyy-MM-dd}'`;
      expect(faultsOf(twilio, { messages: { url } })).to.deep.equal([
        `${CONFIGURATION}/messages/url: '${CONFIGURATION}.messages.url' cannot be used: polls query this service at https://causeway.example.com, not ${origin}. Write '/messages?where=dateSent >= '\${gmtDate:yyyy-MM-dd}'' instead.`,
      ]);
    });
  }
});

describe('what a poll names', () => {
  const CASES: readonly (readonly [element: Connector, resources: object, faults: readonly string[]])[] = [
    [twilio, { messages: {}, calls: { url: '/calls' } }, []],
    [keap, { commissions: { url: '/affiliates/commissions' } }, []],
    [odata, { anything: {}, events: {} }, []],
    [bamboohr, { anything: {} }, []],
    [
      twilio,
      { mesages: {} },
      [
        `${CONFIGURATION}/mesages: '${CONFIGURATION}.mesages' cannot be used: Twilio has no object 'mesages'. Did you mean 'messages'? There are: messages, calls, recordings.`,
      ],
    ],
    [
      twilio,
      { messages: { url: '/sms' } },
      [
        `${CONFIGURATION}/messages/url: '${CONFIGURATION}.messages.url' cannot be used: Twilio has no object 'sms'. There are: messages, calls, recordings.`,
      ],
    ],
    [
      bamboohr,
      { employees: { url: '/hubs/crm/employees' } },
      [
        `${CONFIGURATION}/employees/url: '${CONFIGURATION}.employees.url' cannot be used: BambooHR is in the hub 'humancapital', not 'crm'.`,
      ],
    ],
    [
      twilio,
      { messages: { url: '/messages/1/media' } },
      [
        `${CONFIGURATION}/messages/url: '${CONFIGURATION}.messages.url' cannot be used: 'messages' of Twilio has no 'media' below a record.`,
      ],
    ],
  ];
  for (const [element, resources, faults] of CASES) {
    it(`is there, or is refused: ${element.key} ${JSON.stringify(resources)}`, () => {
      expect(faultsOf(element, resources)).to.deep.equal(faults);
    });
  }

  it('is there, or is refused, by name alone as well', () => {
    expect(faultsOf(twilio, {}, { 'event.objects': 'messages, cals' })).to.deep.equal([
      "event.objects: 'event.objects' cannot be used: Twilio has no object 'cals'. Did you mean 'calls'? There are: messages, calls, recordings.",
    ]);
  });
});

describe('the poll resource `events`', () => {
  const SINCE = "where=since='${gmtDate:yyyy-MM-dd'T'HH:mm:ssZ}'";
  const namesIn = (...given: Parameters<typeof polled>) => polled(...given)?.map(({ name, query }) => [name, query]);

  it('stands for what the element polls by itself, with the URL that it is known by and without', () => {
    for (const url of [undefined, '', '/events', `/hubs/humancapital/events?${SINCE}`]) {
      const events = { url, idField: 'employeeNumber', pageSize: 7 };
      expect(faultsOf(bamboohr, { events }), url).to.deep.equal([]);
      const [employees, ...others] = polled(bamboohr, { events }) ?? [];
      expect(employees, url).to.include({
        name: 'employees',
        query: undefined,
        idField: 'employeeNumber',
        pageSize: 7,
      });
      expect(others).to.deep.equal([]);
    }
    expect(namesIn(bamboohr, {}, { 'event.objects': 'events' })).to.deep.equal([['employees', undefined]]);
  });

  it('does so for every element that polls something by itself, and is refused for the others', async () => {
    for (const element of await loadConnectors({ folders: [OWN_CONNECTORS] })) {
      const { key, polls = [], objects } = element;
      const faults = faultsOf(element, { events: {} });
      if (polls.length === 0 && typeof objects !== 'function')
        expect(faults[0], key).to.match(/has no object 'events'/);
      else expect(faults, key).to.deep.equal([]);
      const names = polled(element, { events: {} })?.map(({ name }) => name);
      expect(names, key).to.deep.equal(polls.length === 0 ? ['events'] : polls);
    }
  });

  it('leaves what is named by itself as it is', () => {
    const resources = { events: {}, calls: { url: "/calls?where=status = 'busy'" } };
    expect(polled(twilio, resources)?.map(({ name, query }) => [name, query?.objectName])).to.deep.equal([
      ['messages', undefined],
      ['calls', 'calls'],
    ]);
  });

  it('polls what its URL names', () => {
    const [events] = polled(bamboohr, { events: { url: `/employees?where=status = 'Active'`, idField: 'id' } }) ?? [];
    expect([events?.name, events?.query?.objectName, events?.idField]).to.deep.equal(['events', 'employees', 'id']);
  });

  it('is the object of that name where there is one', () => {
    const objects = { events: { fields: {}, shape: { kind: 'none' }, translator: {}, list: {} } };
    const element = { ...twilio, objects } as unknown as Connector;
    expect(faultsOf(element, { events: {} })).to.deep.equal([]);
    expect(polled(element, { events: {} })?.map(({ name }) => name)).to.deep.equal(['events']);
  });

  for (const url of ["/events?where=status = 'Active'", `/events?${SINCE} and id = 7`, '/events?fields=id']) {
    it(`takes nothing but a time: ${url}`, () => {
      expect(faultsOf(bamboohr, { events: { url } })).to.deep.equal([
        `${CONFIGURATION}/events/url: '${CONFIGURATION}.events.url' cannot be used: '/events' means all changes since a time, and accepts only where=since='\${gmtDate:yyyy-MM-dd'T'HH:mm:ssZ}'. To select or sort records, use the path of their object instead.`,
      ]);
    });
  }
});
