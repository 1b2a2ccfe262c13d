import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMasks, type MaskEntry } from './create-masks.ts'
import { heldJson, hiddenMark, maskJson } from './mask-json.ts'
import { asksForHidden, patchesHidden } from './mask-oracles.ts'
import { compileMaskPaths, parseMaskPath } from './mask-paths.ts'
import { createKeySeal } from './seal-key.ts'

const stateOf = ({ hide = [], shows = [] }: { hide?: string[]; shows?: string[][] }) =>
  compileMaskPaths({
    hide: hide.map((pointer) => parseMaskPath(pointer)!),
    shows: shows.map((group) => group.map((pointer) => parseMaskPath(pointer)!)),
  })

const names = ['a', 'b', 'c/d', '~', '0', '*', 'é', '"', '__proto__']
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 1.5, -3, '', 'text', '{"a":1}', '\u2022', '\\"'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names.filter((name) => name !== '__proto__')), tie('value'), { maxKeys: 3 }),
  ),
})).value
const step = fc.constantFrom('a', 'b', 'c~1d', '~0', '0', '*', '**', '"')
const pointer = fc.array(step, { maxLength: 4 }).map((steps) => steps.map((one) => `/${one}`).join(''))
const mask = fc.record({
  hide: fc.array(pointer, { maxLength: 3 }),
  shows: fc.array(fc.array(pointer, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
})

/** What a mask means, said in the plainest way: a place is a list of names and of null for positions. */
function matches(pointerText: string, place: readonly (string | null)[]): boolean {
  const steps = pointerText.split('/').slice(1)
  const at = (s: number, p: number): boolean => {
    if (s === steps.length) return p === place.length
    if (steps[s] === '**') return at(s + 1, p) || (p < place.length && at(s, p + 1))
    if (p === place.length) return false
    const name = steps[s]!.replaceAll('~1', '/').replaceAll('~0', '~')
    const here = place[p]
    return (steps[s] === '*' || (here === null ? /^(\d+|-)$/.test(name) : name === here)) && at(s + 1, p + 1)
  }
  return at(0, 0)
}

function plainMask(
  value: unknown,
  wanted: { hide: string[]; shows: string[][] },
  place: (string | null)[] = [],
): unknown {
  const above = place.map((_, length) => place.slice(0, length)).concat([place])
  const isHit = (pointerText: string) => above.some((one) => matches(pointerText, one))
  const mayHold = (pointerText: string) => {
    // Whether something beneath this place can match: some longer place does.
    const steps = pointerText.split('/').slice(1)
    for (let cut = 0; cut <= steps.length; cut++) {
      const head = steps.slice(0, cut)
      const text = head.map((one) => `/${one}`).join('')
      if (matches(text, place) && cut < steps.length) return true
      if (head.at(-1) === '**' && matches(text, place)) return true
    }
    return false
  }
  if (wanted.hide.some(isHit)) return hiddenMark
  const unmatched = wanted.shows.filter((group) => !group.some(isHit))
  if (unmatched.some((group) => !group.some(mayHold))) return hiddenMark
  if (Array.isArray(value)) return value.map((one) => plainMask(one, wanted, [...place, null]))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, plainMask(one, wanted, [...place, name])]),
    )
  if (unmatched.length > 0) return hiddenMark
  const held = typeof value === 'string' ? heldJson(value) : undefined
  return held === undefined ? value : JSON.stringify(plainMask(held, wanted, place))
}

