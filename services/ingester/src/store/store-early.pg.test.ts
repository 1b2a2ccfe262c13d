// What holds for batches and their records holds for rows that are written early, too: the same tests, with all groups,
// routes and frames known.

import { warmUp } from './test-batch.ts'

warmUp()

await import('./store-batch.pg.test.ts')
await import('./reopen-republished.pg.test.ts')
await import('./claims.pg.test.ts')
await import('../read/forget-erased.pg.test.ts')
await import('../decode/decode-letters.pg.test.ts')
