import { expect } from 'chai';
import type { FormulaContent, StepType } from '../../src/formulas/model.ts';
import { renameVariable, resolveVariables, triggerInstanceId, variablesIn } from '../../src/formulas/variables.ts';

const VALUES = { crm: '427', 'crm.instance': '428', cron: '0 0 1 * * ?' };

function contentOf(properties: object, type: StepType = 'elementRequest'): FormulaContent {
  const node = { id: 1, name: 'n', onSuccess: [], onFailure: [] };
  return {
    configuration: [],
    triggers: [{ ...node, type: 'event', properties: { elementInstanceId: `\${crm}` } }],
    steps: [{ ...node, type, properties: { ...properties } }],
  };
}

describe('the variables in a text', () => {
  it('become their values, in every form that names them', () => {
    expect(resolveVariables(`\${config.crm}`, VALUES)).to.equal('427');
    expect(resolveVariables(`\${ config.crm.instance }`, VALUES)).to.equal('428');
    expect(resolveVariables(`\${config['crm.instance']}/\${config["crm"]}`, VALUES)).to.equal('428/427');
    expect(resolveVariables(`\${crm}`, VALUES)).to.equal('427');
    expect(resolveVariables(`a\${config.nothing}b\${toString}c`, VALUES)).to.equal('abc');
  });

  it('are listed as far as they are there', () => {
    expect(
      variablesIn(`\${config.crm} \${cron} \${steps.crm} \${config.x}`, new Set(Object.keys(VALUES))),
    ).to.deep.equal(['crm', 'cron']);
  });

  it('name the element instance of a trigger', () => {
    const [trigger] = contentOf({}).triggers;
    expect(triggerInstanceId(trigger, VALUES)).to.equal(427);
    expect(triggerInstanceId(trigger, {})).to.equal(undefined);
    expect(triggerInstanceId(trigger && { ...trigger, properties: { elementInstanceId: 5 } }, {})).to.equal(5);
    expect(triggerInstanceId(trigger && { ...trigger, type: 'manual' }, VALUES)).to.equal(undefined);
    expect(triggerInstanceId(undefined, VALUES)).to.equal(undefined);
  });
});

describe('a variable that gets another key', () => {
  const renamed = (properties: object, type?: StepType) => renameVariable(contentOf(properties, type), 'crm', 'source');

  it('is renamed in every property, however deep', () => {
    const { triggers, steps } = renamed({
      elementInstanceId: `\${config.crm}`,
      query: { where: [`id = \${ config.crm } and \${config['crm']}`, 1, null] },
    });
    expect(triggers[0]?.properties).to.deep.equal({ elementInstanceId: `\${source}` });
    expect(steps[0]?.properties).to.deep.equal({
      elementInstanceId: `\${config.source}`,
      query: { where: [`id = \${config.source} and \${config.source}`, 1, null] },
    });
  });

  it('leaves other variables, steps, and members with longer names alone', () => {
    const properties = { api: `/\${config.crm.instance}/\${config.crmx}/\${steps.crm}/\${trigger.crm}/config.crm` };
    expect(renamed(properties).steps[0]?.properties).to.deep.equal(properties);
  });

  it('leaves the names of a script alone, but for a template literal that reads the variable', () => {
    const body = `const crm = 1; done(\`\${crm} \${config.crm}\`);`;
    expect(renamed({ body }, 'script').steps[0]?.properties.body).to.equal(
      `const crm = 1; done(\`\${crm} \${config.source}\`);`,
    );
  });
});
