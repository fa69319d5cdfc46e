import { defineConnector, errors } from '#connector';
import { CONFIGURATION, credentialsOf, setting } from './config.ts';
import { examineService } from './examine.ts';
import { discoverObjects } from './objects.ts';
import { cloudEvents } from './webhooks.ts';

/** The connector for any OData 4 service. It reads the objects and fields from the service's `$metadata`. */
export default defineConnector({
  key: 'odata',
  id: 1001,
  contract: 1,
  name: 'OData',
  description:
    'Any service that speaks OData 4.0 or 4.01: every entity set becomes an object, discovered from its metadata.',
  hub: 'general',
  mark: { shape: 'table', colour: 'cyan' },
  documentation: [
    {
      title: 'OData 4.01, Part 1: Protocol',
      url: 'https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part1-protocol.html',
    },
    { title: 'About OData', url: 'https://www.odata.org/documentation/' },
  ],
  auth: { type: 'basic', credentials: credentialsOf },
  configuration: CONFIGURATION,
  baseUrl: (config) => setting(config, 'base.url'),
  hosts: (config) => [new URL(setting(config, 'base.url')).host],
  headers: {
    // With IEEE754Compatible the service writes 64-bit integers and decimals as text, so that no digit is lost.
    accept: 'application/json;IEEE754Compatible=true',
    'odata-maxversion': '4.0',
  },
  objects: discoverObjects,
  operations: ['list', 'get', 'create', 'update', 'replace', 'remove'],
  // The probe reads the service document, because no name of an entity set is known in advance. If the service document is public,
  // `examine` reads sets.
  probe: { path: '/' },
  examine: examineService,
  webhooks: cloudEvents,
  // Every change has the header `If-Match: *`, which fails only if the record does not exist.
  classify: errors({ code: ({ status }) => status, kinds: { 412: 'notFound' } }),
});
