import { expect, test } from 'vitest'
import { deploymentAt, sectionIn } from './deployments.ts'

const europe = { name: 'Europe', url: 'https://dlq.example.com' }
const america = { name: 'America', url: 'https://dlq.example.com/us/' }

test('the deployment of a page is the one below whose address it is', () => {
  const of = (address: string) => deploymentAt([europe, america], address)?.name
  expect(of('https://dlq.example.com/console/groups?status=DEAD')).toBe('Europe')
  expect(of('https://dlq.example.com/us/console/')).toBe('America')
  expect(of('https://dlq.example.com.evil.example/console/')).toBeUndefined()
  expect(of('http://localhost:5173/console/')).toBeUndefined()
})

test('a switch keeps the section, and no id', () => {
  expect(sectionIn(america, '/groups/550e8400')).toBe('https://dlq.example.com/us/console/groups')
  expect(sectionIn(europe, '/')).toBe('https://dlq.example.com/console/')
})