describe('masks of JSON', () => {
  test('hide what their pointers name, whatever the value and the pointers', () => {
    fc.assert(
      fc.property(json, mask, (value, wanted) => {
        const { json: masked, hidden } = maskJson(JSON.stringify(value), stateOf(wanted))
        expect(JSON.parse(masked)).toEqual(plainMask(value, wanted))
        expect(hidden.length > 0).toBe(masked !== JSON.stringify(value) || masked.includes(hiddenMark))
      }),
      { numRuns: 500 },
    )
  })

  test('keep every digit and all white space of what they show', () => {
    const text = '{ "n" : 12345678901234567890.10, "secret":{"x":[1,{}]}, "list":[ 1e2 ,2 ] }'
    expect(maskJson(text, stateOf({ hide: ['/secret'] }))).toEqual({
      json: '{ "n" : 12345678901234567890.10, "secret":"•••", "list":[ 1e2 ,2 ] }',
      hidden: ['/secret'],
    })
  })

  test('a path that is no JSON Pointer is refused: "email" would mean the whole value', () => {
    expect(['email', '$.email', '/a~2', '/a~'].map(parseMaskPath)).toEqual([null, null, null, null])
    expect([parseMaskPath(''), parseMaskPath('/a~1b/~0')]).toEqual([[], ['a/b', '~']])
  })

  test('a text that holds JSON is masked like the value that it holds, however deep', () => {
    const order = { n: 1, customer: { email: 'a@b.example' } }
    const inText = (value: unknown) => JSON.stringify({ kind: 'order', body: JSON.stringify(value) })
    const masked = (text: string, hide: string) => maskJson(text, stateOf({ hide: [hide] }))
    const after = { n: 1, customer: { email: hiddenMark } }
    expect(masked(inText(order), '/**/email')).toEqual({ json: inText(after), hidden: ['/body'] })
    expect(masked(inText({ body: JSON.stringify(order) }), '/body/body/customer/email').json).toBe(
      inText({ body: JSON.stringify(after) }),
    )
    for (const space of [' ', '\\r\\n', '\\t'])
      expect(masked(`["${space}{\\"email\\":1}"]`, '/**/email').hidden).toEqual(['/*'])
    for (const text of [inText({ n: 1 }), '{"body":"[INFO] email"}', '{"body":"{\\"email\\":"}'])
      expect(masked(text, '/**/email')).toEqual({ json: text, hidden: [] })
  })

  test('some thousand texts are looked into, and further ones that may hold JSON are hidden', () => {
    const texts = Array.from({ length: 6000 }, (_, n) => `{"n":${n}}`)
    const masked = JSON.parse(maskJson(JSON.stringify([...texts, 'text']), stateOf({ hide: ['/**/email'] })).json)
    expect(masked.indexOf(hiddenMark)).toBe(5000)
    expect(masked.slice(5000)).toEqual([...Array.from({ length: 1000 }, () => hiddenMark), 'text'])
    // The text around them is one of them.
    const around = JSON.stringify([JSON.stringify(texts)])
    const [held] = JSON.parse(maskJson(around, stateOf({ hide: ['/**/email'] })).json)
    expect(JSON.parse(held).indexOf(hiddenMark)).toBe(4999)
  })

  test('spaces stay, and a nested place is named from the outside to the inside', () => {
    const text = ' {\r\n "none" : [ ] ,\t"a" : [ { "b" : { } , "c/d" : { "e" : 1\r\n} } ] }\n'
    expect(maskJson(text, stateOf({ hide: ['/a/*/c~1d/e'] }))).toEqual({
      json: text.replace('1', '"•••"'),
      hidden: ['/a/*/c~1d/e'],
    })
  })

  test('take no bracket and no quote within a text for an end', () => {
    const hidden = stateOf({ hide: ['/a'] })
    for (const inner of ['{"x":"}","y":["]"]}', '["\\\\","]"]', '"\\"}"', `"${'long '.repeat(9)}\\\\"`])
      expect(maskJson(`{"a":${inner},"b":1}`, hidden).json, inner).toBe('{"a":"•••","b":1}')
  })

  test('hide a member whose name is written with escapes, and every one of a name that repeats', () => {
    const { json: masked, hidden } = maskJson('{"\\u0065mail":"x","email":"y"}', stateOf({ hide: ['/email'] }))
    expect([masked, hidden]).toEqual(['{"\\u0065mail":"•••","email":"•••"}', ['/email']])
  })

  test('of several entries with "show", what all of them show is shown', () => {
    const state = stateOf({
      shows: [
        ['/id', '/customer'],
        ['/id', '/customer/name'],
      ],
    })
    expect(maskJson('{"id":1,"customer":{"name":"a","mail":"b"},"total":2}', state).json).toBe(
      '{"id":1,"customer":{"name":"a","mail":"•••"},"total":"•••"}',
    )
  })

  test('hide any number of places, and name a hundred of them', () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`n${n}`, n])))
    const { json: masked, hidden } = maskJson(text, stateOf({ hide: ['/*'] }))
    expect(new Set(Object.values(JSON.parse(masked)))).toEqual(new Set([hiddenMark]))
    expect(hidden).toEqual(Array.from({ length: 100 }, (_, n) => `/n${n}`))
  })

  test('refuse what is no JSON', () => {
    for (const text of [
      '',
      '{',
      '{"a":1',
      '[1',
      '{"a" 1}',
      '"a',
      '1 2',
      '{"a":}',
      '{"a":1 "c":2}',
      '[1 2]',
      '{"b":[1',
      '{"a";1}',
      '["";2]',
      '{"a":"";"b":2}',
      '{1":2}',
    ])
      expect(() => maskJson(text, stateOf({ hide: ['/b'] })), text).toThrow(SyntaxError)
  })
})

