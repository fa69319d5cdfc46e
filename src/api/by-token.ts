import type { Instance } from '../instances/instance.ts';

interface ById {
  readonly path: { readonly id: number };
  readonly instance: undefined;
}

/** The same operation for the instance that the token names. */
export function ofToken<Request extends ById, Result>(
  handle: (request: Request) => Result,
): (
  request: Omit<Request, keyof ById> & { readonly path: Omit<Request['path'], 'id'>; readonly instance: Instance },
) => Result {
  return ({ instance, path, ...rest }) => {
    const request = { ...rest, path: { ...path, id: instance.id }, instance: undefined };
    // What `Omit` took away is there again, which the compiler does not see of a type that it does not know.
    return handle(request as unknown as Request);
  };
}
