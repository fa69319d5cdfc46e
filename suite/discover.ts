import type { Connector, ConnectorContext, DiscoveryContext, ObjectSpec, Objects } from '../src/connector/contract.ts';

/** Returns all declared or discovered objects with their fields, including those of outlines and children. */
export async function discoverAll(find: Connector['objects'], context: ConnectorContext): Promise<Objects> {
  const discovery = withoutThreads(context);
  return completeAll(typeof find === 'function' ? await find(discovery) : find, discovery);
}

/** Returns a context for discovery that runs modules in this thread. Tests can trust their documents. */
export function withoutThreads(context: ConnectorContext): DiscoveryContext {
  return { ...context, offload: async (module, text) => (await import(module.href)).default(text) };
}

async function completeAll(objects: Objects, context: DiscoveryContext): Promise<Objects> {
  const completed = await Promise.all(
    Object.entries(objects).map(async ([name, object]) => [name, await complete(object, context)] as const),
  );
  return Object.fromEntries(completed);
}

async function complete(object: ObjectSpec, context: DiscoveryContext): Promise<ObjectSpec> {
  const described = (await object.describe?.(context)) ?? object;
  const { children } = described;
  return children === undefined ? described : { ...described, children: await completeAll(children, context) };
}
