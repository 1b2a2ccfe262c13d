// Tells the caller what to do about a fault of PostgreSQL: try again, look at the row, or give up.
// Codes: PostgreSQL documentation, appendix A.

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** A value that PostgreSQL cannot hold: class 22 (data exception), 54 (limits, such as JSON depth) or 21. */
export function isDataError(error: unknown): boolean {
  return /^(22|54|21)...$/.test(sqlState(error))
}

/** The id lies in a month for which there is no partition yet. */
export function isMissingPartition(error: unknown): boolean {
  return sqlState(error) === '23514' && /no partition of relation/.test((error as Error).message)
}

/** A standby cancelled a query because of replay (40001), or does not have the schema yet (42P01, 3D000). */
export function isReplicaFault(error: unknown): boolean {
  return /^(40001|42P01|3D000)$/.test(sqlState(error))
}

/** The statement names a table, a column or a function that the database does not have. */
export function isSchemaOlder(error: unknown): boolean {
  return /^42(P01|703|883)$/.test(sqlState(error))
}

/** The schema is older, or the login lacks a right: trying again helps once somebody has changed that. Class 42. */
export function isStatementRefused(error: unknown): error is Error {
  return sqlState(error).startsWith('42')
}

/** What to do where the schema is older than this version, after "the database". */
export const wantsMigrations = 'lacks what this version asks for: run its migrations (node db/migrate.ts up)'

/** What PostgreSQL says, and what to do where its schema is older. */
export function messageWithHint(error: Error): string {
  return isSchemaOlder(error) ? `${error.message}: the database ${wantsMigrations}` : error.message
}

/** PostgreSQL refuses the user or the password. */
export function isLoginRefused(error: unknown): boolean {
  return sqlState(error).startsWith('28')
}

/** PostgreSQL reads, and takes no changes: a standby, or a server that somebody or a full disk made read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006'
}

/** Somebody else holds what the statement needs for longer than it may wait, or the two wait for each other. */
export function isLocked(error: unknown): boolean {
  return /^(40P01|55P03)$/.test(sqlState(error))
}

/** PostgreSQL opens no further connection, for all, or for this role or database. */
export function isFull(error: unknown): boolean {
  return sqlState(error) === '53300'
}

/** PostgreSQL has no room left for what it should write. It goes on reading. */
export function isDiskFull(error: unknown): boolean {
  return sqlState(error) === '53100'
}

/** It ran, or waited for a lock, for longer than `statement_timeout`. */
export function isTooSlow(error: unknown): boolean {
  return sqlState(error) === '57014'
}

/**
 * PostgreSQL cannot be reached, is starting or stopping, took too long, takes no changes, or refuses the login: trying
 * later may help.
 */
export function isDatabaseAway(error: unknown): boolean {
  const code = sqlState(error)
  if (isLoginRefused(error) || isReadOnly(error) || isTooSlow(error)) return true
  // Class 08 (connection), 57P (shutdown), 53 (resources); the driver's and Node's own codes.
  if (/^(08...|57P..|53...)$/.test(code)) return true
  if (/^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code)) return true
  return isNetworkFault(error)
}

/** Whatever the network says: refused, no route, no name, no port or file descriptor left for a socket. */
function isNetworkFault(error: unknown): boolean {
  // A name may have several addresses: then each of them has failed.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isNetworkFault)
  return (
    error instanceof Error && 'syscall' in error && /^(connect|getaddrinfo|read|write)$/.test(String(error.syscall))
  )
}
