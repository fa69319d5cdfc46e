import { sayLacking, useMay } from '../who.ts';
import type { Level } from './transformation-form.ts';

/** The owner of fields of a definition. */
export type Owner =
  | { readonly level: 'organization' | 'account' }
  | { readonly level: 'instance'; readonly instanceId: number };

type Action = 'create' | 'edit' | 'delete';

/** Returns the privileges that a change at a level needs. The user must have all of them. */
function needed(level: Level, action: Action): readonly string[] {
  const own = `${action}CommonObjects`;
  const byLevel: Readonly<Record<Level, readonly string[]>> = {
    organization: [own, 'manageOrganization'],
    account: [own],
    instance: ['createElementInstances'],
  };
  return byLevel[level];
}

/** Returns the attributes of a control that changes a level. Users without the privileges get a disabled control with the reason. */
export type LevelNeeds = (level: Level, action: Action) => { readonly disabled?: true; readonly title?: string };

export function useLevelNeeds(): LevelNeeds {
  const may = useMay();
  return (level, action) => {
    const lacking = needed(level, action).find((privilege) => !may(privilege));
    return lacking === undefined ? {} : { disabled: true, title: sayLacking(lacking) };
  };
}

/** Returns the attributes of a control that changes one of several levels. The user needs the privileges of one of them. */
export function needsOneOf(needs: LevelNeeds, levels: readonly Level[], action: Action): ReturnType<LevelNeeds> {
  const all = levels.map((level) => needs(level, action));
  return all.find(({ disabled }) => disabled !== true) ?? all[0] ?? {};
}

const SHARED = ['organization', 'account'] as const;

/** Returns the levels above instances at which the user may do something, the highest first. */
export function useSharedLevels(action: Action): readonly (typeof SHARED)[number][] {
  const needs = useLevelNeeds();
  return SHARED.filter((level) => needs(level, action).disabled !== true);
}
