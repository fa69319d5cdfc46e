import { expect } from 'chai';
import fc from 'fast-check';
import { compileMapping } from '../../src/mappings/compile.ts';
import { changeableFilter, type FilterValue } from '../../src/mappings/filter-values.ts';
import type { FieldEntry, MappedType, TransformationField } from '../../src/mappings/model.ts';
import type { ScriptWrites } from '../../src/mappings/pass-through.ts';
import { checkFilter } from '../../src/where/check.ts';
import { compileCondition, type Row } from '../../src/where/evaluate.ts';
import type { FieldSpec, Queryable } from '../../src/where/model.ts';
import { normalise } from '../../src/where/normalise.ts';
import { print } from '../../src/where/print.ts';
import { parseQuery, planParsed } from '../../src/where/query.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { EXACT, exactProvider } from '../where/planned.ts';
import { filtersOn, mappings, VENDOR_FIELDS, VENDOR_ROWS } from './mapped-rows.ts';
import { inForceOf } from './simulated.ts';

const VENDOR = exactProvider({
  text: { type: 'string' },
  code: { type: 'integer' },
  number: { type: 'number' },
  flag: { type: 'boolean' },
  at: { type: 'datetime' },
  other: { type: 'string' },
});

type Mapped = Omit<TransformationField, 'path' | 'type'> & { readonly type?: MappedType };

function mapped(fields: Readonly<Record<string, Mapped>>, script?: ScriptWrites, vendor: Queryable = VENDOR) {
  const named = Object.entries(fields).map(
    ([path, field]): TransformationField => ({ path, type: 'string', ...field }),
  );
  const compiled = compileMapping(vendor, inForceOf({ objectName: 'mine', vendorName: 'rows', fields: named }), script);
  const { fields: specs, idField = '', rewriting } = compiled;
  return { compiled, queryable: { ...vendor, fields: specs, idField, rewriting } };
}

const SCRIPT: ScriptWrites = { writes: ['status', 'made'] };
const FIELDS: Readonly<Record<string, Mapped>> = {
  name: { vendorPath: 'text' },
  status: { vendorPath: 'code' },
  made: {},
  cents: {
    vendorPath: 'number',
    type: 'number',
    configuration: [{ type: 'number', properties: { multiply: 100 } }],
  },
  open: { vendorPath: 'flag', type: 'boolean' },
  changed: { vendorPath: 'at', type: 'date' },
  kind: {
    vendorPath: 'other',
    configuration: [{ type: 'defaultValue', properties: { value: 'none' } } satisfies FieldEntry],
  },
};

type Change = (values: readonly FilterValue[]) => unknown;

/** Lets a function change the values of a filter, as a script does, and plans the result. */
function change(where: string, script: Change, vendor?: Queryable) {
  const { compiled, queryable } = mapped(FIELDS, SCRIPT, vendor);
  const parsed = parseQuery({ where }, queryable);
  const filter = changeableFilter(parsed.condition, compiled);
  if (filter === undefined) return undefined;
  const found = filter.read(script(structuredClone(filter.vendor)));
  if (found === undefined || typeof found === 'string') return found;
  const { plan, canonical } = planParsed(parsed, found.apply(queryable), found.mark);
  return {
    pushed: plan.pushed && print(plan.pushed),
    residual: plan.residual && print(plan.residual),
    decisions: plan.decisions,
    canonical,
  };
}

const to =
  (values: Readonly<Record<string, unknown>>): Change =>
  (given) =>
    given.map((entry) =>
      Object.hasOwn(values, entry.attribute) ? { ...entry, value: values[entry.attribute] } : entry,
    );

