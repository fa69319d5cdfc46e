import type { Step } from '../../src/formulas/model.ts';
import type { GivenStep } from './bench.ts';

type Ways = Partial<Pick<Step, 'onSuccess' | 'onFailure'>>;

/** Returns a function that makes steps of a type from their properties. */
const stepOf =
  (type: Step['type']) =>
  (name: string, properties: Step['properties'], ways: Ways = {}): GivenStep => ({ name, type, properties, ...ways });

export const request = stepOf('request');
export const elementRequest = stepOf('elementRequest');
/** A step that runs another formula. */
export const subFormula = stepOf('formula');
export const script = (name: string, body: string, ways?: Ways) => stepOf('script')(name, { body }, ways);
export const filter = (name: string, body: string, ways?: Ways) => stepOf('filter')(name, { body }, ways);
export const loop = (name: string, list: string, ways?: Ways) => stepOf('loop')(name, { list }, ways);
