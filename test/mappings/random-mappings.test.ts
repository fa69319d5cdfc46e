import { describeRandomMappings } from './random-mappings.ts';

describeRandomMappings('a few random mappings', { objects: 2, mappings: 5, filters: 5, seed: 11, decisive: 10 });
