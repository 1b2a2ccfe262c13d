// What holds for batches and their records holds for rows that are written early, too: the same tests, with all groups,
// routes and frames known.

import { warmUp } from './test-batch.ts'

warmUp()

// A module of its own: a worker keeps those of the files that it has run, and their tests would not be run again.
for (const file of [
  './store-batch',
  './reopen-republished',
  './claims',
  '../read/forget-erased',
  '../decode/decode-letters',
])
  await import(`${file}.pg.test.ts?early`)
