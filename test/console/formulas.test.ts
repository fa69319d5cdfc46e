import { expect } from 'chai';
import {
  complete,
  findBeginning,
  listCompletions,
  matchCompletions,
  withNewStep,
} from '../../console/formulas/completion.ts';
import { findPosition, messagesOf, placeFindings, readFaults } from '../../console/formulas/findings.ts';
import { type Content, listEarlier, readFlow } from '../../console/formulas/flow.ts';
import { findNeighbour, type Move } from '../../console/formulas/graph-keys.ts';
import { placeFlow } from '../../console/formulas/graph-layout.ts';
import { readNode, writeNode } from '../../console/formulas/node-form.ts';
import { findPath } from '../../console/formulas/path-taken.ts';
import { pathOfExecution, pathOfFormula, pathOfInstance, readPlace } from '../../console/formulas/paths.ts';
import { readTexts, writeTexts } from '../../console/formulas/properties.ts';
import { STEP_TYPES } from '../../console/formulas/step-types.ts';

type StepType = Content['steps'][number]['type'];

const step = (id: number, name: string, type: StepType, onSuccess: string[] = [], onFailure: string[] = []) => ({
  ...{ id, name, type, onSuccess, onFailure },
  properties: {},
});

/** A loop with a filter in it: trigger → get → each → check → send → each; each ends with sum. */
const CONTENT: Content = {
  configuration: [
    { id: 1, key: 'crm', name: 'CRM', type: 'elementInstance' },
    { id: 2, key: 'page.size', type: 'value' },
  ],
  triggers: [{ id: 3, name: 'trigger', type: 'event', async: true, onSuccess: ['get'], onFailure: [], properties: {} }],
  steps: [
    step(4, 'get', 'elementRequest', ['each'], ['report']),
    step(5, 'each', 'loop', ['check'], ['sum']),
    step(6, 'check', 'filter', ['send-it'], ['each']),
    step(7, 'send-it', 'httpRequest', ['each']),
    step(8, 'sum', 'script', ['nobody']),
    step(9, 'report', 'script'),
  ],
};
const FLOW = readFlow(CONTENT);
const [GET, EACH, CHECK, SEND, SUM, REPORT] = [1, 2, 3, 4, 5, 6];

describe('the addresses of formulas', () => {
  it('are read as they are written', () => {
    expect(readPlace(undefined)).to.deep.equal({ kind: 'list' });
    for (const [path, place] of [
      [pathOfFormula(7), { kind: 'formula', id: 7, tab: '' }],
      [pathOfFormula(7, 'variables'), { kind: 'formula', id: 7, tab: 'variables' }],
      [pathOfInstance(8), { kind: 'instance', id: 8 }],
      [pathOfExecution(9), { kind: 'execution', id: 9 }],
    ] as const)
      expect(readPlace(path.slice('/console/formulas/'.length)), path).to.deep.equal(place);
  });

  it('lead nowhere otherwise', () => {
    for (const below of ['x', '1/x', '0', '1/settings/2', 'instances', 'instances/x', 'executions/1/2', '9'.repeat(16)])
      expect(readPlace(below), below).to.deep.equal({ kind: 'nowhere' });
  });
});

