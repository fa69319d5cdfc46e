import type { Connector } from '../connector/contract.ts';
import { defined } from '../connector/kit/kinds.ts';
import { suggest } from '../errors.ts';
import {
  type BodyOf,
  checkIdentity,
  checkOnce,
  type FieldsByLevel,
  readFields,
  readMappedPath,
  readMappedType,
  splitByLevel,
} from './check-definition.ts';
import { readFieldEntries, readTransformationEntries } from './check-entries.ts';
import { createFaults, type Faults, isObject, type PointerSegments } from './faults.ts';
import { findVendorPathFault } from './field-paths.ts';
import {
  type FieldEntry,
  LEVELS,
  type MappingScript,
  type TransformationEntry,
  type TransformationField,
} from './model.ts';

/** Maximum size of a script in bytes. */
const MOST_SCRIPT_BYTES = 64 * 1024;

const LONGEST_NAME = 255;
/** Scripts of one transformation in a file: at most one for each level. */
const MOST_SCRIPTS = LEVELS.length;
const SCRIPT_TYPES = ['application/javascript', 'text/javascript'];
/** Entries that make the value of a field from elsewhere than one path of the provider's record. */
const MAKERS: readonly FieldEntry['type'][] = ['constant', 'join', 'first'];

/** A fault of the syntax of a script. */
interface SyntaxFault {
  readonly message: string;
  /** Offset in the script. */
  readonly position: number;
}

/** Finds the first fault of the syntax of a script. */
export type FindSyntaxFault = (body: string) => SyntaxFault | undefined;

/** A transformation, as a request gives it. */
export interface GivenTransformation extends FieldsByLevel<TransformationField> {
  readonly vendorName: string;
  readonly configuration: readonly TransformationEntry[];
  readonly script?: MappingScript;
}

interface TransformationContext {
  readonly connector: Connector;
  readonly findSyntaxFault: FindSyntaxFault | undefined;
}

/**
 * Reads the body of a transformation.
 * @throws AppError REQUEST_INVALID that names every fault
 */
export function readTransformation(body: unknown, of: BodyOf, ports: TransformationContext): GivenTransformation {
  const faults = createFaults(...(of.segments ?? ['body']));
  const given = readBody(isObject(body) ? body : {}, of, ports, faults);
  faults.throwIfAny();
  return given;
}

function readBody(
  body: Readonly<Record<string, unknown>>,
  of: BodyOf,
  { connector, findSyntaxFault }: TransformationContext,
  faults: Faults,
): GivenTransformation {
  checkIdentity(body, of, faults);
  if (body.isLegacy === true)
    faults.note(
      ['isLegacy'],
      'must not be true: it selects an old script engine that does not exist here. Send false, or leave it out.',
    );
  const vendorName = readVendorName(body.vendorName, connector, faults);
  const given = hasBody(body.script) ? body.script : (lowestScript(body.scripts) ?? body.script);
  const script = readScript(given, findSyntaxFault, faults);
  const configuration = readTransformationEntries(body.configuration, ['configuration'], faults);
  const fields = readFields(body.fields, faults, (field, segments) =>
    readField(field, segments, { hasScript: script !== undefined, faults }),
  );
  checkOnce(fields, faults);
  return { ...splitByLevel(fields, of, faults), vendorName, configuration, ...(script !== undefined && { script }) };
}

/** The objects of an element with discovered objects are known per instance only, so any name is accepted. */
function readVendorName(given: unknown, connector: Connector, faults: Faults): string {
  if (typeof given !== 'string' || given === '' || given.length > LONGEST_NAME) {
    const text = given === undefined ? 'is missing.' : `must be a text of 1 to ${LONGEST_NAME} characters.`;
    faults.note(['vendorName'], `${text} It names an object of the element '${connector.key}'.`);
    return '';
  }
  const { objects } = connector;
  if (typeof objects === 'function') return given;
  const found = Object.entries(objects).find(
    ([name, { aliases = [] }]) => name === given || (aliases.includes(given) && !Object.hasOwn(objects, given)),
  );
  if (found === undefined) {
    const { hint, nearest } = suggest(given, Object.keys(objects));
    faults.note(['vendorName'], `'${given}' is no object of the element '${connector.key}'.${hint}`, nearest);
  } else if (found[1].list === undefined) {
    faults.note(
      ['vendorName'],
      `'${given}' cannot be mapped, because the element '${connector.key}' cannot list its records.`,
    );
  }
  return given;
}

