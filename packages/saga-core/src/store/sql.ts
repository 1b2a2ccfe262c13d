// The handles that saga-core takes: any pool of postgres.js, with any parsing of JSON, because saga-core sends
// and reads JSON as text.

import type postgres from 'postgres'

export type Sql = postgres.ISql
export type Pool = Pick<postgres.Sql, 'begin'> & postgres.ISql
export type Transaction = postgres.TransactionSql
