// Detectors of personal data in text.
import { describe, expect, test } from 'vitest'
import { hiddenMark } from './mask-json.ts'
import { createTextMask, detectorFault } from './mask-text.ts'

describe('detectors', () => {
  const masked = (text: string, ...detectors: string[]) => createTextMask(detectors)!(text)

  test('email', () => {
    expect(masked('from <a.b+c@mail.example.com>, "ü@bücher.example"; root@localhost @ a@', 'email')).toBe(
      'from <•••>, "•••"; root@localhost @ a@',
    )
  })

  test('email at the end of a sentence, and as long as an address may be', () => {
    expect(masked('to a@b.example. Then c@d.example-.', 'email')).toBe('to •••. Then •••-.')
    for (const text of ['a@ b.c', 'a@.', '@b.c']) expect(masked(text, 'email')).toBe(text)
    // The second address begins within the first one.
    expect(masked('a@b.example@c.example', 'email')).toBe('•••')
    expect(masked(`${'a'.repeat(70)}@b.example`, 'email')).toBe('aaaaaa•••')
    expect(masked(`a@${'b'.repeat(250)}.cccccccc`, 'email')).toBe('•••cccc')
  })

  test('email as URLs write it', () => {
    expect(masked('no user a.b%40mail.example, nor c%40d, %40', 'email')).toBe('no user •••, nor c%40d, %40')
  })

  test('IBAN, by its checksum', () => {
    expect(masked('DE89 3704 0044 0532 0130 00, gb29nwbk60161331926819. NO9386011117947!', 'iban')).toBe(
      '•••, •••. •••!',
    )
    expect(masked('from DE89 3704 0044 0532 0130 00 to a friend', 'iban')).toBe('from ••• to a friend')
    expect(masked('AZ21NABZ00000000137010001944', 'iban')).toBe('•••')
    expect(masked('DE88370400440532013000 DE893704004405320130', 'iban')).toBe(
      'DE88370400440532013000 DE893704004405320130',
    )
  })

  test('card, by Luhn', () => {
    expect(masked('4111 1111 1111 1111 and 5500-0000-0000-0004, 378282246310005', 'card')).toBe('••• and •••, •••')
    expect(masked('4111 1111 1111 1112 at 1708425000000, offset 90210', 'card')).toBe(
      '4111 1111 1111 1112 at 1708425000000, offset 90210',
    )
  })

  test.each([
    ['4111111111119', true],
    ['411111111117', false],
    ['4111111111111111110', true],
    ['41111111111111111123', false],
    ['1708425000001232', false],
    ['0111222233334446', false],
    ['14111111111111111', false],
  ])('card of 13 to 19 digits that begins with 2 to 9: %s is one: %s', (digits, isCard) => {
    expect(masked(digits, 'card')).toBe(isCard ? hiddenMark : digits)
  })

  test('of a text that was cut, what begins behind the shown part is hidden, and what is cut in two', () => {
    const cut = (text: string, shown: number) => createTextMask(['email'])!(text, shown)
    expect([cut('no stock', 8), cut('no stock', 3), cut('to a@b.example now', 5)]).toEqual([
      'no stock',
      'no •••',
      'to •••',
    ])
  })

  test('patterns that are called as what every object has', () => {
    expect(masked('the constructor of x', 'constructor')).toBe('the ••• of x')
    expect(detectorFault('constructor')).toBeNull()
  })

  test('patterns, together with others', () => {
    expect(masked('cust-12 of a@b.example', 'cust-[0-9]+', 'email')).toBe('••• of •••')
    expect(masked('it stands alone', '\\bstands\\b', '\\b')).toBe('it ••• alone')
  })

  test('what one of them hides is hidden, also where another hides a part of it', () => {
    expect(masked('the password for a@b.example is hunter2!', 'email', 'password for \\S+@\\S+ is \\w+')).toBe(
      'the •••!',
    )
    // An IBAN of Norway behind the beginning of what happens to be one of Estonia.
    expect(masked('of EE30xB9B0eNO93-860-111-17 9-47', 'iban')).toBe('of •••')
  })

  test('a long text that has a pattern is hidden from some place on, and one that has none is shown', () => {
    const long = 'line of a trace\n'.repeat(60_000)
    expect(masked(long, 'cust-[0-9]+')).toBe(long)
    const shown = masked(`cust-7 ${long} cust-8`, 'cust-[0-9]+')
    expect([shown.slice(0, 9), shown.length > 40_000, shown.length < 64 * 1024, shown.endsWith(hiddenMark)]).toEqual([
      '••• line ',
      ...[true, true, true],
    ])
    for (const [detector, hides] of Object.entries({ email: 'a@b.example', iban: 'ab12', card: '9 '.repeat(13) })) {
      expect(masked(long, detector)).toBe(long)
      expect(masked(`${long}${hides}`, detector)).toBe(`${long.slice(0, 96 * 1024)}${hiddenMark}`)
    }
    // What begins in the shown part is found, also where it ends behind that.
    const across = `cust-${'1'.repeat(16_000)}`
    for (let at = 40_000; at < 50_000; at += 1000)
      expect(masked(`${'x'.repeat(at)}${across}${long}`, 'cust-[0-9]+')).not.toContain('cust-')
  })

  test('a text that was cut is hidden from the given place on', () => {
    const mask = createTextMask(['email'])!
    expect(mask('to a@b.example, c@d.ex', 16)).toBe('to •••, •••')
    expect(mask('to nobody', 9)).toBe('to nobody')
  })

  test('a pattern with a large program takes no longer', () => {
    const began = performance.now()
    expect(masked(`${'fail at abcdefgh '.repeat(60_000)}-1`, '[a-z .]{1,500}-[0-9]')).toContain(hiddenMark)
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('bad patterns have a fault that says what is wrong', () => {
    expect(detectorFault('(a')).toMatch(
      /neither one of email, iban, card nor a pattern in RE2's syntax \(.*missing closing \)/,
    )
    expect(detectorFault('a*')).toMatch(/matches the empty text/)
    expect(['email', 'iban', 'card', 'cust-[0-9]+'].map(detectorFault)).toEqual([null, null, null, null])
  })

  test('take time that is linear in the text', () => {
    const hostile = ['a@'.repeat(10_000), 'DE00 '.repeat(5000), '4 '.repeat(10_000), 'a'.repeat(20_000)]
    for (const text of hostile) {
      const began = performance.now()
      masked(text, 'email', 'iban', 'card', '(a+)+b')
      expect(performance.now() - began, text.slice(0, 10)).toBeLessThan(5000)
    }
  })
})
