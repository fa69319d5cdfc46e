import { ResponseValidator } from 'express-openapi-validator/dist/middlewares/openapi.response.validator.js';

/**
 * Compiles the schema of a response when an operation first returns its status. The validator would compile those of all documented
 * statuses with the first response: some 14 of each operation, of which a test sees two or three.
 */
const build: unknown = Reflect.get(ResponseValidator.prototype, 'buildValidators');
if (typeof build !== 'function')
  throw new Error('The validator has no function that compiles the schemas of responses.');

const buildLazily = function buildLazily(this: ResponseValidator, responses: object, key: string): object {
  const validators = {};
  for (const [status, response] of Object.entries(responses)) {
    Object.defineProperty(validators, status, {
      configurable: true,
      get: () => {
        const value: unknown = Reflect.apply(build, this, [{ [status]: response }, key])[status];
        Object.defineProperty(validators, status, { value });
        return value;
      },
    });
  }
  return validators;
};

Object.assign(ResponseValidator.prototype, { buildValidators: buildLazily });
