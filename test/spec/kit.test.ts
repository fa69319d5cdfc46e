import { expect } from 'chai';
import * as connector from '#connector';
import * as simulator from '#connector/simulator';
import * as suite from '#connector/suite';
import * as testing from '#connector/testing';
import kit from '../../generated/kit.json' with { type: 'json' };

const namesOf = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);

describe('the reference of the kit', () => {
  it('has every function and constant that connectors can import', () => {
    const shown = Object.values(kit).flatMap((entries) => (typeof entries === 'string' ? [] : namesOf(entries)));
    for (const [module, exports] of Object.entries({ connector, simulator, suite, testing }))
      expect(shown, module).to.include.members(Object.keys(exports));
  });

  it('has each export as it is declared, with its doc comment and without its body', () => {
    const entry = (name: string) => kit['#connector'].find((each) => each.name === name);
    expect(entry('nextLink')?.code).to.match(/^function nextLink\(.*\): .*;$/);
    expect(entry('toDecimalText')?.code).to.equal('function toDecimalText(value: unknown): unknown;');
    expect(entry('ProviderResponse')?.code)
      .to.match(/^interface ProviderResponse \{/)
      .and.include('/** The response headers: lower-case names');
    expect(entry('json')?.code).to.include('findText(value: unknown): string | undefined;');
    // Members from an interface that is not exported.
    expect(entry('OffsetPaging')?.code).to.include('interface ByPosition');
    expect(entry('Config')?.doc).to.match(/^[A-Z]/);
  });
});
