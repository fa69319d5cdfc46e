import { expect } from 'chai';
import { type LevelMappings, mergeMappings } from '../../src/mappings/in-force.ts';
import { LEVELS, type Level, type Transformation } from '../../src/mappings/model.ts';

const NAME = 'people';

/** What one level has of the object. */
interface Choice {
  readonly isDefined: boolean;
  readonly isMapped: boolean;
  readonly inherits: boolean;
  readonly hasScript: boolean;
}

const BOTH = [false, true];
const CHOICES: readonly Choice[] = BOTH.flatMap((isDefined) => [
  { isDefined, isMapped: false, inherits: false, hasScript: false },
  ...BOTH.flatMap((inherits) => BOTH.map((hasScript) => ({ isDefined, isMapped: true, inherits, hasScript }))),
]);

type Choices = Readonly<Record<Level, Choice>>;

const ALL: readonly Choices[] = CHOICES.flatMap((instance) =>
  CHOICES.flatMap((account) => CHOICES.map((organization) => ({ instance, account, organization }))),
);

/** Every level has a field of its own and one that all levels have. */
function mappingsOf(choices: Choices): readonly LevelMappings[] {
  return LEVELS.map((level) => {
    const { isDefined, isMapped } = choices[level];
    const fields = [
      { path: 'shared', type: 'string' as const, displayName: level },
      { path: level, type: 'string' as const },
    ];
    return {
      level,
      definitions: new Map(isDefined ? [[NAME, { objectName: NAME, fields }]] : []),
      transformations: new Map(isMapped ? [[NAME, transformationOf(level, choices[level])]] : []),
    };
  });
}

function transformationOf(level: Level, { inherits, hasScript }: Choice): Transformation {
  return {
    objectName: NAME,
    vendorName: `vendor-of-${level}`,
    fields: ['shared', level].map((path) => ({ path, vendorPath: `${level}.${path}` })),
    configuration: [
      { type: 'passThrough', properties: { fromVendor: level === 'account' } },
      ...(inherits ? [{ type: 'inherit' } as const] : []),
    ],
    ...(hasScript && { script: { body: `done(${level})` } }),
  };
}

/** The levels whose fields hold, the lowest first: recursive, as the contract says it. */
function contributing(choices: Choices, from: readonly Level[] = LEVELS): readonly Level[] {
  const [level, ...above] = from;
  if (level === undefined) return [];
  const { isMapped, inherits } = choices[level];
  if (!isMapped) return contributing(choices, above);
  return inherits ? [level, ...contributing(choices, above)] : [level];
}

describe('the mappings in force', () => {
  it('are what the contract says for every combination of levels, inheritance and scripts', () => {
    expect(ALL).to.have.length(1_000);
    for (const choices of ALL) {
      const label = JSON.stringify(choices);
      const { byName, unmapped } = mergeMappings(mappingsOf(choices));
      const defined = LEVELS.filter((level) => choices[level].isDefined);
      const holding = contributing(choices);
      const [lowest] = holding;
      const found = byName.get(NAME);
      if (defined.length === 0 || lowest === undefined) {
        expect(found, label).to.equal(undefined);
        expect(unmapped, label).to.deep.equal(defined.length === 0 ? [] : [NAME]);
        continue;
      }
      expect(unmapped, label).to.deep.equal([]);
      expect(found?.level, label).to.equal(lowest);
      expect(found?.vendorName, label).to.equal(`vendor-of-${lowest}`);
      expect(found?.script?.body, label).to.equal(choices[lowest].hasScript ? `done(${lowest})` : undefined);
      expect(found?.configuration, label).to.deep.equal(transformationOf(lowest, choices[lowest]).configuration);
      const paths = new Map(found?.definition.map(({ path, level }) => [path, level]));
      expect(Object.fromEntries(paths), label).to.deep.equal({
        shared: defined[0],
        ...Object.fromEntries(defined.map((level) => [level, level])),
      });
      const sources = new Map(found?.fields.map(({ path, level, vendorPath }) => [path, `${level} ${vendorPath}`]));
      const mapped = holding.filter((level) => defined.includes(level));
      expect(Object.fromEntries(sources), label).to.deep.equal({
        shared: `${lowest} ${lowest}.shared`,
        ...Object.fromEntries(mapped.map((level) => [level, `${level} ${level}.${level}`])),
      });
    }
  });

  it('have the fields of higher levels first', () => {
    const all = { isDefined: true, isMapped: true, inherits: true, hasScript: false };
    const { byName } = mergeMappings(mappingsOf({ instance: all, account: all, organization: all }));
    const paths = ['shared', 'organization', 'account', 'instance'];
    expect(byName.get(NAME)?.definition.map(({ path }) => path)).to.deep.equal(paths);
    expect(byName.get(NAME)?.fields.map(({ path }) => path)).to.deep.equal(paths);
  });

  describe('after a change', () => {
    const mapped = (name: string, vendorName = 'contacts'): LevelMappings => ({
      level: 'organization',
      definitions: new Map([[name, { objectName: name, fields: [{ path: 'key', type: 'string' }] }]]),
      transformations: new Map([[name, { objectName: name, vendorName, fields: [{ path: 'key', vendorPath: 'id' }] }]]),
    });
    const joined = (...all: readonly LevelMappings[]): LevelMappings => ({
      level: 'organization',
      definitions: new Map(all.flatMap(({ definitions }) => [...definitions])),
      transformations: new Map(all.flatMap(({ transformations }) => [...transformations])),
    });

    it('are the same value when nothing of them has changed', () => {
      const before = mergeMappings([mapped('people')]);
      expect(mergeMappings([mapped('people')], before)).to.equal(before);
    });

    it('keep the objects that have not changed, and their versions', () => {
      const before = mergeMappings([joined(mapped('people'), mapped('deals'))]);
      const after = mergeMappings([joined(mapped('people'), mapped('deals', 'opportunities'))], before);
      expect(after.version).not.to.equal(before.version);
      expect(after.byName.get('people')).to.equal(before.byName.get('people'));
      expect(after.byName.get('deals')?.version).not.to.equal(before.byName.get('deals')?.version);
    });

    it('have the version of before when the change is taken back', () => {
      const before = mergeMappings([mapped('people')]);
      const between = mergeMappings([mapped('people', 'other')], before);
      expect(mergeMappings([mapped('people')], between).version).to.equal(before.version);
    });

    it('have another version when a definition without a transformation is new', () => {
      const { definitions } = mapped('deals');
      const before = mergeMappings([mapped('people')]);
      const level = mapped('people');
      const after = mergeMappings([{ ...level, definitions: new Map([...level.definitions, ...definitions]) }], before);
      expect(after.unmapped).to.deep.equal(['deals']);
      expect(after.version).not.to.equal(before.version);
    });
  });
});
