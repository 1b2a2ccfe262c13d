import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { databaseUrlOf } from './database-url.ts'

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-url-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), text)
  return join(folder, 'file')
}

test('DATABASE_URL is used unchanged', () => {
  const url = 'postgres://app:secret@db:6432/dlq?sslmode=verify-full'
  expect(databaseUrlOf({ DATABASE_URL: url })).toBe(url)
})

test('the parts make a URL that the driver reads back unchanged, whatever characters a password has', () => {
  const url = databaseUrlOf({
    DLQ_DATABASE_HOST: '::1',
    DLQ_DATABASE_PORT: '6432',
    DLQ_DATABASE_NAME: 'dead letters',
    DLQ_DATABASE_USER: 'app@here',
    DLQ_DATABASE_PASSWORD_FILE: fileWith('p/w?:@#%é\n'),
  })
  const client = new pg.Client({ connectionString: url })
  expect(client).toMatchObject({ port: 6432, database: 'dead letters', user: 'app@here', password: 'p/w?:@#%é' })
  expect(client.host.replaceAll(/[[\]]/g, '')).toBe('::1')
})

test('the configuration file may name the database, and "require" accepts any certificate', () => {
  const DLQ_CONFIG = fileWith('database: { host: db, name: dlq, user: app, ssl_mode: require }')
  expect(databaseUrlOf({ DLQ_CONFIG })).toBe('postgres://app@db:5432/dlq?sslmode=require&uselibpqcompat=true')
})

test('the files of certificates are those of the services', () => {
  const tls =
    'ssl_mode: verify-full, ssl_ca_file: FOLDER/ca.pem, ssl_cert_file: FOLDER/app.pem, ssl_key_file: FOLDER/app.key'
  const folder = mkdtempSync(join(tmpdir(), 'dlq-url-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const made = certificateMaker(folder)
  made.authority('ca')
  made.certificate('app', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  const DLQ_CONFIG = fileWith(`database: { host: db, name: dlq, user: app, ${tls.replaceAll('FOLDER', folder)} }`)
  const { ssl } = new pg.Client({ connectionString: databaseUrlOf({ DLQ_CONFIG }) }) as unknown as { ssl: object }
  const contents = (name: string) => readFileSync(made.path(name), 'utf8')
  expect(ssl).toMatchObject({ ca: contents('ca.pem'), cert: contents('app.pem'), key: contents('app.key') })
  expect(ssl).not.toHaveProperty('rejectUnauthorized')
})

test('where nothing names a database, the message says what to set', () => {
  expect(() => databaseUrlOf({})).toThrow('set DATABASE_URL, or database.host, database.name and database.user')
})
