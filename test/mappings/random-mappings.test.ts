import { describeRandomMappings } from './random-mappings.ts';

describeRandomMappings('a few random mappings', { objects: 1, mappings: 3, filters: 5, seed: 11, decisive: 2 });