describe('what asks for hidden values', () => {
  const state = stateOf({ hide: ['/customer/email', '/cards/*/number', '/**/iban'] })

  test('a filter does where one of its leaves lies at a hidden place', () => {
    const asks = (filter: unknown) => asksForHidden(JSON.stringify(filter), state)
    expect(
      [{ customer: { email: 'a' } }, { cards: [{ number: 1 }] }, { any: { where: [{ iban: 1 }] } }].map(asks),
    ).toEqual([true, true, true])
    expect([{ customer: {} }, { customer: { name: 'a' } }, { cards: [{}] }, 5, {}].map(asks)).toEqual(
      Array.from({ length: 5 }, () => false),
    )
    expect(asksForHidden('"a"', stateOf({ hide: ['/*'] }))).toBe(true)
    expect([{ body: '{"iban":1}' }, { body: '{"n":1}' }, { body: '{"iban":' }].map(asks)).toEqual([true, false, false])
  })

  test('a place may have a hidden value of its own where something beneath it is shown', () => {
    const state = stateOf({ shows: [['/a/b']] })
    const asks = (filter: unknown) => asksForHidden(JSON.stringify(filter), state)
    expect([{ a: 5 }, { a: [5] }, { a: {} }, { a: { b: 5 } }].map(asks)).toEqual([true, true, false, false])
    const value = { b: 5 }
    expect(patchesHidden([{ op: 'replace', path: '/a', value }], state)).toBe('/a')
    expect(patchesHidden([{ op: 'test', path: '/a', value }], state)).toBeNull()
    expect(patchesHidden([{ op: 'replace', path: '/a/b', value }], state)).toBeNull()
  })

  test('a filter that is allowed finds the same, whatever the hidden values are', () => {
    const contains = (value: unknown, asked: unknown): boolean => {
      if (Array.isArray(asked))
        return Array.isArray(value) && asked.every((one) => value.some((other) => contains(other, one)))
      if (typeof asked !== 'object' || asked === null) return value === asked
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
      return Object.entries(asked).every(
        ([name, one]) => Object.hasOwn(value, name) && contains((value as never)[name], one),
      )
    }
    fc.assert(
      fc.property(json, json, mask, json, (value, filter, wanted, other) => {
        const state = stateOf(wanted)
        if (asksForHidden(JSON.stringify(filter), state)) return
        // Another value that is the same to whom it is masked.
        const { json: masked } = maskJson(JSON.stringify(value), state)
        const twin = masked.replaceAll(`"${hiddenMark}"`, JSON.stringify(other))
        if (maskJson(twin, state).json === masked)
          expect(contains(JSON.parse(twin), filter)).toBe(contains(value, filter))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [{ op: 'replace', path: '/order_id', value: 1 }, null],
    [{ op: 'add', path: '/customer/name', value: 1 }, null],
    [{ op: 'test', path: '/order_id', value: 1 }, null],
    [{ op: 'replace', path: '/customer/email', value: 1 }, '/customer/email'],
    [{ op: 'add', path: '/customer/email/x', value: 1 }, '/customer/email/x'],
    [{ op: 'remove', path: '/customer' }, '/customer'],
    [{ op: 'remove', path: '/cards/0' }, '/cards/0'],
    [{ op: 'replace', path: '', value: {} }, ''],
    [{ op: 'test', path: '/cards/0/number', value: 1 }, '/cards/0/number'],
    [{ op: 'test', path: '/order', value: { iban: 1 } }, '/order'],
    [{ op: 'test', path: '/order', value: ' {"iban":1}' }, '/order'],
    // A mask with ** may hide something beneath.
    [{ op: 'copy', from: '/order', path: '/copy' }, '/order'],
    [{ op: 'move', from: '/customer/email', path: '/note' }, '/customer/email'],
  ] as const)('the patch %j overlaps at %s', (operation, found) => {
    expect(patchesHidden([operation], state)).toBe(found)
  })

  test('of what a mask with ** names beneath, a place is changed where only the ** leads to it', () => {
    const refused = (path: string, hide: string) => patchesHidden([{ op: 'remove', path }], stateOf({ hide: [hide] }))
    expect(refused('/order/bank', '/**/bank/iban')).toBe('/order/bank')
    expect(refused('/order', '/**/bank/iban')).toBeNull()
    expect(refused('/order/bank', '/**/*/iban')).toBeNull()
  })

  test.each(['/lines/0/price', '/lines/-/price', '/lines/1/price'])(
    'a number in a pointer is a position too: the patch of %s overlaps the mask of /lines/1/price',
    (path) => {
      const operation = { op: 'replace', path, value: 1 } as const
      expect(patchesHidden([operation], stateOf({ hide: ['/lines/1/price'] }))).toBe(path)
      const other = { ...operation, path: '/lines/first/price' }
      expect(patchesHidden([other], stateOf({ hide: ['/lines/1/price'] }))).toBeNull()
    },
  )
})

test.each([
  // What stands beside a shown place would go with the place that holds both.
  [{ op: 'replace', path: '/a', value: 1 }, { shows: [['/a/b']] }, '/a'],
  [{ op: 'test', path: '/a', value: { c: 1 } }, { shows: [['/a/b']] }, '/a'],
  [{ op: 'replace', path: '/a/b', value: 1 }, { shows: [['/a/b']] }, null],
  // A member may have a number as its name. Only the members that the mask names are shown.
  [{ op: 'replace', path: '/a/1', value: 1 }, { shows: [['/a/0']] }, '/a/1'],
  [{ op: 'replace', path: '/a~1b/~0c', value: 1 }, { hide: ['/a~1b/~0c'] }, '/a~1b/~0c'],
] as const)('the patch %j overlaps what %j leaves at %s', (operation, { hide = [], shows = [] }: Given, found) => {
  const state = stateOf({ hide: [...hide], shows: shows.map((group) => [...group]) })
  expect(patchesHidden([operation], state)).toBe(found)
})

type Given = { hide?: readonly string[]; shows?: readonly (readonly string[])[] }

describe('pseudonyms of keys', () => {
  const seal = createKeySeal('a secret of thirty-two characters')

  test('are equal for equal keys, and open to the key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const key = Buffer.from(bytes)
        expect(seal.seal(key)).toBe(seal.seal(Buffer.from(bytes)))
        expect(seal.open(seal.seal(key))).toEqual(key)
      }),
    )
  })

  test('cannot be made or changed without the secret', () => {
    const sealed = seal.seal(Buffer.from('customer-7'))
    expect(sealed).not.toContain(Buffer.from('customer-7').toString('base64url'))
    expect(createKeySeal('another secret of thirty-two characters').open(sealed)).toBeNull()
    for (const other of [
      'sealed:',
      'customer-7',
      sealed.replace('sealed:', 'signed:'),
      `${sealed}A`,
      // The same bytes, written in another way.
      `${sealed}=`,
      sealed.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    ])
      expect(seal.open(other), other).toBeNull()
  })
})

