// The filter of the Spring recipe says the same as forGroup(). Needs Java, and no broker.

import { fileURLToPath } from 'node:url'
import { compileJava } from 'dlq-testing/kafka/java.ts'
import { expect, test } from 'vitest'
import { forGroupCases } from './test-for-group-cases.ts'

const pathOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

test('the filter in Java handles the same records', async ({ skip }) => {
  await using java = await compileJava(
    pathOf('packages/dlq-testing/kafka/ForGroupCases.java'),
    pathOf('infra/recipes/spring/src/main/java/shop/ForGroup.java'),
  )
  if (java === null) {
    console.info('The filter in Java is not tested: there is no Java 17 here.')
    return skip()
  }
  const args = forGroupCases.map(({ header }) => {
    if (header === undefined) return '+'
    return header === null ? '-' : `=${Buffer.from(header).toString('base64')}`
  })
  const said = (await java.run(args)).trim().split('\n')
  expect(said).toEqual(forGroupCases.map(({ handled }) => (handled ? 'handled' : 'left out')))
})