describe('the flow of a formula', () => {
  it('has a box for the trigger and each step, and an arrow for each name that a step has', () => {
    expect(FLOW.nodes.map(({ key, name }) => `${key} ${name}`)).to.deep.equal([
      ...['0 trigger', '1 get', '2 each', '3 check', '4 send-it', '5 sum', '6 report'],
    ]);
    expect(FLOW.edges.map(({ from, way, to }) => `${from} ${way} ${to}`)).to.deep.equal([
      ...['0 success 1', '1 success 2', '1 failure 6', '2 success 3', '2 failure 5'],
      ...['3 success 4', '3 failure 2', '4 success 2'],
    ]);
  });

  it('knows the steps before a step, the nearest first', () => {
    expect(listEarlier(FLOW, SEND)).to.deep.equal([CHECK, EACH, GET, SEND, 0]);
    expect(listEarlier(FLOW, 0)).to.deep.equal([]);
  });

  it('is placed so that boxes do not overlap and arrows cross no box', () => {
    const { boxes, arrows, width, height } = placeFlow(FLOW);
    for (const one of boxes)
      for (const other of boxes)
        if (one !== other)
          expect(
            Math.abs(one.x - other.x) >= 190 || Math.abs(one.y - other.y) >= 54,
            `${one.name} ${other.name}`,
          ).to.equal(true);
    for (const { edge, line } of arrows) {
      // A curve between two rows stays between them when its ends do: only the ends and the straight parts can be in a row.
      const points = [...line.matchAll(/([\d.]+),([\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
      expect(points.length).to.be.above(2);
      for (const { x, y } of points) {
        expect(x, line).to.be.within(0, width);
        expect(y, line).to.be.within(0, height);
        const hit = boxes.find((box) => x > box.x + 1 && x < box.x + 189 && y > box.y + 1 && y < box.y + 53);
        expect(hit, `${JSON.stringify(edge)} ${line}`).to.equal(undefined);
      }
    }
  });

  it('draws few of the arrows of many steps that fail to the same one, and names the end of the others', () => {
    const steps = Array.from({ length: 60 }, (_, index) =>
      step(index, `s${index}`, 'script', index < 58 ? [`s${index + 1}`] : [], index < 58 ? ['s59'] : []),
    );
    const flow = readFlow({ triggers: CONTENT.triggers.map((each) => ({ ...each, onSuccess: ['s0'] })), steps });
    const { arrows, width } = placeFlow(flow);
    expect(arrows).to.have.length(flow.edges.length);
    expect(arrows.filter(({ isStub }) => !isStub)).to.have.length(59 + 4);
    expect(arrows.filter(({ isStub, edge }) => isStub && edge.way === 'success')).to.deep.equal([]);
    expect(width).to.be.below(1_200);
  });

  it('is placed in time, whatever the steps lead to', function placed() {
    this.timeout(20_000);
    const steps = Array.from({ length: 200 }, (_, index) =>
      step(index, `s${index}`, 'script', [`s${index + 1}`], [`s${(index * 7) % 200}`]),
    );
    expect(placeFlow(readFlow({ triggers: CONTENT.triggers, steps })).boxes).to.have.length(201);
  });

  it('is nothing without a step', () => {
    expect(placeFlow({ nodes: [], edges: [] })).to.deep.equal({ width: 0, height: 0, boxes: [], arrows: [] });
  });

  it('is followed by the arrow keys', () => {
    const go = (key: number, move: Move, cameFrom?: number) => findNeighbour(FLOW, key, move, cameFrom);
    expect(go(0, 'ArrowDown')).to.equal(GET);
    expect(go(GET, 'ArrowRight')).to.equal(REPORT);
    expect(go(EACH, 'ArrowRight')).to.equal(SUM);
    expect(go(SEND, 'ArrowDown')).to.equal(EACH);
    expect(go(EACH, 'ArrowUp', SEND)).to.equal(SEND);
    expect(go(EACH, 'ArrowLeft')).to.equal(GET);
    expect(go(SUM, 'ArrowDown')).to.equal(undefined);
    expect([go(SUM, 'Home'), go(0, 'End'), go(0, 'PageDown'), go(0, 'PageUp')]).to.deep.equal([0, 6, 1, undefined]);
  });
});

describe('the path of an execution', () => {
  const ran = (...names: string[]) =>
    names.map((name) => ({
      stepName: name.replace('!', ''),
      status: name.endsWith('!') ? ('failed' as const) : ('success' as const),
    }));

  it('has the boxes that ran with their counts, and the arrows between them', () => {
    const { visits, taken, next } = findPath(
      FLOW,
      ran('trigger', 'get', 'each', 'check', 'send-it', 'each', 'check!', 'each!', 'sum'),
      false,
    );
    expect([...visits].map(([key, { count, status }]) => `${key} ${count} ${status}`)).to.deep.equal([
      ...['0 1 success', '1 1 success', '2 3 failed', '3 2 failed', '4 1 success', '5 1 success'],
    ]);
    expect([...taken]).to.have.members([
      ...['0 success 1', '1 success 2', '2 success 3', '3 success 4', '4 success 2', '3 failure 2', '2 failure 5'],
    ]);
    expect([...next]).to.deep.equal([]);
  });

  it('does not light an arrow whose step never ran', () => {
    expect([...findPath(FLOW, ran('trigger', 'get!'), false).taken]).to.deep.equal(['0 success 1']);
  });

  it('shows what comes next while it runs', () => {
    const { next, taken } = findPath(FLOW, ran('trigger', 'get'), true);
    expect([...next]).to.deep.equal([EACH]);
    expect([...taken]).to.deep.equal(['0 success 1', '1 success 2']);
  });

  it('tells a step named trigger from the trigger', () => {
    const flow = readFlow({
      triggers: CONTENT.triggers.map((trigger) => ({ ...trigger, onSuccess: ['trigger'] })),
      steps: [step(1, 'trigger', 'script')],
    });
    expect([...findPath(flow, ran('trigger', 'trigger!'), false).visits.keys()]).to.deep.equal([0, 1]);
  });

  it('leaves out steps that the formula no longer has', () => {
    expect([...findPath(FLOW, ran('trigger', 'gone', 'report'), false).visits.keys()]).to.deep.equal([0, REPORT]);
  });
});

describe('the properties of a step in a form', () => {
  const { fields } = STEP_TYPES.elementRequest;
  const PROPERTIES = {
    ...{ elementInstanceId: '${config.crm}', method: 'GET', api: '/contacts', query: { pageSize: 5 } },
    ...{ retry: true, retryAttempts: 3, body: '{"a":"${steps.get}"}', mimeType: 'x' },
  };

  it('keep their types and the ones that no field has when nothing changes', () => {
    expect(writeTexts(fields, PROPERTIES, readTexts(fields, PROPERTIES))).to.deep.equal(PROPERTIES);
  });

  it('take an object from JSON, keep text with JSON a text, and lose what is empty', () => {
    const texts = {
      ...readTexts(fields, PROPERTIES),
      ...{ query: '{ "where": "a = 1" }', headers: '${steps.h}', body: '{"a":2}', api: '', retry: '' },
    };
    expect(writeTexts(fields, PROPERTIES, texts)).to.deep.equal({
      ...{ elementInstanceId: '${config.crm}', method: 'GET', query: { where: 'a = 1' }, headers: '${steps.h}' },
      ...{ retryAttempts: 3, body: '{"a":2}', mimeType: 'x' },
    });
    expect(writeTexts(fields, {}, { query: '{ no JSON' })).to.deep.equal({ query: '{ no JSON' });
    expect(writeTexts(fields, {}, { retry: 'true' })).to.deep.equal({ retry: 'true' });
  });

  it('are dropped with the type that they belong to', () => {
    const before = { ...step(1, 'get', 'elementRequest', ['a']), properties: PROPERTIES };
    const form = { ...readNode(before, false), type: 'script' as const };
    expect(writeNode({ ...form, texts: { ...form.texts, body: 'done();' } }, before, false)).to.deep.equal({
      ...{ name: 'get', type: 'script', onSuccess: ['a'], onFailure: [], properties: { body: 'done();' } },
    });
  });
});

describe('the completion of references', () => {
  const textsAt = (key: number, isCode = false) => listCompletions(CONTENT, key, isCode).map(({ text }) => text);

  it('offers variables, the steps before, the trigger and the execution', () => {
    const texts = textsAt(CHECK);
    expect(texts.slice(0, 2)).to.deep.equal(['config.crm', 'config.page.size']);
    expect(texts).to.include.members(['steps.each.entry', 'steps.get.response.body', 'trigger.event.objectId']);
    expect(texts).to.include('info.formulaExecutionId');
    expect(texts.filter((text) => text.startsWith('steps.sum') || text.startsWith('steps.report'))).to.deep.equal([]);
  });

  it('offers the trigger no step and nothing of itself', () => {
    expect(textsAt(0).filter((text) => /^(?:steps|trigger)/.test(text))).to.deep.equal([]);
  });

  it('knows what a step that is being added follows, and offers all where it follows nothing', () => {
    const at = (after: Parameters<typeof withNewStep>[1]) =>
      listCompletions(withNewStep(CONTENT, after), CONTENT.steps.length + 1, false)
        .map(({ text }) => text)
        .filter((text) => /^steps\.[\w-]+$/.test(text));
    expect(at({ stepName: 'get', member: 'onFailure' })).to.deep.equal(['steps.get']);
    expect(at({ stepName: undefined, member: 'onSuccess' })).to.deep.equal([]);
    expect(at(undefined)).to.have.length(CONTENT.steps.length);
  });

  it('writes names in a way that scripts can read', () => {
    expect(textsAt(EACH, true)).to.include.members(["config['page.size']", "steps['send-it'].response.body"]);
    expect(textsAt(EACH)).to.include.members(['config.page.size', 'steps.send-it.response.body']);
  });

  it('begins behind ${ in a text, and behind one of the four names in a script', () => {
    expect(findBeginning('/a/${con', 8, false)).to.deep.equal({ start: 5, typed: 'con' });
    expect(findBeginning('/a/${', 5, false)).to.deep.equal({ start: 5, typed: '' });
    expect(findBeginning('/a/${config.crm}', 16, false)).to.equal(undefined);
    expect(findBeginning('done(steps.g', 12, true)).to.deep.equal({ start: 5, typed: 'steps.g' });
    expect(findBeginning('done(mysteps.g', 14, true)).to.equal(undefined);
    expect(findBeginning('steps', 5, true)).to.equal(undefined);
  });

  it('puts the best first, and closes the brace once', () => {
    const all = listCompletions(CONTENT, CHECK, false);
    const beginning = { start: 2, typed: 'steps.get.resp' };
    const [first] = matchCompletions(all, beginning);
    expect(first?.text).to.equal('steps.get.response.body');
    if (first === undefined) return;
    expect(complete('${steps.get.resp', 16, beginning, first, false)).to.deep.equal({
      text: '${steps.get.response.body}',
      cursor: 26,
    });
    expect(complete('${steps.get.resp}/x', 16, beginning, first, false).text).to.equal('${steps.get.response.body}/x');
    expect(matchCompletions(all, { start: 0, typed: 'crm' }).map(({ text }) => text)).to.deep.equal(['config.crm']);
  });
});

describe('the findings of a formula', () => {
  const finding = (path: string, message = path) => ({ path, severity: 'error' as const, message });

  it('stand at their box, their variable, or the formula', () => {
    const { byNode, byVariable, others } = placeFindings(
      ['/triggers', '/triggers/0/onSuccess', '/steps/2/properties/body', '/steps/2', '/configuration/1/key'].map(
        (path) => finding(path),
      ),
    );
    expect([...byNode].map(([key, all]) => [key, all.length])).to.deep.equal([
      [0, 1],
      [3, 2],
    ]);
    expect([...byVariable.keys()]).to.deep.equal([1]);
    expect(others.map(({ path }) => path)).to.deep.equal(['/triggers']);
  });

  it('stand at their field', () => {
    const messages = messagesOf([
      finding('/steps/2/properties/query/where', 'a'),
      finding('/steps/2/onSuccess/0', 'b'),
      finding('/steps/2', 'c'),
    ]);
    expect(Object.fromEntries(messages)).to.deep.equal({ 'properties.query': ['a'], onSuccess: ['b'], '': ['c'] });
  });

  it('come from the response for the step that was sent alone', () => {
    const details = [
      { path: '/body/steps/3/properties/body', message: 'a' },
      { path: '/body/steps/31/name', message: 'b' },
      { path: '/body/steps/3/name', message: 'c' },
    ];
    expect(Object.fromEntries(readFaults({ details }, '/body/steps/3'))).to.deep.equal({
      'properties.body': ['a'],
      name: ['c'],
    });
  });

  it('lead to the place in a script that their message names', () => {
    expect(findPosition('one\ntwo three', 'Unexpected token (line 2, column 5).')).to.equal(8);
    expect(findPosition('one', 'line 9, column 9')).to.equal(3);
    expect(findPosition('one', 'is missing')).to.equal(undefined);
  });
});
