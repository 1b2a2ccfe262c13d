// The recipes of infra/docs/recipes, each with its framework: what dlq-manager shows is what the page says. The first time,
// Maven, PyPI, npm and Go's proxy are asked for the frameworks; that takes minutes.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isInstalled, type Recipe, tryRecipe } from './test-application.ts'

const fleet = useFleet('recipes', { env: { DLQ_RETRY_AUTO_RETRY: 'false' } })
beforeAll(() => fleet.services.startAll())
afterAll(() => fleet.services.stop())

const jar = 'mvn -q -B package -DskipTests dependency:copy-dependencies'
const spring = (mode: string): Recipe => ({
  name: 'spring',
  make: jar,
  run: `java -cp 'target/classes:target/dependency/*' shop.BillingApplication --spring.kafka.bootstrap-servers=$BROKERS --billing.topic=$TOPIC --billing.group=$GROUP --billing.mode=$MODE`,
  env: { MODE: mode },
})
const connect = (mode: string): Recipe => ({ name: 'connect', make: jar, run: 'sh run.sh', env: { MODE: mode } })
const quarkus = (strategy: string): Recipe => ({
  name: 'quarkus',
  make: 'mvn -q -B package -DskipTests',
  run: 'java -jar target/quarkus-app/quarkus-run.jar',
  env: { STRATEGY: strategy },
})
const recipes: readonly (Recipe & { page: string; needs: string })[] = [
  { page: 'spring-boot', needs: 'mvn', ...spring('recoverer') },
  { page: 'spring-boot', needs: 'mvn', ...spring('retryable') },
  { page: 'quarkus', needs: 'mvn', ...quarkus('dead-letter-queue') },
  { page: 'quarkus', needs: 'mvn', ...quarkus('delayed-retry-topic') },
  { page: 'kafka-connect', needs: 'mvn', ...connect('transform') },
  { page: 'kafka-connect', needs: 'mvn', ...connect('sink') },
  {
    page: 'kafka-streams',
    needs: 'mvn',
    name: 'streams',
    make: jar,
    run: `java -cp 'target/classes:target/dependency/*' shop.BillingStreams`,
  },
  {
    ...{ page: 'kafkajs', needs: 'node', name: 'kafkajs' },
    run: `'${process.execPath}' '${fileURLToPath(new URL('../kafkajs/billing.ts', import.meta.url))}'`,
  },
  {
    ...{ page: 'confluent-kafka-python', needs: 'python3', name: 'python' },
    make: 'python3 -m venv venv && venv/bin/pip install -q -r requirements.txt',
    run: 'venv/bin/python billing.py',
  },
  { page: 'franz-go', needs: 'go', name: 'franz-go', make: 'go build -o billing .', run: './billing' },
]

test.each(recipes.map((recipe) => ({ ...recipe, mode: Object.values(recipe.env ?? {}).join() })))(
  'the page $page shows what a run of it gives $mode',
  async ({ page, needs, ...recipe }) => {
    expect(isInstalled(needs), `${needs} is not installed`).toBe(true)
    const text = await tryRecipe(fleet, recipe)
    expect(readFileSync(new URL(`../../docs/recipes/${page}.md`, import.meta.url), 'utf8')).toContain(text)
  },
)
