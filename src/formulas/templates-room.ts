import type { Registry } from '../connector/registry.ts';
import type { Instances } from '../instances/instances.ts';
import type { Platform } from '../platform.ts';
import type { FindUse } from './check-resource.ts';
import { createFormulaInstances } from './formula-instances.ts';
import { createFormulaJobs } from './jobs.ts';
import { createTemplates } from './templates.ts';
import { createTemplateParts } from './templates-parts.ts';
import { createValidation } from './validation.ts';

export { createNoteElementRemoval } from './formula-instances.ts';

interface TemplateRoomNeighbours {
  readonly registry: Pick<Registry, 'connectors'>;
  readonly instances: Pick<Instances, 'get'>;
  /** Names that paths of the platform begin with. */
  readonly reservedNames: ReadonlySet<string>;
  /** Whether only programs of this machine reach the service, so that schedules may be short. */
  readonly isLocal: boolean;
  readonly noteCreated: (accountId: number) => void;
}

export type TemplateRoom = ReturnType<typeof composeTemplates>;

const MINUTE_MS = 60_000;

/** Creates the templates of formulas and their instances. */
export function composeTemplates(
  platform: Pick<Platform, 'knex' | 'notifier' | 'clock' | 'egress' | 'shares'>,
  { registry, instances, reservedNames, isLocal, noteCreated }: TemplateRoomNeighbours,
) {
  const leastScheduleMs = (isLocal ? 1 : 15) * MINUTE_MS;
  const findUse = createFindUse(registry, reservedNames);
  const templates = createTemplates(platform, { leastScheduleMs, findUse, noteCreated });
  const formulaInstances = createFormulaInstances(platform, { templates, instances, findUse, leastScheduleMs });
  return {
    templates,
    parts: createTemplateParts(templates, { leastScheduleMs }),
    validation: createValidation(templates, { now: () => new Date(platform.clock.now()) }),
    formulaInstances,
    jobs: createFormulaJobs(platform, { formulaInstances }),
  };
}

/** Objects that are discovered are known for each instance only, so their names are not looked at. */
function createFindUse({ connectors }: Pick<Registry, 'connectors'>, reservedNames: ReadonlySet<string>): FindUse {
  const names = connectors.flatMap(({ objects }) =>
    typeof objects === 'function'
      ? []
      : Object.entries(objects).flatMap(([name, { aliases = [] }]) => [name, ...aliases]),
  );
  const segments = new Set(names.map((name) => (name.split('/')[0] ?? '').toLowerCase()));
  return (segment) => {
    if (reservedNames.has(segment)) return 'platform';
    return segments.has(segment.toLowerCase()) ? 'object' : undefined;
  };
}
