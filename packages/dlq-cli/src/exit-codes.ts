// Exit codes that scripts branch on. Those above 63 are of sysexits.h, as in the services.
export const exitCodes = {
  done: 0,
  /** The API refused, or a check or a run failed. */
  failed: 1,
  /** `--wait`: something came back as a dead letter. */
  cameBack: 3,
  /** `--wait`: the run is paused, for example by its canary. */
  paused: 4,
  usage: 64,
  unavailable: 69,
  /** `--wait` ran out of time. The run goes on. */
  timeout: 75,
  notAllowed: 77,
  configuration: 78,
  /** 128 and the number of the signal: Ctrl-C is SIGINT. */
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Answers of a gateway whose API is away, or of an API without its database. */
export function isAwayStatus(status: number): boolean {
  return [502, 503, 504].includes(status)
}

/** A command ends with this code and says this. */
export class CliError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}
