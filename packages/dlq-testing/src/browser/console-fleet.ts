// What the run's setup gives to browser tests, through vitest's provide and inject.

export type ConsoleFleet = {
  /** The address of the browser. */
  browser: string
  /** The API without authentication. */
  open: string
  /** The API that takes these tokens; both have one database. */
  guarded: string
  databaseUrl: string
  tokens: Record<'auditor' | 'operator' | 'admin' | 'limited' | 'unmasker', string>
}

declare module 'vitest' {
  export interface ProvidedContext {
    consoleFleet: ConsoleFleet
  }
}
