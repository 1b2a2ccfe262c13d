// Finds personal data in text that people and frameworks wrote: error messages, stack traces, reasons. Each detector takes
// time that is linear in the text, whatever the text.

import { RE2JS } from 're2js'
import { hiddenMark } from './mask-json.ts'

/**
 * The text with "•••" in place of what was found. It is hidden from `shown` characters on: the end of a text that was cut
 * may be a part of something to hide.
 */
export type TextMask = (text: string, shown?: number) => string

/** Where something was found: from, and to behind it. */
type Find = (text: string) => [from: number, to: number][]

/** Of a text, for these detectors. */
const usualChars = 128 * 1024

/** How many times as long as usual a text may take. */
type Patience = { readonly times: number }

const detectors: Readonly<Record<string, (patience: Patience) => Find>> = {
  email: ({ times }) => searching(findEmails, { maxChars: times * usualChars, has: (text) => /@|%40/.test(text) }),
  iban: ({ times }) =>
    searching(findIbans, { maxChars: times * usualChars, has: (text) => /[a-z]{2}\d\d/i.test(text) }),
  card: ({ times }) =>
    searching(findCards, { maxChars: times * usualChars, has: (text) => /\d(?:[ -]?\d){12}/.test(text) }),
}
const detectorNames = Object.keys(detectors)

/** What is wrong with a detector's name or pattern; null where nothing is. */
export function detectorFault(detector: string): string | null {
  if (Object.hasOwn(detectors, detector)) return null
  try {
    return RE2JS.compile(detector).matcher('').find()
      ? 'matches the empty text, so it would hide everything: write a pattern that needs a character'
      : null
  } catch (error) {
    return `is neither one of ${detectorNames.join(', ')} nor a pattern in RE2's syntax (${(error as Error).message})`
  }
}

/** @param names of detectors, or patterns in RE2's syntax. Null where there are none. */
export function createTextMask(names: readonly string[], patience: Patience = { times: 1 }): TextMask | null {
  const finds = [...new Set(names)].map((name) =>
    Object.hasOwn(detectors, name) ? detectors[name]!(patience) : findBy(name, patience),
  )
  // All of them look at the text as it is: what one hides may be what another finds its place by.
  return finds.length === 0
    ? null
    : (text, shown = text.length) => {
        const found = finds.flatMap((find) => find(text))
        return without(text, shown < text.length ? [...found, [shown, text.length]] : found)
      }
}

/**
 * Looks for places in the first `maxChars` characters: a writer of records must not take the time of others. A longer text
 * is hidden from some place on, if it has something to hide. `has` tells whether it has, and much faster than where.
 */
function searching(find: Find, { maxChars, has }: { maxChars: number; has: (text: string) => boolean }): Find {
  return (text) => {
    if (!has(text)) return []
    if (text.length <= maxChars) return find(text)
    return [...find(text.slice(0, maxChars)), [beginningShown(maxChars), text.length]]
  }
}

/** Characters times steps of a pattern's program: what takes some ten milliseconds, and at most two hundred. */
const effort = { has: 2 ** 24, find: 2 ** 22 }

/** A character takes from 0.01 to 50 µs. */
function findBy(pattern: string, { times }: Patience): Find {
  const compiled = RE2JS.compile(pattern)
  const steps = compiled.programSize()
  const find: Find = (text) => {
    const found: [number, number][] = []
    for (const matcher = compiled.matcher(text); matcher.find(); ) found.push([matcher.start(), matcher.end()])
    return found.filter(([from, to]) => from < to)
  }
  return searching(find, {
    maxChars: times * Math.min(64 * 1024, Math.ceil(effort.find / steps)),
    has: (text) => text.length > (times * effort.has) / steps || compiled.test(text),
  })
}

/** How many of the characters that were looked at are shown: what begins among them has room to end. */
export function beginningShown(searched: number): number {
  return Math.ceil((searched * 3) / 4)
}

/** One mark for places that overlap. */
function without(text: string, found: [number, number][]): string {
  if (found.length === 0) return text
  const parts: string[] = []
  let shown = 0
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    if (from >= shown) parts.push(text.slice(shown, from), hiddenMark)
    shown = Math.max(shown, to)
  }
  return parts.join('') + text.slice(shown)
}

