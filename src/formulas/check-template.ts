import { AppError, cutText, type ErrorDetail, inWords, pointer } from '../errors.ts';
import { createFaults, type Faults, isObject, type PointerSegments } from '../mappings/faults.ts';
import { findCircle } from './check-circle.ts';
import { type FindUse, readResource } from './check-resource.ts';
import { checkScripts } from './check-scripts.ts';
import {
  type GivenPart,
  LONGEST_NAME,
  readName,
  readStep,
  readText,
  readTrigger,
  type StepLimits,
} from './check-step.ts';
import type { ContentDraft, StepDraft, TriggerDraft, VariableDraft } from './draft.ts';
import { ENGINES, type EngineName, type Formula, LIMITS } from './model.ts';

export interface CheckContext extends StepLimits {
  readonly findUse: FindUse;
}

/** The members of a template that are not versioned. */
export type TemplateValues = Pick<
  Formula,
  'name' | 'description' | 'active' | 'singleThreaded' | 'debugLoggingEnabled' | 'engine' | 'method' | 'uri'
>;

/** A template as a request gives it. */
interface TemplateDraft {
  readonly values: TemplateValues;
  readonly content: ContentDraft;
}

const MOST_VARIABLES = 500;
/** Maximum number of characters of the variables, the trigger and the steps of a formula, as JSON. */
const MOST_CHARACTERS = 2 * 1024 * 1024;

const DEFAULTS: TemplateValues = {
  name: '',
  description: null,
  active: true,
  singleThreaded: false,
  debugLoggingEnabled: true,
  engine: 'v3',
  method: null,
  uri: null,
};

/**
 * Reads the body of a whole template.
 * @throws AppError REQUEST_INVALID that names every fault; CONFLICT for two variables of one key
 */
export async function readTemplate(body: GivenPart, context: CheckContext): Promise<TemplateDraft> {
  const faults = createFaults('body');
  const values = readValues(body, DEFAULTS, faults, context);
  const content = readContent(body, faults, context);
  await checkScripts(content.steps, values.engine, (index) => ['steps', String(index)], faults);
  faults.throwIfAny();
  const draft = { values, content };
  assertWhole(draft, { uri: ['body', 'uri'], steps: ['body', 'steps'] });
  assertOneOfEachKey(content.configuration);
  return draft;
}

/**
 * Reads the members of a template that a request changes, on top of those that it has.
 * @throws AppError REQUEST_INVALID that names every fault
 */
export function readChanges(body: GivenPart, before: TemplateValues, context: CheckContext): TemplateValues {
  const faults = createFaults('body');
  const values = readValues(body, before, faults, context);
  faults.throwIfAny();
  return values;
}

/**
 * Reads the body of a variable.
 * @throws AppError REQUEST_INVALID
 */
export function readVariableBody(body: GivenPart): VariableDraft {
  return readOne(body, (given, faults) => readVariable(given, [], faults));
}

/**
 * Reads the body of a trigger.
 * @throws AppError REQUEST_INVALID
 */
export function readTriggerBody(body: GivenPart, limits: StepLimits): TriggerDraft {
  return readOne(body, (given, faults) => readTrigger(given, [], faults, limits));
}

/**
 * Reads the body of a step.
 * @throws AppError REQUEST_INVALID
 */
export async function readStepBody(body: GivenPart, engine: EngineName): Promise<StepDraft> {
  const faults = createFaults('body');
  const step = readStep(body, [], faults);
  if (step !== undefined) await checkScripts([step], engine, () => [], faults);
  faults.throwIfAny();
  if (step === undefined) throw new Error('A step without a fault cannot be read.');
  return step;
}

function readOne<Part>(body: GivenPart, read: (given: GivenPart, faults: Faults) => Part | undefined): Part {
  const faults = createFaults('body');
  const part = read(body, faults);
  faults.throwIfAny();
  if (part === undefined) throw new Error('A part without a fault cannot be read.');
  return part;
}

/** Absent members keep their values; null stands for the default. */
function readValues(
  body: GivenPart,
  before: TemplateValues,
  faults: Faults,
  { findUse }: CheckContext,
): TemplateValues {
  const name = 'name' in body ? readFormulaName(body.name, ['name'], faults) : before.name;
  if (name === '' && !('name' in body)) faults.note(['name'], 'is missing.');
  const given = <Name extends keyof TemplateValues>(member: Name): unknown =>
    body[member] === undefined ? before[member] : (body[member] ?? DEFAULTS[member]);
  const engine = ENGINES.find((each) => each === given('engine'));
  if (engine === undefined) faults.noteUnknown(['engine'], 'engine', cutText(String(body.engine)), ENGINES);
  const debugLoggingEnabled = given('debugLoggingEnabled') !== false;
  if (!debugLoggingEnabled && engine !== undefined && engine !== 'v3')
    faults.note(['debugLoggingEnabled'], `must be true with the engine ${engine}. Only v3 can do without.`);
  const resource = readResource({ method: given('method'), uri: given('uri') }, faults, findUse);
  return {
    name,
    description: body.description === undefined ? before.description : readDescription(body.description, faults),
    active: given('active') !== false,
    singleThreaded: given('singleThreaded') === true,
    debugLoggingEnabled,
    engine: engine ?? before.engine,
    method: resource?.method ?? null,
    uri: resource?.uri ?? null,
  };
}

