import type { Schemas } from '../api.ts';

export type AccessKey = Schemas['AccessKey'];

export const PATH = '/console/keys';
