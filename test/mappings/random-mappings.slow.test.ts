import { runs, seedOr } from '../../suite/effort.ts';
import { describeRandomMappings } from './random-mappings.ts';

describeRandomMappings('many random mappings', {
  objects: 10,
  mappings: runs(15),
  filters: 12,
  seed: seedOr(12),
  decisive: runs(180),
});
