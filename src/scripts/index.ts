export { analyse, findSyntaxFault, namesInScript, type ScriptAnalysis } from './analysis.ts';
export {
  type CpuTime,
  FORMULA_LIMITS,
  type Sandbox,
  type ScriptCall,
  type ScriptJob,
  type ScriptLimits,
  type ScriptMail,
  type ScriptResult,
  TRANSFORMATION_LIMITS,
} from './model.ts';
export { createSandbox, type PoolLimits, type SandboxPorts } from './pool.ts';
