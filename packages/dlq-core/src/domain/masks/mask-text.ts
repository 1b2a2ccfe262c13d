// Finds personal data in text that people and frameworks wrote: error messages, stack traces, reasons. Each detector takes
// time that is linear in the text, whatever the text.

import { RE2JS } from 're2js'
import { hiddenMark } from './mask-json.ts'

/** The text with "•••" in place of what was found. */
export type TextMask = (text: string) => string

/** Where something was found: from, and to behind it. */
type Find = (text: string) => [from: number, to: number][]

const detectors: Readonly<Record<string, Find>> = { email: findEmails, iban: findIbans, card: findCards }
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
export function createTextMask(names: readonly string[]): TextMask | null {
  const masks = [...new Set(names)].map((name): TextMask => {
    const find = Object.hasOwn(detectors, name) ? detectors[name]! : null
    if (find) return (text) => without(text, find(text))
    const pattern = RE2JS.compile(name)
    return (text) => pattern.matcher(text).replaceAll(hiddenMark)
  })
  return masks.length === 0 ? null : (text) => masks.reduce((rest, mask) => mask(rest), text)
}

function without(text: string, found: readonly [number, number][]): string {
  if (found.length === 0) return text
  let copied = 0
  const parts: string[] = []
  for (const [from, to] of found) {
    if (from < copied) continue
    parts.push(text.slice(copied, from), hiddenMark)
    copied = to
  }
  return parts.join('') + text.slice(copied)
}

const maxLocalChars = 64
const maxDomainChars = 255

/** Around each "@", so that text without one costs a look. */
function findEmails(text: string): [number, number][] {
  const found: [number, number][] = []
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let from = at
    while (from > 0 && at - from < maxLocalChars && /[\p{L}\p{N}\p{M}._%+'~!#$&*/=?^`{|}-]/u.test(text[from - 1]!))
      from--
    let to = at + 1
    while (to < text.length && to - at <= maxDomainChars && /[\p{L}\p{N}\p{M}.-]/u.test(text[to]!)) to++
    while (to > at + 1 && /[.-]/.test(text[to - 1]!)) to--
    if (from < at && text.slice(at + 1, to).includes('.')) found.push([from, to])
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
  for (const { index } of text.matchAll(/(?=[a-z]{2}\d\d)/gi)) {
    const length = ibanLengths.get(text.slice(index, index + 2).toUpperCase())
    if (length === undefined) continue
    let iban = ''
    let to = index
    while (iban.length < length && to < text.length) {
      if (/[a-z\d]/i.test(text[to]!)) iban += text[to]!.toUpperCase()
      // Groups of four are written with a space or a hyphen between them.
      else if (!/[ -]/.test(text[to]!) || !/[a-z\d]/i.test(text[to + 1] ?? '')) break
      to++
    }
    if (iban.length === length && hasIbanChecksum(iban)) found.push([index, to])
  }
  return found
}

/** ISO 7064, mod 97-10. */
function hasIbanChecksum(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const cardDigits = { least: 13, most: 19 }

/** Groups of digits, parted by single spaces or hyphens, that pass Luhn's check together. None begins with 0 or 1, as times do. */
function findCards(text: string): [number, number][] {
  const found: [number, number][] = []
  for (const { 0: run, index } of text.matchAll(/\d+(?:[ -]\d+)*/g)) {
    const groups = [...run.matchAll(/\d+/g)].map((group) => ({ digits: group[0], from: index + group.index }))
    for (let first = 0; first < groups.length; first++) {
      let digits = ''
      let card: [last: number, to: number] | null = null
      for (let last = first; last < groups.length; last++) {
        const group = groups[last]!
        digits += group.digits
        if (digits.length > cardDigits.most) break
        if (digits.length >= cardDigits.least && /^[2-9]/.test(digits) && hasLuhnChecksum(digits))
          card = [last, group.from + group.digits.length]
      }
      if (card === null) continue
      found.push([groups[first]!.from, card[1]])
      first = card[0]
    }
  }
  return found
}

function hasLuhnChecksum(digits: string): boolean {
  let sum = 0
  for (let back = 0; back < digits.length; back++) {
    const digit = digits.charCodeAt(digits.length - 1 - back) - 0x30
    const weighted = back % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}
