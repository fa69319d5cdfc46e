import type { Connector } from '../../connector/contract.ts';
import { ConnectorError } from '../../connector/validate.ts';
import { AppError } from '../../errors.ts';
import { missing } from '../../shared-errors.ts';
import { readDefinition } from '../check-definition.ts';
import { readTransformation } from '../check-transformation.ts';
import { isObject } from '../faults.ts';
import type { Definition, Transformation } from '../model.ts';
import definitionsOfCatalogue from './definitions.json' with { type: 'json' };

/** The definitions that come with the product, with their transformations for the elements. Organizations take over what they need. */
export type Catalogue = ReturnType<typeof createCatalogue>;

/** The content of the files `mappings.json` of connectors, by the key of the connector. */
export type ConnectorMappings = ReadonlyMap<string, unknown>;

interface CatalogueSources {
  readonly connectors: readonly Connector[];
  readonly mappings: ConnectorMappings;
  /** Definitions of the catalogue. Default: those of this repository. */
  readonly definitions?: unknown;
}

/**
 * Creates the catalogue.
 * @throws ConnectorError that names every problem of every file
 */
export function createCatalogue({ connectors, mappings, definitions = definitionsOfCatalogue }: CatalogueSources) {
  const problems: string[] = [];
  const known = new Map<string, Definition>();
  for (const [objectName, body] of entriesOf(definitions, 'the catalogue', problems))
    collect(problems, `the definition '${objectName}' of the catalogue`, () => {
      const { own } = readDefinition(body, { objectName, level: 'organization', segments: [] });
      known.set(objectName, { objectName, fields: own });
    });
  const byObject = new Map<string, Map<string, Transformation>>();
  for (const connector of connectors) {
    const { key } = connector;
    for (const [objectName, body] of entriesOf(mappings.get(key) ?? {}, `${key}: mappings.json`, problems))
      collect(problems, `${key}: mappings.json: '${objectName}'`, () => {
        if (!known.has(objectName)) throw missing('definition in the catalogue', objectName, known.keys());
        const of = { objectName, level: 'organization', segments: [] } as const;
        const { own, vendorName, configuration } = readTransformation(body, of, {
          connector,
          findSyntaxFault: undefined,
        });
        const transformation = { objectName, vendorName, fields: own, configuration };
        byObject.set(objectName, (byObject.get(objectName) ?? new Map()).set(key, transformation));
      });
  }
  if (problems.length > 0) throw new ConnectorError(problems);
  const none: ReadonlyMap<string, Transformation> = new Map();

  return {
    definitions: known as ReadonlyMap<string, Definition>,

    /**
     * Returns a definition.
     * @throws AppError NOT_FOUND that names the nearest definition
     */
    getDefinition: (objectName: string): Definition => {
      const definition = known.get(objectName);
      if (definition === undefined) throw missing('definition in the catalogue', objectName, known.keys());
      return definition;
    },

    /** Returns the transformations of a definition by the keys of their elements. */
    transformationsOf: (objectName: string): ReadonlyMap<string, Transformation> => byObject.get(objectName) ?? none,
  };
}

function entriesOf(given: unknown, file: string, problems: string[]): readonly (readonly [string, unknown])[] {
  if (isObject(given)) return Object.entries(given);
  problems.push(`${file}: it must be an object by the names of the definitions`);
  return [];
}

function collect(problems: string[], file: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { message, details = [] } = error;
    problems.push(
      ...(details.length > 0 ? details.map((detail) => `${file}: ${detail.message}`) : [`${file}: ${message}`]),
    );
  }
}