function readField(
  field: Readonly<Record<string, unknown>>,
  segments: PointerSegments,
  { hasScript, faults }: { readonly hasScript: boolean; readonly faults: Faults },
): TransformationField | undefined {
  const { vendorType } = field;
  const path = readMappedPath(field.path, segments, faults);
  const type = readMappedType(field.type, segments, faults);
  const configuration = readFieldEntries(field.configuration, [...segments, 'configuration'], faults);
  const vendorPath = readVendorPath(field.vendorPath, segments, { configuration, hasScript, faults });
  if (path === undefined) return undefined;
  return {
    path,
    ...defined({ type, vendorPath }),
    ...(typeof vendorType === 'string' && vendorType.length <= LONGEST_NAME && { vendorType }),
    ...(configuration.length > 0 && { configuration }),
  };
}

interface FieldContext {
  readonly configuration: readonly FieldEntry[];
  readonly hasScript: boolean;
  readonly faults: Faults;
}

function readVendorPath(given: unknown, segments: PointerSegments, context: FieldContext): string | undefined {
  const { configuration, hasScript, faults } = context;
  const makers = configuration.map(({ type }) => type).filter((type) => MAKERS.includes(type));
  const [maker] = makers;
  if (makers.length > 1)
    faults.note(
      [...segments, 'configuration'],
      `must have only one of ${MAKERS.join(', ')}; it has ${makers.join(', ')}.`,
    );
  if (given === undefined || given === null || given === '') {
    if (maker === undefined && !hasScript)
      faults.note(
        [...segments, 'vendorPath'],
        `is missing. Name the field of the provider, or make the value with a script or one of ${MAKERS.join(', ')}.`,
      );
    return undefined;
  }
  if (maker !== undefined) {
    faults.note([...segments, 'vendorPath'], `must be left out, because '${maker}' makes the value.`);
    return undefined;
  }
  const fault = typeof given === 'string' ? findVendorPathFault(given) : 'must be a text.';
  if (typeof given === 'string' && fault === undefined) return given;
  faults.note([...segments, 'vendorPath'], fault ?? 'must be a text.');
  return undefined;
}

/** Returns the script of the lowest level in the list of them that exported files have beside `script`. Undefined where none has a body. */
export function lowestScript(scripts: unknown): Readonly<Record<string, unknown>> | undefined {
  const list: readonly unknown[] = Array.isArray(scripts) ? scripts.slice(0, MOST_SCRIPTS) : [];
  const written = list.filter(hasBody);
  return LEVELS.map((level) => written.find((script) => script.level === level)).find(isObject) ?? written[0];
}

function hasBody(script: unknown): script is Readonly<Record<string, unknown>> {
  return isObject(script) && script.body !== undefined && script.body !== null && script.body !== '';
}

/** A script without a body is none: clients send it for a transformation that never had one. */
function readScript(given: unknown, findSyntaxFault: FindSyntaxFault | undefined, faults: Faults) {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) {
    faults.note(['script'], 'must be an object with the member body.');
    return undefined;
  }
  if (!hasBody(given)) return undefined;
  const { body, mimeType, filterEmptyResponse } = given;
  const segments = ['script', 'body'];
  if (typeof body !== 'string') {
    faults.note(segments, 'must be a text.');
    return undefined;
  }
  const bytes = Buffer.byteLength(body);
  if (bytes > MOST_SCRIPT_BYTES)
    faults.note(segments, `must have at most ${MOST_SCRIPT_BYTES} bytes; it has ${bytes}.`);
  else {
    const syntax = findSyntaxFault?.(body);
    if (syntax !== undefined)
      faults.note(segments, `is no JavaScript: ${syntax.message}`, { position: syntax.position });
  }
  const isKnownType = typeof mimeType === 'string' && SCRIPT_TYPES.includes(mimeType);
  if (mimeType !== undefined && mimeType !== null && !isKnownType)
    faults.note(['script', 'mimeType'], `must be ${SCRIPT_TYPES.join(' or ')}.`, { expected: SCRIPT_TYPES });
  if (filterEmptyResponse !== undefined && filterEmptyResponse !== null && typeof filterEmptyResponse !== 'boolean')
    faults.note(['script', 'filterEmptyResponse'], 'must be true or false.');
  const script: MappingScript = {
    body,
    mimeType: isKnownType ? mimeType : 'application/javascript',
    filterEmptyResponse: filterEmptyResponse === true,
  };
  return script;
}
