import { describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from './config.ts'
import { maskEntriesOf } from './masks-schema.ts'

const load = (section: object) =>
  loadConfig({
    env: {},
    yaml: JSON.stringify(section),
    needs: ['auth-beyond-loopback'],
    readSecret: () => 'x'.repeat(32),
  })

function faultsOf(section: object): readonly string[] {
  try {
    load(section)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('masks', () => {
  test('are none unless configured, and tokens see what masks leave', () => {
    const sha256 = '0'.repeat(64)
    const { config } = load({ auth: { tokens: [{ name: 'a', sha256, role: 'sys_admin' }] } })
    expect(maskEntriesOf(config.masks)).toEqual([])
    expect(config.auth.tokens[0]).toMatchObject({ payloads: 'masked', exports: true })
    expect(config.auth.jwt.payloads_claim).toBe('dlq_payloads')
    expect(config.audit.unmask_reason).toBe('optional')
  })

  test('have topics as lists or texts, and a secret in a file', () => {
    const { config } = load({
      masks: [
        { topics: 'orders.*, payments', hide: ['/a~1b/*/**'], key: 'pseudonym', errors: ['email', 'cust-[0-9]+'] },
      ],
      masks_secret_file: '/run/secrets/masks',
    })
    expect(maskEntriesOf(config.masks)).toEqual([
      {
        ...{ topics: ['orders.*', 'payments'], hide: ['/a~1b/*/**'], key: 'pseudonym', headers: [] },
        errors: ['email', 'cust-[0-9]+'],
      },
    ])
    expect(config.masks_secret).toBe('x'.repeat(32))
  })

  test.each([
    [{ topics: 'a', hide: ['customer'] }, 'masks.0.hide.0: must be a JSON Pointer such as "/customer/email"'],
    [{ topics: 'a', hide: ['/a~2'] }, 'masks.0.hide.0: must be a JSON Pointer'],
    [{ topics: 'a', hide: ['/a'], show: ['/b'] }, 'masks.0: must have hide or show, not both'],
    [{ topics: 'a' }, 'masks.0: hides nothing: give hide, show, key, headers or errors'],
    [{ topics: 'a', hide: [] }, 'masks.0.hide: must not be empty'],
    [{ hide: ['/a'] }, 'masks.0.topics'],
    [{ topics: 'a', key: 'hash' }, 'masks.0.key: must be one of show, hide, pseudonym'],
    [{ topics: 'a', errors: ['(a'] }, 'masks.0.errors.0: is neither one of email, iban, card nor a pattern'],
    [{ topics: 'a', errors: ['a*'] }, 'masks.0.errors.0: matches the empty text'],
    [{ topics: 'a', errors: ['a(?=b)'] }, 'masks.0.errors.0: is neither one of email, iban, card nor a pattern'],
    [{ topics: 'a', key: 'pseudonym' }, 'masks.0.key: pseudonym needs masks_secret_file'],
    [{ topics: 'a', hides: ['/a'] }, 'masks.0.hides: unknown key'],
  ])('%j has a fault that names the field', (mask, fault) => {
    expect(faultsOf({ masks: [mask] })).toEqual([expect.stringContaining(fault)])
  })

  test('a short secret and unknown words of tokens are faults', () => {
    const token = { name: 'a', sha256: '0'.repeat(64), role: 'sys_admin', payloads: 'some' }
    expect(faultsOf({ masks_secret: 'short', auth: { tokens: [token] }, audit: { unmask_reason: 'always' } })).toEqual([
      expect.stringContaining('masks_secret: must be at least 32 characters'),
      expect.stringContaining('audit.unmask_reason: must be one of optional, required'),
      expect.stringContaining('auth.tokens.0.payloads: must be one of none, masked, full'),
    ])
  })
})
