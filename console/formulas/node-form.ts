import type { NodeBody } from './calls.ts';
import type { Step, Trigger } from './flow.ts';
import { readTexts, type Texts, writeTexts } from './properties.ts';
import { infoOf } from './step-types.ts';

/** A step or a trigger with the texts of its controls. */
export interface NodeForm {
  readonly name: string;
  readonly description: string;
  readonly type: Step['type'] | Trigger['type'];
  readonly texts: Texts;
  readonly onSuccess: readonly string[];
  readonly onFailure: readonly string[];
}

/** Reads a step or a trigger into the form. Without one, the form is empty. */
export function readNode(before: Step | Trigger | undefined, isTrigger: boolean): NodeForm {
  const type = before?.type ?? (isTrigger ? 'event' : 'elementRequest');
  return {
    name: before?.name ?? (isTrigger ? 'trigger' : ''),
    description: before !== undefined && 'description' in before ? (before.description ?? '') : '',
    type,
    texts: readTexts(infoOf(type, isTrigger).fields, before?.properties ?? {}),
    onSuccess: before?.onSuccess ?? [],
    onFailure: before?.onFailure ?? [],
  };
}

/** Returns the body for the form. If the type has changed, properties that the new type does not have are left out. */
export function writeNode(form: NodeForm, before: Step | Trigger | undefined, isTrigger: boolean): NodeBody {
  const { name, description, type, texts, onSuccess, onFailure } = form;
  const stored = before?.type === type ? before.properties : {};
  return {
    name: name.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
    type,
    onSuccess: [...onSuccess],
    onFailure: [...onFailure],
    properties: { ...writeTexts(infoOf(type, isTrigger).fields, stored, texts) },
  };
}