function readDescription(given: unknown, faults: Faults): string | null {
  return readText(given, ['description'], faults) ?? null;
}

/** Reads the name of a formula or of a formula instance. */
export function readFormulaName(given: unknown, segments: PointerSegments, faults: Faults): string {
  if (typeof given !== 'string')
    faults.note(segments, given === undefined || given === null ? 'is missing.' : 'must be a text.');
  else if (given.trim() === '') faults.note(segments, 'must not be blank.');
  else if (given.length > LONGEST_NAME)
    faults.note(segments, `must have at most ${LONGEST_NAME} characters; it has ${given.length}.`);
  return typeof given === 'string' ? given : '';
}

function readContent(body: GivenPart, faults: Faults, context: CheckContext): ContentDraft {
  const configuration = readParts(body.configuration, ['configuration'], MOST_VARIABLES, faults, (given, segments) =>
    readVariable(given, segments, faults),
  );
  const triggers = readParts(body.triggers, ['triggers'], 1, faults, (given, segments) =>
    readTrigger(given, segments, faults, context),
  );
  const names = new Set<string>();
  const steps = readParts(body.steps, ['steps'], LIMITS.steps, faults, (given, segments) => {
    const step = readStep(given, segments, faults);
    if (step !== undefined && names.has(step.name))
      faults.note(
        [...segments, 'name'],
        `is '${cutText(step.name)}', which another step has. Names of steps are unique.`,
      );
    if (step !== undefined) names.add(step.name);
    return step;
  });
  return { configuration, triggers, steps };
}

function readParts<Part>(
  given: unknown,
  segments: PointerSegments,
  max: number,
  faults: Faults,
  read: (given: GivenPart, segments: PointerSegments) => Part | undefined,
): readonly Part[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) {
    faults.note(segments, 'must be a list.');
    return [];
  }
  if (given.length > max) {
    faults.note(segments, `must have at most ${max} ${max === 1 ? 'entry' : 'entries'}; it has ${given.length}.`);
    return [];
  }
  // Holes cannot be in JSON, so an entry that cannot be read has a fault.
  return given.flatMap((one: unknown, index) => {
    const at = [...segments, String(index)];
    if (!isObject(one)) {
      faults.note(at, 'must be an object.');
      return [];
    }
    return read(one, at) ?? [];
  });
}

function readVariable(given: GivenPart, segments: PointerSegments, faults: Faults): VariableDraft | undefined {
  const key = readName(given.key, [...segments, 'key'], faults);
  const type = readText(given.type, [...segments, 'type'], faults);
  const name = readText(given.name, [...segments, 'name'], faults);
  const description = readText(given.description, [...segments, 'description'], faults);
  if (key === undefined) return undefined;
  return {
    key,
    name: name ?? key,
    type: type === undefined || type === '' ? 'value' : type,
    ...(description !== undefined && { description }),
    required: given.required === true,
  };
}

/** Pointers to the members of the request at which faults of the whole template are noted. */
export interface WholePointers {
  readonly uri: PointerSegments;
  readonly steps: PointerSegments;
}

/**
 * Asserts what holds for a template as a whole.
 * @throws AppError REQUEST_INVALID
 */
export function assertWhole({ values, content }: TemplateDraft, pointers: WholePointers): void {
  const faults = createFaults();
  const { steps, triggers } = content;
  if (steps.length > LIMITS.steps)
    faults.note(pointers.steps, `would be step ${steps.length}; a formula has at most ${LIMITS.steps} steps.`);
  if (values.uri !== null && triggers[0]?.type !== 'manual')
    faults.note(pointers.uri, 'needs a manual trigger: a formula with a uri is started by requests.');
  const circle = findCircle(steps);
  if (circle !== undefined) {
    const names = [...circle, circle[0] ?? ''].map((name) => cutText(name)).join(' → ');
    faults.note(pointers.steps, `leads in a circle: ${names}. Only a loop can be part of a circle.`);
  }
  const { length } = JSON.stringify(content);
  if (length > MOST_CHARACTERS)
    faults.note(
      pointers.steps,
      `makes the formula too large: it would have ${length} characters as JSON, and can have ${MOST_CHARACTERS}.`,
    );
  faults.throwIfAny();
}

/** @throws AppError CONFLICT */
function assertOneOfEachKey(variables: readonly VariableDraft[]): void {
  const keys = new Set<string>();
  for (const [index, { key }] of variables.entries()) {
    if (keys.has(key)) throw keyTaken(key, pointer('body', 'configuration', String(index), 'key'));
    keys.add(key);
  }
}

/** Returns CONFLICT for a second variable of a key. */
export function keyTaken(key: string, path: string): AppError {
  const message = `${inWords(path)} is '${cutText(key)}', which another variable of the formula has. Choose another key.`;
  const details: readonly ErrorDetail[] = [{ path, message }];
  return new AppError('CONFLICT', message, { details });
}