describe('masks of topics', () => {
  const entry = (topics: string[], rest: Partial<MaskEntry>): MaskEntry => ({
    topics,
    key: 'show',
    headers: [],
    errors: [],
    ...rest,
  })
  const masks = createMasks(
    [
      entry(['orders.*'], { hide: ['/email'], key: 'pseudonym', headers: ['X-User-*'] }),
      entry(['orders.eu'], { hide: ['/iban'], key: 'hide', errors: ['email'] }),
      entry(['*.dlq'], { show: ['/id', '/iban'] }),
    ],
    undefined,
  )!

  test('all entries that match the original topic or the DLQ topic are united', () => {
    const mask = masks.maskOf({ original_topic: 'orders.eu', dlq_topic: 'x.dlq' })!
    expect(maskJson('{"id":1,"email":2,"iban":3,"sum":4}', mask.paths!).json).toBe(
      '{"id":1,"email":"•••","iban":"•••","sum":"•••"}',
    )
    expect(['x-user-id', 'X-USER-ID', 'trace'].map(mask.hidesHeader!)).toEqual([true, true, false])
    expect([mask.key, mask.text!('a@b.de')]).toEqual(['hide', hiddenMark])
    expect(masks.maskOf({ original_topic: 'orders.us', dlq_topic: null })!.key).toBe('pseudonym')
    expect(masks.maskOf({ original_topic: 'payments', dlq_topic: 'payments' })).toBeNull()
    // The same original topic, with and without a DLQ topic that has masks.
    const paths = masks.maskOf({ original_topic: 'orders.us', dlq_topic: 'x.dlq' })!.paths!
    expect(maskJson('{"sum":4}', paths).json).toBe('{"sum":"•••"}')
  })

  test('two topics are not taken for two others whose names are the same in a row', () => {
    expect(masks.maskOf({ original_topic: 'a', dlq_topic: 'b.dlq' })).not.toBeNull()
    expect(masks.maskOf({ original_topic: 'ab.', dlq_topic: 'dlq' })).toBeNull()
  })

  test('without entries there are none', () => {
    expect(createMasks([], undefined)).toBeNull()
  })
})
