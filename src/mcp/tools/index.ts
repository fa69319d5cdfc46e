import type { OperationId } from '../../../generated/operations.ts';
import { DISCOVERY_TOOLS } from './discovery.ts';
import { callProvider } from './passthrough.ts';
import { READING_TOOLS } from './reading.ts';
import type { AgentTool } from './tool.ts';
import { WRITING_TOOLS } from './writing.ts';

export const TOOLS: readonly AgentTool[] = [...DISCOVERY_TOOLS, ...READING_TOOLS, ...WRITING_TOOLS, callProvider];

/** Returns the tools whose operations an access key may use. */
export function toolsOf(may: (operation: OperationId) => boolean): readonly AgentTool[] {
  return TOOLS.filter(({ operation }) => may(operation));
}
