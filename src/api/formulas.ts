import type { Principal } from '../accounts/accounts.ts';
import { invalidRequest, pointer } from '../errors.ts';
import type { FormulaInstanceQuery } from '../formulas/formula-instances.ts';
import type { ListedInstance } from '../formulas/formula-instances-store.ts';
import type { Formula, FormulaContent, Step, Trigger, Variable } from '../formulas/model.ts';
import { toResourceDocument } from '../formulas/resource-document.ts';
import type { FormulaCaller } from '../formulas/templates.ts';
import type { FormulaVersion } from '../formulas/templates-store.ts';
import { listHeaders } from '../http/response.ts';
import { missing } from '../shared-errors.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationQuery, OperationResult } from './operation.ts';
import { createPageTokens, PAGE_SIZE, type PageSeal, respondWithPage } from './page-tokens.ts';
import { BASE_PATH } from './server.ts';

type FormulaView = OperationResult<'getFormula'>;
type InstanceView = OperationResult<'getFormulaInstance'>;

interface Paged {
  readonly principal: Principal;
  readonly query: OperationQuery<'listInstancesOfFormula'>;
  readonly url: string;
}

export function createFormulaHandlers({ formulas, publicUrl }: ApiServices, seal: PageSeal) {
  const { templates, parts, validation, formulaInstances } = formulas;

  /** Responds with a page of formula instances of the account of the request. */
  function listInstances<View>(
    { principal: { accountId }, ...request }: Paged,
    selection: Omit<FormulaInstanceQuery, 'where' | 'afterId' | 'limit'>,
    toView: (instance: ListedInstance) => View,
  ) {
    return respondWithPage(seal, request, {
      context: ['formula-instances', accountId, { ...selection, where: request.query.where }],
      read: (page) => formulaInstances.list(accountId, { ...selection, ...page }),
      toView,
    });
  }

  async function listOfFormula<View>(paged: Paged, formulaId: number, toView: (instance: ListedInstance) => View) {
    await templates.get(callerOf(paged.principal), formulaId);
    return listInstances(paged, { formulaId, includesInactive: true }, toView);
  }

  return {
    listFormulas: async ({ principal, ...request }) => {
      const { abridged: isAbridged = false, callableBy, where } = request.query;
      const caller = callerOf(principal);
      if (callableBy !== undefined) await assertCallableBy(caller, callableBy);
      return respondWithPage(seal, request, {
        context: ['formulas', caller.accountId, caller.seesAll, isAbridged, callableBy, where],
        read: (page) => templates.list(caller, { ...page, callableBy, isAbridged }),
        toView: isAbridged ? toAbridgedView : toFormulaView,
      });
    },
    createFormula: async ({ principal, body }) => ({
      body: toFormulaView(await templates.create(callerOf(principal), body)),
    }),
    getFormula: async ({ principal, path }) => ({
      body: toFormulaView(await templates.get(callerOf(principal), path.id)),
    }),
    replaceFormula: async ({ principal, path, body }) => {
      assertSameId(body, path.id);
      return { body: toFormulaView(await templates.replace(callerOf(principal), path.id, body)) };
    },
    updateFormula: async ({ principal, path, body }) => {
      const caller = callerOf(principal);
      const { name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri, ...rest } = body;
      if (Object.keys(rest).length > 0)
        assertAsRead(rest, { shown: toFormulaView(await templates.get(caller, path.id)), drifting: ['updatedDate'] });
      const changes = { name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri };
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      return { body: toFormulaView(await templates.patch(caller, path.id, given)) };
    },
    deleteFormula: async ({ principal, path: { id } }) => {
      await templates.remove(callerOf(principal), id);
      return { body: { id } };
    },
    exportFormula: async ({ principal, path }) => ({
      body: toFileView(await templates.get(callerOf(principal), path.id)),
    }),
    getFormulaDocument: async ({ principal, path }) => {
      const formula = await templates.get(callerOf(principal), path.id);
      const body = toResourceDocument(formula, publicUrl() + BASE_PATH);
      if (body === undefined) throw missing('documentation of formula', path.id);
      return { body };
    },
    validateFormula: async ({ principal, path }) => {
      const findings = await validation.validate(callerOf(principal), path.id);
      return {
        body: {
          valid: findings.every(({ severity }) => severity !== 'error'),
          findings: findings.map((finding) => ({ ...finding })),
        },
      };
    },
    listFormulaVersions: async ({ principal, path: { id }, query: { pageSize: limit = PAGE_SIZE, nextPage }, url }) => {
      const tokens = createPageTokens(seal, JSON.stringify(['formula-versions', principal.accountId, id]));
      const before = tokens.read(nextPage);
      const { versions, next } = await templates.listVersions(callerOf(principal), id, { before, limit });
      const body = versions.map(toVersionView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(next) }) };
    },
    getFormulaVersion: async ({ principal, path: { id, version } }) => {
      const found = await templates.getVersion(callerOf(principal), id, version);
      return { body: { ...toVersionView(found), ...toContentView(found.content) } };
    },

    createFormulaTrigger: async ({ principal, path, body }) => ({
      body: toTriggerView(await parts.addTrigger(callerOf(principal), path.id, body)),
    }),
    getFormulaTrigger: async ({ principal, path: { id, triggerId } }) => ({
      body: toTriggerView(await parts.getTrigger(callerOf(principal), id, triggerId)),
    }),
    replaceFormulaTrigger: async ({ principal, path: { id, triggerId }, body }) => ({
      body: toTriggerView(await parts.replaceTrigger(callerOf(principal), id, triggerId, body)),
    }),
    deleteFormulaTrigger: async ({ principal, path: { id, triggerId } }) => {
      await parts.removeTrigger(callerOf(principal), id, triggerId);
      return { body: { id: triggerId } };
    },

    listFormulaSteps: async ({ principal, path }) => {
      const body = (await parts.listSteps(callerOf(principal), path.id)).map(toStepView);
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },
    createFormulaStep: async ({ principal, path, body }) => ({
      body: toStepView(await parts.addStep(callerOf(principal), path.id, body)),
    }),
    getFormulaStep: async ({ principal, path: { id, stepId } }) => ({
      body: toStepView(await parts.getStep(callerOf(principal), id, stepId)),
    }),
    replaceFormulaStep: async ({ principal, path: { id, stepId }, body }) => ({
      body: toStepView(await parts.replaceStep(callerOf(principal), id, stepId, body)),
    }),
    deleteFormulaStep: async ({ principal, path: { id, stepId } }) => {
      await parts.removeStep(callerOf(principal), id, stepId);
      return { body: { id: stepId } };
    },

    createFormulaVariable: async ({ principal, path, body }) => ({
      body: toVariableView(await parts.addVariable(callerOf(principal), path.id, body)),
    }),
    getFormulaVariable: async ({ principal, path: { id, configurationId } }) => ({
      body: toVariableView(await parts.getVariable(callerOf(principal), id, configurationId)),
    }),
    replaceFormulaVariable: async ({ principal, path: { id, configurationId }, body }) => ({
      body: toVariableView(await parts.replaceVariable(callerOf(principal), id, configurationId, body)),
    }),
    deleteFormulaVariable: async ({ principal, path: { id, configurationId } }) => {
      await parts.removeVariable(callerOf(principal), id, configurationId);
      return { body: { id: configurationId } };
    },

    listInstancesOfFormula: ({ principal, path, query, url }) =>
      listOfFormula({ principal, query, url }, path.id, toInstanceView),
    createFormulaInstance: async ({ principal, path, body }) => ({
      body: toInstanceView(await formulaInstances.create(callerOf(principal), path.id, body)),
    }),
    getInstanceOfFormula: async ({ principal: { accountId }, path: { id, instanceId } }) => ({
      body: toInstanceView(await formulaInstances.getOf(accountId, { formulaId: id, id: instanceId })),
    }),
    replaceInstanceOfFormula: async ({ principal, path: { id, instanceId }, body }) => {
      assertSameId(body, instanceId);
      assertSameFormula(body.formula, id);
      const of = { formulaId: id, id: instanceId };
      return { body: toInstanceView(await formulaInstances.replace(callerOf(principal), of, body)) };
    },
    updateInstanceOfFormula: async ({ principal, path: { id, instanceId }, body }) => {
      const of = { formulaId: id, id: instanceId };
      const { name, active, settings, configuration, formula, ...rest } = body;
      assertSameFormula(formula, id);
      if (Object.keys(rest).length > 0) {
        const shown = toInstanceView(await formulaInstances.getOf(principal.accountId, of));
        assertAsRead(rest, { shown, drifting: ['warnings', 'updatedDate'] });
      }
      const changes = { name, active, settings, configuration };
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      return { body: toInstanceView(await formulaInstances.patch(callerOf(principal), of, given)) };
    },
    deleteInstanceOfFormula: async ({ principal: { accountId }, path: { id, instanceId } }) => {
      await formulaInstances.remove({ accountId, id: instanceId }, id);
      return { body: { id: instanceId } };
    },
    activateFormulaInstance: async ({ principal, path: { id, instanceId } }) => {
      const of = { formulaId: id, id: instanceId };
      return { body: toInstanceView(await formulaInstances.activate(callerOf(principal), of)) };
    },
    deactivateFormulaInstance: async ({ principal, path: { id, instanceId } }) => {
      const of = { formulaId: id, id: instanceId };
      return { body: toInstanceView(await formulaInstances.deactivate(callerOf(principal), of)) };
    },

    listFormulaInstances: ({ principal, query, url }) => {
      const { elementInstanceId, searchText, includeInactive: includesInactive = false } = query;
      return listInstances(
        { principal, query, url },
        { elementInstanceId, searchText, includesInactive },
        toListedView,
      );
    },
    getFormulaInstance: async ({ principal: { accountId }, path }) => ({
      body: toInstanceView(await formulaInstances.get(accountId, path.instanceId)),
    }),
    deleteFormulaInstance: async ({ principal: { accountId }, path: { instanceId: id } }) => {
      await formulaInstances.remove({ accountId, id });
      return { body: { id } };
    },
    listAccountFormulaInstances: ({ principal, path, query, url }) =>
      listOfFormula({ principal, query, url }, path.formulaId, toAccountView),
  } satisfies Partial<Handlers>;

  /** @throws AppError NOT_FOUND */
  async function assertCallableBy(caller: FormulaCaller, id: number): Promise<void> {
    const visible = await templates.findVisible(caller, [id]);
    if (!visible.has(id)) throw missing('formula', id);
  }
}

