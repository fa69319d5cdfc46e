import type { Level } from './transformation-form.ts';

/** The level of a transformation, with its element or its instance. */
export type Target =
  | { readonly level: 'organization' | 'account'; readonly elementKey: string }
  | { readonly level: 'instance'; readonly instanceId: number };

export const LIST_PATH = '/console/mappings';
export const CATALOGUE_PATH = '/console/mappings/catalogue';

/** The tabs of a definition's page. The first one has an empty name. */
export type DefinitionTab = '' | 'transformations' | 'try';

export function pathOfDefinition(name: string, tab: DefinitionTab = ''): string {
  const path = `${LIST_PATH}/definitions/${encodeURIComponent(name)}`;
  return tab === '' ? path : `${path}/${tab}`;
}

/** Returns the path of the editor of a transformation. @param instanceId the instance whose fields and records the editor shows */
export function pathOfEditor(name: string, target: Target, instanceId?: number): string {
  const id = target.level === 'instance' ? String(target.instanceId) : encodeURIComponent(target.elementKey);
  return onInstance(`${pathOfDefinition(name)}/${target.level}/${id}`, instanceId);
}

/** Returns the path of the try-out of a definition on an instance. */
export function pathOfTryOut(name: string, instanceId: number | undefined): string {
  return onInstance(pathOfDefinition(name, 'try'), instanceId);
}

function onInstance(path: string, instanceId: number | undefined): string {
  return instanceId === undefined ? path : `${path}?instance=${instanceId}`;
}

/** A page below the list of definitions, as its address names it. */
export type MappingsAddress =
  | { readonly kind: 'list' | 'catalogue' | 'nowhere' }
  | { readonly kind: 'definition'; readonly name: string; readonly tab: DefinitionTab }
  | { readonly kind: 'editor'; readonly name: string; readonly target: Target };

const NOWHERE: MappingsAddress = { kind: 'nowhere' };

/** Reads the part of an address behind `/console/mappings`. */
export function readAddress(below: string | undefined): MappingsAddress {
  const [first = '', name = '', part = '', id = '', ...more] = (below ?? '').split('/').map(decode);
  if (first === '') return { kind: 'list' };
  if (first === 'catalogue') return name === '' ? { kind: 'catalogue' } : NOWHERE;
  if (first !== 'definitions' || name === '' || more.length > 0) return NOWHERE;
  if (id === '') return isTab(part) ? { kind: 'definition', name, tab: part } : NOWHERE;
  const target = readTarget(part, id);
  return target === undefined ? NOWHERE : { kind: 'editor', name, target };
}

function isTab(part: string): part is DefinitionTab {
  return part === '' || part === 'transformations' || part === 'try';
}

function readTarget(level: string, id: string): Target | undefined {
  if (level === 'organization' || level === 'account') return { level, elementKey: id };
  return level === 'instance' && /^[1-9]\d{0,14}$/.test(id) ? { level, instanceId: Number(id) } : undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the name of a level, with the id of its instance if it has one. */
export function sayLevel(level: Level | 'system', instanceId?: number): string {
  return level === 'instance' && instanceId !== undefined ? `instance #${instanceId}` : level;
}
