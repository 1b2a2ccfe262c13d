// The handles that saga-core takes: any pool of postgres.js, however it is set up to parse JSON, because JSON
// goes to and from PostgreSQL as text here.

import type postgres from 'postgres'

export type Sql = postgres.ISql
export type Pool = Pick<postgres.Sql, 'begin'> & postgres.ISql
export type Transaction = postgres.TransactionSql