/** Returns who asks, and what that user sees of formulas. A request that names an account sees what that account sees. */
export function callerOf(principal: Principal): FormulaCaller {
  const { organizationId, accountId, userId, privileges, isAccountNamed } = principal;
  const mayNameAll = privileges.has('manageOrganization');
  return { organizationId, accountId, userId, mayNameAll, seesAll: mayNameAll && isAccountNamed !== true };
}

/** Refuses a formula instance of another formula. What else is shown of the formula is not looked at. @throws AppError REQUEST_INVALID */
function assertSameFormula(formula: unknown, id: number): void {
  const given: unknown = Object(formula).id;
  if (given === undefined || given === null || Number(given) === id) return;
  const message = `body.formula.id must be ${id}, as in the path. Or leave it out.`;
  throw invalidRequest([{ path: pointer('body', 'formula', 'id'), message }]);
}

/** Refuses a formula or an instance that is sent to the path of another one. @throws AppError REQUEST_INVALID */
function assertSameId(body: Readonly<Record<string, unknown>>, id: number): void {
  if (body.id === undefined || body.id === null || Number(body.id) === id) return;
  const message = `body.id must be ${id}, as in the path. Or leave it out.`;
  throw invalidRequest([{ path: pointer('body', 'id'), message }]);
}

function toFormulaView(formula: Formula): FormulaView {
  const { steps, ...content } = toContentView(formula);
  return { ...toAbridgedView(formula), ...content, steps };
}

