import { AppError } from '../errors.ts';
import { readFeed } from './feed.ts';
import { createLook, type EarlyEnd, type RunInput, type RunPorts, type RunTally } from './look.ts';
import { planPoll } from './plan.ts';
import { readSnapshot } from './snapshot.ts';
import { readWindow } from './window.ts';

/**
 * Looks once for changes, and makes events of them. `tally` is kept up to date also when it throws.
 * @throws PollLost; AppError as calls of the provider do; the reason of the signal
 */
export async function runPoll(ports: RunPorts, input: RunInput, tally: RunTally): Promise<EarlyEnd | undefined> {
  const { instance, resource, settings, signal } = input;
  const { hub, objectName = resource.name } = resource.query ?? {};
  if (hub !== undefined && hub !== instance.connector.hub) {
    throw new AppError(
      'NOT_FOUND',
      `The element of this instance is in the hub '${instance.connector.hub}', not '${hub}'.`,
    );
  }
  const object = await ports.resources.getObject({ instance, objectName, signal });
  const look = createLook(ports, input, planPoll(resource, settings, object), tally);
  const { plan } = look;
  const wait = look.endEarly(false);
  if (wait !== undefined) return wait;
  if (plan.hasFeed) {
    const end = await readFeed(look);
    if (plan.kind === 'feed' || end !== undefined) return end;
  }
  return plan.kind === 'snapshot' ? readSnapshot(look) : readWindow(look);
}
