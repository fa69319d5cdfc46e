import type { Connector, WebhookResponse, Webhooks } from './contract.ts';
import { when } from './problems.ts';

/** Maximum of `maxBytes`. The platform's own events have up to 8 MB, and what a provider sent is a part of one. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Returns the problems of a declaration of webhooks; none for a connector without one. */
export function webhookProblems(connector: Connector): readonly string[] {
  const { webhooks } = connector;
  if (webhooks === undefined) return [];
  const { verify, events, maxBytes = 1, response } = webhooks;
  return [
    // Connectors outside this repository may not be checked by a compiler.
    ...when(
      verify !== 'unsigned' && typeof verify !== 'function',
      "webhooks have no valid `verify`: a function, or 'unsigned'",
    ),
    ...when(typeof events !== 'function', 'webhooks have no `events`'),
    ...secretProblems(connector, webhooks),
    ...when(
      !Number.isSafeInteger(maxBytes) || maxBytes < 1 || maxBytes > MOST_BYTES,
      `maxBytes of webhooks is a whole number from 1 to ${MOST_BYTES}`,
    ),
    ...(response === undefined ? [] : responseProblems(response)),
    ...announcedProblems(connector, webhooks),
  ];
}

function announcedProblems({ objects }: Connector, { reports = {} }: Webhooks): readonly string[] {
  return Object.entries(reports).flatMap(([name, actions]) => [
    ...when(actions.length === 0, `webhooks have an empty list of actions for '${name}' in reports`),
    ...when(
      typeof objects !== 'function' && !Object.hasOwn(objects, name),
      `webhooks name '${name}' in reports, which is not an object of the connector`,
    ),
  ]);
}

function secretProblems(
  { configuration }: Connector,
  { verify, secretKey, signingKey, registration }: Webhooks,
): readonly string[] {
  const field = configuration.find(({ key }) => key === secretKey);
  return [
    ...when(
      typeof verify === 'function' && [secretKey, signingKey, registration].every((source) => source === undefined),
      'webhooks are verified without a secret: declare a secretKey, a signingKey or a registration',
    ),
    ...when(secretKey !== undefined && signingKey !== undefined, 'webhooks have a secretKey and a signingKey'),
    ...when(verify === 'unsigned' && secretKey !== undefined, 'webhooks are unsigned, and have a secretKey'),
    ...when(
      secretKey !== undefined && (field?.secret !== true || field.type !== 'string'),
      `the secretKey '${secretKey}' of webhooks is not a configuration key of a secret text`,
    ),
  ];
}

function responseProblems({ status, headers }: WebhookResponse): readonly string[] {
  return [
    ...when(!(status >= 200 && status <= 299), 'the response of webhooks is not a success'),
    ...Object.keys(headers)
      .filter((name) => !/^[a-z0-9-]+$/.test(name))
      .map((name) => `the response of webhooks has the header '${name}', which is not in lower case`),
  ];
}