function toAbridgedView(formula: Formula): FormulaView {
  const { id, userId, accountId, createdAt, updatedAt } = formula;
  const { configuration, triggers } = toContentView(formula);
  return {
    id,
    ...toValuesView(formula),
    userId,
    accountId,
    createdDate: createdAt.toISOString(),
    updatedDate: updatedAt.toISOString(),
    configuration,
    triggers,
  };
}

function toValuesView(formula: Formula) {
  const { name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri } = formula;
  return {
    name,
    ...(description !== null && { description }),
    active,
    singleThreaded,
    debugLoggingEnabled,
    engine,
    ...(method !== null && { method }),
    ...(uri !== null && { uri }),
  };
}

function toContentView({ configuration, triggers, steps }: FormulaContent) {
  return {
    configuration: configuration.map(toVariableView),
    triggers: triggers.map(toTriggerView),
    steps: steps.map(toStepView),
  };
}

function toVariableView(variable: Variable) {
  return { ...variable };
}

function toTriggerView({ onSuccess, onFailure, properties, async = true, ...trigger }: Trigger) {
  return {
    ...trigger,
    async,
    onSuccess: [...onSuccess],
    onFailure: [...onFailure],
    properties: { ...properties },
  };
}

function toStepView({ onSuccess, onFailure, properties, ...step }: Step) {
  return { ...step, onSuccess: [...onSuccess], onFailure: [...onFailure], properties: { ...properties } };
}

