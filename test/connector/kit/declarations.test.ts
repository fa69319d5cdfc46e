import { expect } from 'chai';
import {
  type ConfigField,
  can,
  codec,
  defined,
  ExactNumber,
  errors,
  type FieldSpec,
  json,
  kinds,
  type ProviderResponse,
  settings,
} from '#connector';

const CONFIGURATION = [
  { key: 'company', type: 'string', required: true, description: '' },
  { key: 'site', type: 'url', description: '' },
  { key: 'version', type: 'string', default: '62.0', description: '' },
  { key: 'exact', type: 'boolean', default: false, description: '' },
  { key: 'window', type: 'number', description: '' },
] as const satisfies readonly ConfigField[];

describe('settings', () => {
  const setting = settings(CONFIGURATION);

  it('are read under their declared types', () => {
    const config = { company: 'acme', site: 'https://a.example', version: '63.0', exact: true, window: 7 };
    const company: string = setting(config, 'company');
    const version: string = setting(config, 'version');
    const exact: boolean = setting(config, 'exact');
    const site: string | undefined = setting(config, 'site');
    const window: number | undefined = setting(config, 'window');
    expect([company, site, version, exact, window]).to.deep.equal(['acme', 'https://a.example', '63.0', true, 7]);
  });

  it('have their defaults where nothing is given, also as empty text or under another type', () => {
    for (const config of [
      {},
      { site: '', version: '', exact: '', window: '' },
      { site: 1, version: 1, exact: 'true' },
    ]) {
      const read = [
        setting(config, 'site'),
        setting(config, 'version'),
        setting(config, 'exact'),
        setting(config, 'window'),
      ];
      expect(read).to.deep.equal([undefined, '62.0', false, undefined]);
    }
  });

  it('are missed where they are required, and named', () => {
    expect(() => setting({ company: '' }, 'company')).to.throw("The setting 'company' is missing.");
  });

  it('are declared, also where no compiler looks', () => {
    const read = () => Reflect.apply(setting, undefined, [{ compony: 'acme' }, 'compony']);
    expect(read).to.throw("The setting 'compony' is not declared.");
  });
});

describe('what stands in an answer', () => {
  it('is found, or named when it is not there', () => {
    const body = { data: { rows: [{ id: 7 }], name: 'A', count: '12' } };
    expect(json.objects(json.at(body, 'data', 'rows'), 'the rows')).to.deep.equal([{ id: 7 }]);
    expect(json.text(json.at(body, 'data', 'name'), 'the name')).to.equal('A');
    expect(json.count(json.at(body, 'data', 'count'), 'the count')).to.equal(12);
    expect([7, 'x7'].map((id) => json.key(id, 'the id'))).to.deep.equal(['7', 'x7']);
    const missing = [
      () => json.object([], 'the object'),
      () => json.object(new ExactNumber('1e400'), 'the object'),
      () => json.array({}, 'the object'),
      () => json.objects([{}, null], 'the object'),
      () => json.text('', 'the object'),
      () => json.key({}, 'the object'),
      () => json.count('-1', 'the object'),
      () => json.count(1.5, 'the object'),
      () => json.count('', 'the object'),
    ];
    for (const read of missing) expect(read).to.throw('The response lacks the object.');
  });

  it('is nothing behind what has no members of its own', () => {
    for (const body of [undefined, null, '<html>', [1], new ExactNumber('1e400')]) {
      expect(json.at(body, 'text')).to.equal(undefined);
    }
    expect([json.at({}, 'constructor'), json.at({ a: { b: 0 } }, 'a', 'b')]).to.deep.equal([undefined, 0]);
  });
});

describe('operators by what they do', () => {
  it('are sets that join', () => {
    expect(can.compare('exact')).to.deep.equal({
      ...{ '=': 'exact', '!=': 'exact', IN: 'exact', 'NOT IN': 'exact' },
      ...{ '<': 'exact', '<=': 'exact', '>': 'exact', '>=': 'exact' },
    });
    expect({ ...can.null, ...can.match('superset') }).to.deep.equal({
      ...{ 'IS NULL': 'exact', 'IS NOT NULL': 'exact' },
      ...{ LIKE: 'superset', 'NOT LIKE': 'superset' },
    });
    expect(can.but(can.equal('superset'), '!=', 'NOT IN')).to.deep.equal({ '=': 'superset', IN: 'superset' });
  });
});

describe('fields by the word for their type', () => {
  const table = {
    text: { type: 'string', filter: can.equal('exact') },
    date: { type: 'date', sortable: true, ...codec.day },
    choice: (values: readonly string[]): FieldSpec => ({ type: 'string', values }),
  } as const;
  const unknown = { type: 'string', label: 'unknown' } as const;

  it('are those of the table', () => {
    const kindOf = kinds({ table, words: { varchar: 'text', picklist: 'choice' }, unknown });
    expect(kindOf('varchar', [])).to.equal(table.text);
    expect(kindOf('picklist', ['a'])).to.deep.equal({ type: 'string', values: ['a'] });
    // A name of the table is not a word of the provider.
    expect(kindOf('text', [])).to.equal(unknown);
    expect(kinds({ table, unknown })('text', [])).to.equal(table.text);
  });

  it('are shown only where the word is not known, whatever it is', () => {
    for (const word of ['novelty', '', 'constructor', '__proto__'])
      expect(kinds({ table, unknown })(word, [])).to.equal(unknown);
  });
});

describe('failures from data', () => {
  const classify = errors({
    message: ({ body }) => json.findText(json.at(body, 'message')),
    code: ({ body }) => json.findText(json.at(body, 'code')),
    kinds: { EXPIRED: 'credentials' },
    isFailure: ({ body }) => json.at(body, 'ok') === false,
    part: ({ body }) => {
      const status = json.at(body, 'part', 'status');
      return typeof status === 'number' ? { status, body: json.at(body, 'part') } : undefined;
    },
  });
  const judged = (status: number, body: unknown) => {
    const response: ProviderResponse = { status, headers: {}, body };
    return classify(response);
  };

  it('have the kind of their code, and no kind without one', () => {
    expect(judged(400, { code: 'EXPIRED', message: 'Log in.' })).to.deep.equal({
      kind: 'credentials',
      message: 'Log in.',
    });
    expect(judged(503, { code: 'OTHER' })).to.deep.equal({ kind: undefined, message: undefined });
    expect(judged(400, { code: 'constructor' })).to.deep.equal({ kind: undefined, message: undefined });
  });

  it('hide behind a success where the provider says so', () => {
    expect(judged(200, { ok: false, message: 'No.' })).to.deep.equal({ kind: undefined, message: 'No.' });
    expect([judged(200, { ok: true, message: 'Yes.' }), judged(204, undefined)]).to.deep.equal([undefined, undefined]);
  });

  it('may be those of a part', () => {
    const part = { status: 400, code: 'EXPIRED', message: 'Part.' };
    expect(judged(200, { part })).to.deep.equal({ kind: 'credentials', status: 400, message: 'Part.' });
    expect(judged(200, { part: { status: 200 } })).to.equal(undefined);
  });
});

describe('members that may be missing', () => {
  it('are left out, and nothing else is', () => {
    const label: string | undefined = undefined;
    const kept = { none: null, no: false, zero: 0, empty: '' };
    expect(Object.keys(defined({ label, ...kept }))).to.deep.equal(Object.keys(kept));
  });
});
