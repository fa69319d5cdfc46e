import type { ApiServices } from './api-services.ts';
import { inBody, withPointers } from './body-faults.ts';
import type { Handlers } from './operation.ts';
import { mappingHeaders } from './records.ts';

export function createQueryHandlers({ resources }: ApiServices) {
  return {
    explainQuery: async ({ instance, body, signal }) => {
      const { objectName, ...query } = body;
      const explained = resources.explain({ instance, objectName, signal }, query);
      const { explanation, mapping } = await withPointers(inBody, explained);
      return {
        body: { ...explanation, predicates: [...explanation.predicates] },
        headers: { ...(mapping !== undefined && mappingHeaders(mapping)), 'Elements-Element-Instance-Id': instance.id },
      };
    },
  } satisfies Partial<Handlers>;
}
