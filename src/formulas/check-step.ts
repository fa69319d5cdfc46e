import type { Faults, PointerSegments } from '../mappings/faults.ts';
import { ExactNumber } from '../numbers/exact-json.ts';
import type { StepDraft, TriggerDraft } from './draft.ts';
import { STEP_TYPES, type StepType, TRIGGER_TYPES, type TriggerType } from './model.ts';
import { findCronFault } from './schedule.ts';
import { parseStatusCodes } from './status-codes.ts';

/** A part of a body. */
export type GivenPart = Readonly<Record<string, unknown>>;

export interface StepLimits {
  /** Minimum time between two firings of a schedule, in milliseconds. */
  readonly leastScheduleMs: number;
}

export const LONGEST_NAME = 255;
const LONGEST_DESCRIPTION = 4_000;
/** Steps that follow one step. */
const MOST_NEXT = 100;
const MAX_RETRIES = 5;
/** Runs that a step plans one after the other. */
const MAX_RUNS = 7;

/** Types of steps that the original had, and that are not there any more. */
const WITHDRAWN: readonly string[] = ['notification', 'java', 'transform'];
/** Other names of types. */
const SYNONYMS: Readonly<Record<string, StepType>> = { platformRequest: 'request' };
const REQUESTS: readonly StepType[] = ['elementRequest', 'request', 'httpRequest'];
/** Path segments that follow the id of a bulk job and are no files. */
const OF_BULK_JOB: readonly string[] = ['status', 'errors', 'cancel'];

/** Reads a step. Undefined: it has no name or type that could be used. */
export function readStep(given: GivenPart, segments: PointerSegments, faults: Faults): StepDraft | undefined {
  const name = readName(given.name, [...segments, 'name'], faults);
  const type = readStepType(given.type, [...segments, 'type'], faults);
  const next = readNext(given, segments, faults);
  const properties = readProperties(given.properties);
  const description = readText(given.description, [...segments, 'description'], faults);
  if (type !== undefined) checkProperties(type, properties, [...segments, 'properties'], faults);
  if (name === undefined || type === undefined) return undefined;
  return { name, ...(description !== undefined && { description }), type, ...next, properties };
}

/** Reads a trigger. Undefined: it has no type that could be used. */
export function readTrigger(
  given: GivenPart,
  segments: PointerSegments,
  faults: Faults,
  { leastScheduleMs }: StepLimits,
): TriggerDraft | undefined {
  const isUnnamed = given.name === undefined || given.name === null || given.name === '';
  const name = isUnnamed ? 'trigger' : readName(given.name, [...segments, 'name'], faults);
  const type = readTriggerType(given.type, [...segments, 'type'], faults);
  const next = readNext(given, segments, faults);
  const properties = readProperties(given.properties);
  if (type === 'scheduled') checkCron(properties.cron, [...segments, 'properties', 'cron'], faults, leastScheduleMs);
  if (name === undefined || type === undefined) return undefined;
  return { name, type, async: given.async !== false, ...next, properties };
}

/** Reads a name that becomes a key in values of executions. */
export function readName(given: unknown, segments: PointerSegments, faults: Faults): string | undefined {
  const fault = findNameFault(given);
  if (fault !== undefined) faults.note(segments, fault);
  return typeof given === 'string' && fault === undefined ? given : undefined;
}

function findNameFault(given: unknown): string | undefined {
  if (given === undefined || given === null) return 'is missing.';
  if (typeof given !== 'string') return 'must be a text.';
  if (given.trim() === '') return 'must not be blank.';
  if (given.length > LONGEST_NAME) return `must have at most ${LONGEST_NAME} characters; it has ${given.length}.`;
  return given === '__proto__' ? 'cannot be __proto__. Choose another name.' : undefined;
}

/** Reads an optional text. */
export function readText(given: unknown, segments: PointerSegments, faults: Faults): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string') faults.note(segments, 'must be a text.');
  else if (given.length > LONGEST_DESCRIPTION)
    faults.note(segments, `must have at most ${LONGEST_DESCRIPTION} characters; it has ${given.length}.`);
  return typeof given === 'string' ? given : undefined;
}

function readStepType(given: unknown, segments: PointerSegments, faults: Faults): StepType | undefined {
  if (typeof given !== 'string' || given === '') {
    faults.note(segments, 'is missing. Name the type of the step.', { expected: STEP_TYPES });
    return undefined;
  }
  const type = STEP_TYPES.find((each) => each === given) ?? SYNONYMS[given];
  if (type !== undefined) return type;
  if (WITHDRAWN.includes(given))
    faults.note(
      segments,
      `must not be ${given}: that type is not available any more. Use script, with notify.email(to, subject, body) for a mail.`,
    );
  else faults.noteUnknown(segments, 'type of a step', given, STEP_TYPES);
  return undefined;
}

