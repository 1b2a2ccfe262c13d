import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from './config.ts'
import { readDescriptorFiles } from './descriptor-files.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dlq-desc-'))
  const cents = { name: 'cents', number: 1, type: 3, label: 1, jsonName: 'cents' }
  const file = { name: 'm.proto', package: 'acme', syntax: 'proto3', messageType: [{ name: 'Money', field: [cents] }] }
  writeFileSync(
    join(folder, 'm.desc'),
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] })),
  )
  writeFileSync(join(folder, 'broken.desc'), 'no descriptor')
})
afterAll(() => rmSync(folder, { recursive: true }))

const load = (schemas: object) => loadConfig({ env: {}, yaml: JSON.stringify({ schemas }), needs: [] }).config.schemas!
const ruleOf = (type: string) => ({ topics: 'money', value: { format: 'protobuf', type } })

test('a rule finds its message type in the files, also beside one that is broken', () => {
  const { codecs, faults } = readDescriptorFiles(load({ files: folder, rules: [ruleOf('acme.Money')] }))
  expect(faults).toEqual([])
  expect(codecs.get('acme.Money')!.read(Buffer.from([8, 42]), 0)).toBe('{"cents":"42"}')
})

test.each([
  [
    'without a folder',
    () => ({ rules: [ruleOf('acme.Money')] }),
    'schemas.files: missing; rules of format protobuf need it',
  ],
  ['without its type', () => ({ files: folder, rules: [ruleOf('acme.Order')] }), 'has the message type acme.Order'],
  [
    'with a folder that is none',
    () => ({ files: join(folder, 'x'), rules: [] }),
    'schemas.files: cannot read the folder',
  ],
  [
    'without a type',
    () => ({ rules: [{ topics: 'a', value: { format: 'protobuf' } }] }),
    'must have type together with format protobuf',
  ],
  [
    'of Avro without an id',
    () => ({ rules: [{ topics: 'a', value: { format: 'avro' } }] }),
    'must have schema_id together with format avro',
  ],
  ['with a password in its URL', () => ({ registries: [{ name: 'a', url: 'http://u:p@r' }] }), 'without a login in it'],
  [
    'with a user and no password',
    () => ({ registries: [{ name: 'a', url: 'http://r', username: 'u' }] }),
    'username and password_file together',
  ],
  [
    'with two registries of one name',
    () => ({
      registries: [
        { name: 'a', url: 'http://r' },
        { name: 'a', url: 'http://s' },
      ],
    }),
    'two registries of one name',
  ],
])('a section %s is refused', (_, section, fault) => {
  expect(() => load(section())).toThrow(fault)
})
