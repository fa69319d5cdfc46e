import type { Resources } from '../resources/resources.ts';
import type { Handlers } from './handler.ts';

export function createQueryHandlers(resources: Pick<Resources, 'explain'>): Pick<Handlers, 'explainQuery'> {
  return {
    explainQuery: async ({ instance, body, signal }) => {
      const { objectName, ...query } = body;
      const { predicates, ...explanation } = await resources.explain({ instance, objectName, signal }, query);
      return {
        body: { ...explanation, predicates: [...predicates] },
        headers: { 'Elements-Element-Instance-Id': instance.id },
      };
    },
  };
}
