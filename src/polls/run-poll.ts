import { assertInHub } from '../resources/objects.ts';
import { readFeed } from './feed.ts';
import { planPoll } from './plan.ts';
import { createRun, type EarlyEnd, MappingMissing, type RunInput, type RunPorts, type RunTally } from './run.ts';
import { readSnapshot } from './snapshot.ts';
import { readWindow } from './window.ts';

/**
 * Reads changes once and creates events from them. `tally` is up to date even if it throws.
 * @throws PollLost; MappingMissing; AppError as calls of the provider; the reason of the signal
 */
export async function runPoll(ports: RunPorts, input: RunInput, tally: RunTally): Promise<EarlyEnd | undefined> {
  const { poll, instance, resource, settings, signal } = input;
  const { hub, objectName = resource.name } = resource.query ?? {};
  if (hub !== undefined) assertInHub(instance, hub);
  // Without its mapping, the name may be that of an object of the provider, whose records have another form.
  const wasMapped = poll.mappedObject === objectName;
  if (wasMapped && (await ports.resources.mappingVersionOf(instance, objectName)) === undefined)
    throw new MappingMissing(objectName);
  const object = await ports.resources.getObject({ instance, objectName, signal });
  const run = createRun(ports, input, planPoll(resource, settings, object), tally);
  const { plan } = run;
  const wait = run.endEarly(false);
  if (wait !== undefined) return wait;
  if (plan.hasFeed) {
    const end = await readFeed(run);
    if (plan.kind === 'feed' || end !== undefined) return end;
  }
  return plan.kind === 'snapshot' ? readSnapshot(run) : readWindow(run);
}
