import { expect, test } from 'vitest'
import {
  isDatabaseAway,
  isDataError,
  isLoginRefused,
  isSchemaOlder,
  isStatementRefused,
  messageWithHint,
} from './database-errors.ts'

const fault = (code: string) => Object.assign(new Error(code), { code })

test.each(['08006', '57P01', '53300', '57014', 'CONNECT_TIMEOUT', '28P01', '28000', '25006'])(
  'after %s the database may answer later',
  (code) => expect(isDatabaseAway(fault(code))).toBe(true),
)

test.each([
  ['ECONNREFUSED', 'connect'],
  ['EMFILE', 'connect'],
  ['ENETUNREACH', 'connect'],
  ['EAI_AGAIN', 'getaddrinfo'],
])('after %s of %s the database may answer later', (code, syscall) =>
  expect(isDatabaseAway(Object.assign(fault(code), { syscall }))).toBe(true),
)

test.each(['23505', '42P01', '22021', '', 'ENOENT'])('%s does not mean that the database is away', (code) => {
  expect(isDatabaseAway(fault(code))).toBe(false)
})

test.each(['42P01', '42703', '42883'])('%s means that the schema is older, and its message says what to do', (code) => {
  expect(isSchemaOlder(fault(code))).toBe(true)
  expect(messageWithHint(fault(code))).toBe(
    `${code}: the database lacks what this version asks for: run its migrations (node db/migrate.ts up)`,
  )
  expect(messageWithHint(fault('42501'))).toBe('42501')
})

test('a statement is refused where the schema is older or a right is missing, and not by an outage or a value', () => {
  expect(['42703', '42501', '08006', '40P01', '22021', ''].map((code) => isStatementRefused(fault(code)))).toEqual([
    ...[true, true, false, false, false, false],
  ])
})

test('a login that is refused is told from a database that is away, and from a value that is refused', () => {
  expect(isLoginRefused(fault('28P01'))).toBe(true)
  expect(isLoginRefused(fault('57P01'))).toBe(false)
  expect(isDataError(fault('28P01'))).toBe(false)
})

test('a name is away where all its addresses are', () => {
  const refused = Object.assign(fault('ECONNREFUSED'), { syscall: 'connect' })
  expect(isDatabaseAway(new AggregateError([refused, refused]))).toBe(true)
  expect(isDatabaseAway(new AggregateError([refused, fault('22021')]))).toBe(false)
  expect(isDatabaseAway(new AggregateError([]))).toBe(false)
})