const maxLocalChars = 64
const maxDomainChars = 255
const isOfLocalPart = testOf(/[\p{L}\p{N}\p{M}._%+'~!#$&*/=?^`{|}-]/u)
const isOfDomain = testOf(/[\p{L}\p{N}\p{M}.-]/u)

/** Whether the character at a place of a text is one of them. What most texts are made of is looked up. */
function testOf(characters: RegExp): (text: string, at: number) => boolean {
  const ascii = Array.from({ length: 128 }, (_, code) => characters.test(String.fromCharCode(code)))
  return (text, at) => ascii[text.charCodeAt(at)] ?? characters.test(text[at]!)
}

/** Around each "@", as it is or as URLs write it, so that text without one costs a look. */
function findEmails(text: string): [number, number][] {
  const found: [number, number][] = []
  for (const { 0: sign, index: at } of text.matchAll(/@|%40/g)) {
    let from = at
    while (from > 0 && at - from < maxLocalChars && isOfLocalPart(text, from - 1)) from--
    const domain = at + sign.length
    let to = domain
    while (to < text.length && to - domain < maxDomainChars && isOfDomain(text, to)) to++
    while (to > domain && (text[to - 1] === '.' || text[to - 1] === '-')) to--
    if (from < at && text.slice(domain, to).includes('.')) found.push([from, to])
  }
  return found
}

/** Length by country: https://www.swift.com/resource/iban-registry-pdf */
const ibanLengths = new Map(
  [
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29',
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20',
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29',
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
  ].flatMap((line) => line.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const)),
)

function findIbans(text: string): [number, number][] {
  const found: [number, number][] = []
  // No two of these overlap: letters, then digits.
  for (const { 0: start, index } of text.matchAll(/[a-z]{2}\d\d/gi)) {
    const length = ibanLengths.get(start.slice(0, 2).toUpperCase())
    const to = length === undefined ? null : endOfIban(text, { from: index, length })
    if (to !== null) found.push([index, to])
  }
  return found
}

/** Null where the checksum is wrong: ISO 7064, mod 97-10, over the text behind the first four characters, and then these. */
function endOfIban(text: string, { from, length }: { from: number; length: number }): number | null {
  let rest = 0
  let first = 0
  let weight = 1
  let to = from
  for (let read = 0; read < length; to++) {
    const value = ibanValue(text.charCodeAt(to))
    if (value === null) {
      // Groups of four are written with a space or a hyphen between them.
      const isBetween = (text[to] === ' ' || text[to] === '-') && ibanValue(text.charCodeAt(to + 1)) !== null
      if (!isBetween) return null
      continue
    }
    const factor = value > 9 ? 100 : 10
    if (read < 4) {
      first = first * factor + value
      weight *= factor
    } else rest = (rest * factor + value) % 97
    read++
  }
  return (rest * weight + first) % 97 === 1 ? to : null
}

/** Of a digit, or a letter from 10 on in any case; null of any other character. */
function ibanValue(code: number): number | null {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a ? lower - 0x61 + 10 : null
}

const cardDigits = { least: 13, most: 19 }

/** Groups of digits, parted by single spaces or hyphens, that pass Luhn's check together. None begins with 0 or 1, as times do. */
function findCards(text: string): [number, number][] {
  const found: [number, number][] = []
  const start = /(?<!\d)[2-9]/g
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const to = endOfCard(text, match.index)
    if (to === null) continue
    found.push([match.index, to])
    start.lastIndex = to
  }
  return found
}

/** Behind the last group that ends a number which passes; null where none does. */
function endOfCard(text: string, from: number): number | null {
  let end: number | null = null
  // Luhn's sums: of the numbers whose count of digits is even, and of the others. Every second digit from the right counts twice.
  let [even, odd] = [0, 0]
  let count = 0
  for (let at = from; count < cardDigits.most; ) {
    const digit = digitAt(text, at)!
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
    even += count % 2 === 0 ? doubled : digit
    odd += count % 2 === 0 ? digit : doubled
    count++
    at++
    if (digitAt(text, at) !== null) continue
    if (count >= cardDigits.least && (count % 2 === 0 ? even : odd) % 10 === 0) end = at
    if (text[at] !== ' ' && text[at] !== '-') return end
    at++
    if (digitAt(text, at) === null) return end
  }
  return end
}

function digitAt(text: string, at: number): number | null {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39 ? code - 0x30 : null
}
