// What the run's setup gives to browser tests: the address at which a file asks for the fleet. vitest provides the address
// alone, because the fleet runs only while a file uses it.

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
    consoleFleetAt: string
  }
}

/** Starts the fleet unless it runs. Whoever has it gives it back. @throws {Error} with why it did not start */
export async function takeConsoleFleet(at: string): Promise<ConsoleFleet> {
  return (await ask(`${at}/take`)).json() as Promise<ConsoleFleet>
}

/** The last one to give it back stops it. */
export async function giveBackConsoleFleet(at: string): Promise<void> {
  await ask(`${at}/give-back`)
}

async function ask(url: string): Promise<Response> {
  const answer = await fetch(url, { method: 'POST' })
  if (!answer.ok) throw new Error(await answer.text())
  return answer
}