describe('the values of a filter', () => {
  it('are shown to a script in the fields of the provider, those of its own fields as the caller wrote them', () => {
    const { compiled, queryable } = mapped(FIELDS, SCRIPT);
    const where =
      "name LIKE 'a%' AND status = 'active' AND cents >= 150 AND open = TRUE AND changed > 2026-01-31 AND kind IN ('none', 'x') AND name IS NOT NULL AND made = 'y'";
    const filter = changeableFilter(parseQuery({ where }, queryable).condition, compiled);
    expect(filter?.vendor).to.deep.equal([
      { attribute: 'text', operator: 'LIKE', value: 'a%' },
      { attribute: 'code', operator: '=', value: 'active' },
      { attribute: 'number', operator: '>=', value: 1.5 },
      { attribute: 'flag', operator: '=', value: true },
      { attribute: 'at', operator: '>', value: '2026-01-31T00:00:00Z' },
      { attribute: 'other', operator: 'IN', value: ['none', 'x'] },
    ]);
    expect(filter?.mapped[1]).to.deep.equal({ attribute: 'status', operator: '=', value: 'active' });
    expect(filter?.mapped[2]).to.deep.equal({ attribute: 'cents', operator: '>=', value: 150 });
  });

  it('are none where there is nothing to change', () => {
    for (const where of ['name IS NULL', "made = 'x'"]) expect(change(where, () => [])).to.equal(undefined);
  });

  it('are sent as the script changes them, and the rows are checked by the filter that was asked', () => {
    expect(change("name = 'ada' AND status = 'active'", to({ code: 1 }))).to.deep.include({
      pushed: "text = 'ada' AND code = 1",
      residual: "status = 'active'",
    });
    expect(change("name = 'ada'", to({ text: 'ADA' }))).to.deep.include({
      pushed: "text = 'ADA'",
      residual: "name = 'ada'",
    });
    expect(change("status IN ('a', 'b')", to({ code: [1, '2'] }))).to.deep.include({
      pushed: 'code IN (1, 2)',
      residual: "status IN ('a', 'b')",
    });
    expect(change("name LIKE 'a%' OR status = 'x'", to({ text: 'A%', code: 7 }))).to.deep.include({
      pushed: "text LIKE 'A%' OR code = 7",
      residual: "name LIKE 'a%' OR status = 'x'",
    });
    expect(change("NOT (status = 'x')", to({ code: 7 }))).to.deep.include({ pushed: 'code != 7' });
    expect(change('changed > 2026-01-31', to({ at: '2025-01-01' }))).to.deep.include({
      pushed: 'at > 2025-01-01T00:00:00Z',
    });
    expect(change("kind = 'none'", to({ other: 'nothing' }))).to.deep.include({
      pushed: "other = 'nothing' OR other IS NULL",
      residual: "kind = 'none'",
    });
  });

  it('of a field that the script writes are not sent unless it changes them', () => {
    expect(change("status = 'active'", (values) => values)).to.equal(undefined);
    expect(change("status = 'active' AND name = 'x'", to({ text: 'X' }))).to.deep.include({ pushed: "text = 'X'" });
  });

  it('are shown in the explanation', () => {
    expect(change("status = 'active'", to({ code: 1 })))
      .to.have.nested.property('decisions[0]')
      .that.deep.includes({
        predicate: "status = 'active'",
        rewritten: 'code = 1',
        exactness: 'superset',
        pushed: true,
        reason:
          'the script of the mapping changed the value, so Causeway checks the rows again; rows that it does not find are missing',
      });
  });

  it('belong to the canonical text, because a page token belongs to them', () => {
    const texts = [1, 2].map((code) => change("status = 'x'", to({ code })));
    expect(texts[0])
      .to.have.property('canonical')
      .that.does.not.equal(Reflect.get(Object(texts[1]), 'canonical'));
  });

  for (const [what, where, script, reason] of [
    ['no list', "name = 'a'", () => 'x', 'The script returned no filter.'],
    ['nothing', "name = 'a'", () => undefined, 'The script returned no filter.'],
    ['fewer conditions', "name = 'a' AND cents = 1", (values) => values.slice(1), MORE()],
    ['another operator', "name = 'a'", ([one]) => [{ ...one, operator: '!=' }], MORE()],
    ['another field', "name = 'a'", ([one]) => [{ ...one, attribute: 'other' }], MORE()],
    [
      'another type',
      'cents = 1',
      to({ number: 'much' }),
      "The script made a value of 'number' that is not a value of the type number.",
    ],
    [
      'null',
      "name = 'a'",
      to({ text: null }),
      "The script made a value of 'text' that is not a value of the type string.",
    ],
    [
      'no value',
      "name = 'a'",
      ([one]) => [{ attribute: one?.attribute, operator: one?.operator }],
      "The script made a value of 'text' that is not a value of the type string.",
    ],
    [
      'a list',
      "name = 'a'",
      to({ text: ['a'] }),
      "The script made a value of 'text' that is not a value of the type string.",
    ],
    [
      'an empty list',
      "name IN ('a', 'b')",
      to({ text: [] }),
      "The script made a value of 'text' that is not a list of values of the type string.",
    ],
    [
      'a value of a list that is none',
      "name IN ('a', 'b')",
      to({ text: ['a', null] }),
      "The script made a value of 'text' that is not a list of values of the type string.",
    ],
    [
      'a text that is too long',
      "name = 'a'",
      to({ text: 'x'.repeat(17_000) }),
      'The values that the script made have more than 16384 bytes of JSON.',
    ],
  ] as const satisfies readonly (readonly [string, string, Change, string])[])
    it(`are not changed to ${what}`, () => {
      expect(change(where, script)).to.equal(reason);
    });

  it('are not sent in pieces that the script has not seen', () => {
    const vendor = { ...VENDOR, limits: { maxInSize: 2, maxTerms: 2 } };
    const many = Array.from({ length: 6 }, (_, index) => `'v${index}'`).join(', ');
    const found = change(`name IN (${many})`, to({ text: ['A', 'B', 'C', 'D', 'E', 'F'] }), vendor);
    expect(found).to.deep.include({ pushed: undefined, residual: `name IN (${many})` });
  });

  it('never let a wrong row through, whatever a script makes of them', () => {
    const writes = fc.constantFrom<ScriptWrites['writes']>([], ['m0'], ['m1', 'cs'], 'anything');
    const seen = { changed: 0, pushed: 0, rows: 0 };
    const capable: Queryable = {
      ...VENDOR,
      fields: Object.fromEntries(
        Object.entries(VENDOR_FIELDS).map(([name, spec]): [string, FieldSpec] => [name, { ...spec, filter: EXACT }]),
      ),
    };
    const cases = fc.record({ mapping: mappings, writes }).chain(({ mapping, writes: written }) => {
      const compiled = compileMapping(capable, mapping, { writes: written });
      const { fields, idField = '', rewriting } = compiled;
      const queryable = { ...capable, fields, idField, rewriting };
      return fc.record({
        compiled: fc.constant(compiled),
        queryable: fc.constant(queryable),
        written: fc.constant(written),
        filter: filtersOn(queryable),
        other: fc.constantFrom<unknown>('a', 'A', 'ours', '1', 1, 100, true, '2026-01-31', '2026-02-01T00:00:00Z'),
      });
    });
    fc.assert(
      fc.property(cases, ({ compiled, queryable, written, filter, other }) => {
        const { condition: tree } = checkFilter(filter, queryable);
        if (tree === undefined) return;
        const condition = normalise(tree);
        const changeable = changeableFilter(condition, compiled);
        const change = changeable?.read(
          changeable.vendor.map((entry) => ({
            ...entry,
            value: Array.isArray(entry.value) ? [other] : other,
          })),
        );
        if (change === undefined || typeof change === 'string') return;
        seen.changed++;
        const fieldList: readonly never[] = [];
        const parsed = { condition, parameters: {}, orderBy: [], fields: fieldList, isNarrowed: false };
        const { plan } = planParsed(parsed, change.apply(queryable), change.mark);
        const { map } = compiled.rowMapping();
        for (const vendorRow of VENDOR_ROWS.slice(0, 40)) {
          const row = scripted(map(vendorRow, new Map()), written);
          for (const { pushed, residual } of plan.queries) {
            if (pushed !== undefined) seen.pushed++;
            if (pushed !== undefined && !compileCondition(pushed)(vendorRow)) continue;
            if (residual !== undefined && !compileCondition(residual)(row)) continue;
            seen.rows++;
            expect(compileCondition(condition)(row), `${print(filter)} ${plan.pushed && print(plan.pushed)}`).to.equal(
              true,
            );
          }
        }
      }),
      { seed: seedOr(3), numRuns: runs(2000) },
    );
    expect(seen.changed).to.be.greaterThan(50);
    expect(seen.pushed).to.be.greaterThan(500);
    expect(seen.rows).to.be.greaterThan(50);
  });
});

function MORE(): string {
  return 'The script changed more of the filter than its values.';
}

/** A script that keeps its promise: it changes only the members that its text shows. */
function scripted(row: Readonly<Record<string, unknown>>, writes: ScriptWrites['writes']): Row {
  const names = writes === 'anything' ? Object.keys(row).slice(0, 2) : writes;
  const changed = names.flatMap((name) => (typeof row[name] === 'string' ? [[name, `${String(row[name])}A`]] : []));
  return { ...row, ...Object.fromEntries(changed) };
}
