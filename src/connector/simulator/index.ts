/** What a connector's simulator may import, as `#connector/simulator`. */

export { type Clock, SYSTEM_CLOCK } from '../../clock.ts';
export type { Simulator, SimulatorMemory, SimulatorOptions } from '../contract.ts';
export { type Answer, empty, escapeMarkup, html, json, redirect, typed, xml } from './answer.ts';
export { basic, bearer, type Credentials, type Guard, keyHeader, readBasic, readBearer } from './authenticate.ts';
export { type Body, type BodyLimits, createBody } from './body.ts';
export { type Budget, type BudgetOptions, type BudgetState, createBudget } from './budget.ts';
export { type Changeable, changesOf } from './changes.ts';
export { createMovableClock, type MovableClock } from './clock.ts';
export { BAD_BODY, Fault, fault } from './fault.ts';
export {
  compileFilter,
  escapePattern,
  type Filter,
  type FilterField,
  type FilterRules,
  type FilterTest,
  type Literal,
} from './filter.ts';
export { createOAuthServer, type OAuthClient, type OAuthOptions, type OAuthServer, type Rotation } from './oauth.ts';
export { type OrderTerm, sortRows } from './order.ts';
export { createResults, type Page, type PagedCall, type Paging, type Results, takePage } from './paging.ts';
export { type Call, createRouter, decode, type Handler, type Router, type Routes } from './route.ts';
export {
  type Column,
  type ColumnSchema,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  makeRows,
  makeRowsFor,
  pick,
  sparse,
  times,
} from './rows.ts';
export { type SimulatedProvider, simulate } from './simulate.ts';
export { createTable, type Row, type Table, type TableOptions } from './table.ts';
export { type Delivery, signWebhook, type WebhookSignature } from './webhook.ts';
