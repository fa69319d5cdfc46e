import { defineConnector, type Failure, type ProviderResponse } from '#connector';
import { credentialsOf } from './config.ts';
import { examineService } from './examine.ts';
import { discoverObjects } from './objects.ts';

/** Any OData 4 service; its objects and fields are read from its `$metadata`. */
export default defineConnector({
  key: 'odata',
  id: 1001,
  name: 'OData',
  description:
    'Any service that speaks OData 4.0 or 4.01: every entity set becomes an object, discovered from its metadata.',
  hub: 'general',
  auth: { type: 'basic', credentials: credentialsOf },
  configuration: [
    {
      key: 'base.url',
      type: 'url',
      required: true,
      description: 'The service root: the address in front of $metadata.',
      example: 'https://demo.example.com/odata/v4/shop',
    },
    { key: 'username', type: 'string', description: 'For basic authentication; leave out for a service without any.' },
    { key: 'password', type: 'string', secret: true, description: 'For basic authentication.' },
    {
      key: 'text.binary',
      type: 'boolean',
      default: false,
      description:
        'Set to true when the service compares text character by character (cases, accents and trailing blanks count). ' +
        'Filters on text are then answered by the service alone.',
    },
    {
      key: 'filter.local',
      type: 'boolean',
      default: false,
      description:
        'Set to true when the service filters wrongly: every filter is then worked out here, over all rows. ' +
        'What was noticed of that when the instance was made stands under filter.warning.',
    },
    {
      key: 'filter.warning',
      type: 'string',
      warning: true,
      description:
        'Set by Causeway, whatever is given: how the service was seen to filter wrongly. Absent when it was not.',
    },
    {
      key: 'credentials.warning',
      type: 'string',
      warning: true,
      description:
        'Set by Causeway, whatever is given: that the service did not show whether username and password are right. ' +
        'Absent when it did.',
    },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  headers: {
    // With IEEE754Compatible the service writes 64-bit and decimal numbers as text, so that no digit is lost.
    accept: 'application/json;IEEE754Compatible=true',
    'odata-maxversion': '4.0',
  },
  objects: discoverObjects,
  // The service document. No entity set has a name known beforehand. Where everybody may read it, `examine` tries sets.
  probe: { path: '/' },
  examine: examineService,
  classify,
});

/** Every change is sent with `If-Match: *`, which fails only where there is nothing to change. */
function classify(response: ProviderResponse): Failure | undefined {
  return response.status === 412 ? { kind: 'notFound' } : undefined;
}
