import { describeRandomMappings } from './random-mappings.ts';

describeRandomMappings('many random mappings', { objects: 10, mappings: 15, filters: 12, seed: 12, decisive: 180 });