function readTriggerType(given: unknown, segments: PointerSegments, faults: Faults): TriggerType | undefined {
  const type = TRIGGER_TYPES.find((each) => each === given);
  if (type === undefined && (typeof given !== 'string' || given === ''))
    faults.note(segments, 'is missing. Name the type of the trigger.', { expected: TRIGGER_TYPES });
  else if (type === undefined) faults.noteUnknown(segments, 'type of a trigger', String(given), TRIGGER_TYPES);
  return type;
}

function readNext(given: GivenPart, segments: PointerSegments, faults: Faults) {
  return {
    onSuccess: readNames(given.onSuccess, [...segments, 'onSuccess'], faults),
    onFailure: readNames(given.onFailure, [...segments, 'onFailure'], faults),
  };
}

function readNames(given: unknown, segments: PointerSegments, faults: Faults): readonly string[] {
  const names: readonly unknown[] = Array.isArray(given) ? given : [];
  if (names.length > MOST_NEXT) faults.note(segments, `must have at most ${MOST_NEXT} names; it has ${names.length}.`);
  return names.filter((name) => typeof name === 'string' && name !== '').map(String);
}

function readProperties(given: unknown): GivenPart {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...given } : {};
}

type CheckProperty = (value: unknown, segments: PointerSegments, faults: Faults) => void;

const REQUEST_CHECKS: Readonly<Record<string, CheckProperty>> = {
  retryAttempts: (value, segments, faults) => checkAttempts(value, segments, faults, MAX_RETRIES),
  retryDelay: checkDelay,
  retryStatusCodes: checkCodes,
  acceptableStatusCodes: checkCodes,
};

/** Checks the properties of a type. What is missing is only found by the validation, as formulas are built piece by piece. */
function checkProperties(type: StepType, properties: GivenPart, segments: PointerSegments, faults: Faults): void {
  const checks: Readonly<Record<string, CheckProperty>> = REQUESTS.includes(type)
    ? REQUEST_CHECKS
    : type === 'retryFormulaExecution'
      ? { retryAttempts: (value, at, noted) => checkAttempts(value, at, noted, MAX_RUNS) }
      : {};
  for (const [name, check] of Object.entries(checks)) {
    const value = properties[name];
    if (isGiven(value) && !isReference(value)) check(value, [...segments, name], faults);
  }
  if (type === 'elementRequest') checkApi(properties.api, [...segments, 'api'], faults);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Returns whether a value is only known when the step runs. */
export function isReference(value: unknown): boolean {
  return typeof value === 'string' && value.includes('${');
}

function checkAttempts(value: unknown, segments: PointerSegments, faults: Faults, max: number): void {
  const count = wholeNumber(value);
  if (count === undefined || count < 1 || count > max)
    faults.note(segments, `must be a whole number from 1 to ${max} (retryAttempts).`);
}

function checkDelay(value: unknown, segments: PointerSegments, faults: Faults): void {
  if (wholeNumber(value) === undefined) faults.note(segments, 'must be a whole number of milliseconds, 0 or more.');
}

function checkCodes(value: unknown, segments: PointerSegments, faults: Faults): void {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || parseStatusCodes(text) === undefined)
    faults.note(segments, 'must be a status code, a range such as 401-405, or a list of these such as 401-405,500.');
}

/** Returns a whole number that is 0 or more, which may be a text. */
export function wholeNumber(value: unknown): number | undefined {
  const text = typeof value === 'number' || value instanceof ExactNumber ? String(value) : value;
  return typeof text === 'string' && /^\s*\d{1,12}\s*$/.test(text) ? Number(text) : undefined;
}

function checkApi(value: unknown, segments: PointerSegments, faults: Faults): void {
  if (typeof value !== 'string') return;
  const [path = ''] = value.replaceAll(/\$\{[^}]*\}/g, 'x').split('?', 1);
  const [, objectName = ''] = /(?:^|\/)bulk\/[^/]+\/([^/]+)\/?$/.exec(path) ?? [];
  if (objectName !== '' && !OF_BULK_JOB.includes(objectName))
    faults.note(segments, 'must not be a bulk download. Use a step of the type elementRequestStream for files.');
}

/** Checks the cron expression of a trigger. One with references is checked with the values of each formula instance. */
function checkCron(value: unknown, segments: PointerSegments, faults: Faults, leastMs: number): void {
  if (!isGiven(value) || isReference(value)) return;
  const fault = typeof value === 'string' ? findCronFault(value, leastMs) : 'must be a text.';
  if (fault !== undefined) faults.note(segments, fault);
}
