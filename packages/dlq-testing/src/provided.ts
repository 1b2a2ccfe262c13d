// The values that the shared test stack gives to every test file, through vitest's provide and inject.

/** `kafkaBrokers` is empty when no Kafka was started for the run. */
export type TestStack = {
  databaseUrl: string
  /** The migrated database that test databases are cloned from. */
  templateDatabase: string
  /** Begins the name of every database, topic and group of this run. */
  runId: string
  kafkaBrokers: string[]
}

declare module 'vitest' {
  export interface ProvidedContext {
    testStack: TestStack
  }
}
