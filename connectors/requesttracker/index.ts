import { type Config, type ConfigField, defineConnector, errors, json, settings } from '#connector';
import { attachments, queues, tickets, transactions, users } from './objects.ts';
import { scrips, WEBHOOK_SECRET } from './webhooks.ts';

const CONFIGURATION = [
  {
    key: 'url',
    label: 'Address of Request Tracker',
    type: 'url',
    required: true,
    description: 'Address of Request Tracker: the part before `/Ticket/` or `/Dashboards/` in a browser.',
    example: 'https://tickets.example.com/rt',
    setup: [
      'Open Request Tracker in a browser and log in.',
      'Copy the address without the page: of `https://tickets.example.com/rt/Ticket/Display.html`, copy `https://tickets.example.com/rt`.',
    ],
  },
  {
    key: 'username',
    type: 'string',
    required: true,
    description: 'Name of a Request Tracker user.',
    setup: [
      'In Request Tracker open Admin → Users → Create, and let the user be granted rights.',
      'Give it the rights SeeQueue and ShowTicket, ShowTicketComments for comments, and CreateTicket, ModifyTicket and DeleteTicket for changes.',
    ],
  },
  {
    key: 'password',
    type: 'string',
    required: true,
    secret: true,
    description: 'Password of the user.',
    setup: ['Set a password for the user in Request Tracker, and enter it here.'],
  },
  WEBHOOK_SECRET,
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

/** The connector for Request Tracker 5 and later, with its REST 2 API. README.md lists the observed behaviour and its sources. */
export default defineConnector({
  key: 'requesttracker',
  id: 1013,
  contract: 1,
  name: 'Request Tracker',
  description: 'Tickets with their history, comments and attachments, users and queues.',
  hub: 'helpdesk',
  mark: { shape: 'ticket', colour: 'blue' },
  documentation: [
    { title: 'REST 2', url: 'https://docs.bestpractical.com/rt/5.0.3/RT/REST2.html' },
    { title: 'Query builder and TicketSQL', url: 'https://docs.bestpractical.com/rt/5.0.3/query_builder.html' },
  ],
  auth: {
    type: 'basic',
    credentials: (config) => ({ username: setting(config, 'username'), password: setting(config, 'password') }),
  },
  configuration: CONFIGURATION,
  baseUrl: (config) => `${rootOf(config)}/REST/2.0`,
  hosts: (config) => [new URL(rootOf(config)).host],
  headers: { accept: 'application/json' },
  probe: { path: '/rt' },
  classify: errors({ message: ({ body }) => json.findText(json.at(body, 'message'))?.replace(PLACE, '') }),
  objects: { tickets, transactions, attachments, users, queues },
  polls: ['tickets'],
  webhooks: scrips,
});

/** The position in Request Tracker's own code at which a query failed, which messages contain. */
const PLACE = / at \/\S+ line \d+\.\s*$/;

function rootOf(config: Config): string {
  return setting(config, 'url').replace(/\/+$/, '');
}
