import { expect } from 'chai';
import { findMissingReferences } from '../../src/formulas/check-references.ts';

const node = { onSuccess: [], onFailure: [], properties: {} };
const CONTENT = {
  configuration: [
    { id: 1, key: 'crm', type: 'value' },
    { id: 2, key: 'http.request.url', type: 'value' },
  ],
  steps: [
    { ...node, id: 3, name: 'get-accounts', type: 'script' as const },
    { ...node, id: 4, name: 'a b', type: 'script' as const },
  ],
};

const missing = (text: string, takesShortForms = false) =>
  findMissingReferences(text, CONTENT, { takesShortForms }).map(({ message }) => message);

describe('the references of a text', () => {
  it('lead to variables, steps, the trigger and the execution', () => {
    for (const text of [
      `\${config.crm}`,
      `\${config.http.request.url}`,
      `\${config['crm']} and \${ config["http.request.url"] }`,
      `\${steps.get-accounts}`,
      `\${steps.get-accounts.response.body[0].id}`,
      `\${steps.get-accounts[0]}`,
      `\${steps['a b'].x}`,
      `\${trigger.event.objectId} \${trigger} \${info.formulaId} \${config} \${steps}`,
      'no reference, ${unclosed, $ {x}',
    ])
      expect(missing(text), text).to.deep.equal([]);
  });

  it('are reported where they lead to nothing', () => {
    expect(missing(`\${config.crn}`)).to.deep.equal([
      `\${config.crn} names no variable of the formula. Did you mean 'crm'?`,
    ]);
    expect(missing(`\${config.crmx}`)).to.deep.equal([
      `\${config.crmx} names no variable of the formula. Did you mean 'crm'?`,
    ]);
    expect(missing(`\${config.http.request}`)).to.deep.equal([
      `\${config.http.request} names no variable of the formula.`,
    ]);
    expect(missing(`\${steps.get-account.response}`)).to.deep.equal([
      `\${steps.get-account.response} names no step of the formula. Did you mean 'get-accounts'?`,
    ]);
    expect(missing(`\${step.x} and \${crm}`)).to.deep.equal([
      `\${step.x} begins with none of config, steps, trigger and info. Write \${config.key} for a variable.`,
      `\${crm} begins with none of config, steps, trigger and info. Write \${config.key} for a variable.`,
    ]);
  });

  it('may have their old short form in some properties', () => {
    expect(missing(`\${crm} \${get-accounts.response.body} \${http.request.url}`, true)).to.deep.equal([]);
    expect(missing(`\${get-accunts.list}`, true)).to.have.lengthOf(1);
  });
});