function toFileView(formula: Formula): OperationResult<'exportFormula'> {
  const { configuration, triggers, steps } = toContentView(formula);
  return {
    ...toValuesView(formula),
    configuration: configuration.map(withoutId),
    triggers: triggers.map(withoutId),
    steps: steps.map(withoutId),
  };
}

function withoutId<Part extends { readonly id: number }>({ id: _, ...part }: Part): Omit<Part, 'id'> {
  return part;
}

function toVersionView({ version, createdAt, userId }: FormulaVersion) {
  return { version, createdDate: createdAt.toISOString(), userId };
}

function toInstanceView(instance: ListedInstance): InstanceView {
  const { id, name, createdAt, updatedAt, active, warning } = instance;
  return {
    id,
    name,
    createdDate: createdAt.toISOString(),
    updatedDate: updatedAt.toISOString(),
    active,
    formula: toFormulaOfInstance(instance),
    settings: { ...instance.settings },
    configuration: { ...instance.configuration },
    ...(warning !== null && { warnings: [warning] }),
  };
}

/** The members of the contract, and no other. */
function toFormulaOfInstance({ formula }: ListedInstance) {
  const { id, active, debugLoggingEnabled, singleThreaded } = formula;
  return { id, active, debugLoggingEnabled, singleThreaded };
}

function toListedView(instance: ListedInstance): OperationResult<'listFormulaInstances'>[number] {
  const { name, description, accountId, userId, createdAt, updatedAt, configuration } = instance.formula;
  return {
    ...toInstanceView(instance),
    formula: {
      ...toFormulaOfInstance(instance),
      name,
      ...(description !== null && { description }),
      accountId,
      userId,
      createdDate: createdAt.toISOString(),
      updatedDate: updatedAt.toISOString(),
      configuration: configuration.map(toVariableView),
    },
  };
}

function toAccountView(instance: ListedInstance): OperationResult<'listAccountFormulaInstances'>[number] {
  const { id, name, createdDate, active, settings, configuration, formula } = toInstanceView(instance);
  return { id, formula, name, createdDate, active, settings, configuration };
}
