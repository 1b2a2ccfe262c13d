// Masks stored headers: those that a mask names, texts of failures, and the frameworks' copies of key and value.

import { isFailureHeader } from 'dlq-core/domain/failure/strip-failure-headers.ts'
import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark } from 'dlq-core/domain/masks/mask-json.ts'
import { readStoredHeaders, type StoredHeader, type StoredHeaderValue } from 'dlq-core/domain/record/header-json.ts'

/** Spring's and SmallRye's deserializers put the record that they could not read into a header; Karafka its key. */
const copiesOfValue = /^(springDeserializerException|deserialization-failure-)/
const copiesOfKey = /^(original_key|source_key|springDeserializerExceptionKey|deserialization-failure-)/

/** So many bytes are a number, such as an offset; longer ones of a failure may be a serialised error. */
const maxNumberChars = 12

/** The headers in their stored form; null where nothing is hidden. What cannot be read as headers is shown to nobody. */
export function maskStoredHeaders(stored: string, mask: Mask): string | null {
  let isMasked = false
  const masked = (readStoredHeaders(stored) ?? []).map(([name, value]): StoredHeader => {
    const after = maskedValue(name, value, mask)
    if (after !== value) isMasked = true
    return [name, after]
  })
  return isMasked ? JSON.stringify(masked) : null
}

function maskedValue(name: string, value: StoredHeaderValue, mask: Mask): StoredHeaderValue {
  if (value === null) return null
  const isCopy = (mask.paths !== null && copiesOfValue.test(name)) || (mask.key !== 'show' && copiesOfKey.test(name))
  if (isCopy || mask.hidesHeader?.(name)) return hiddenMark
  if (mask.text === null || !isFailureHeader(name)) return value
  if (typeof value === 'string') return mask.text(value)
  // A reference to the stack trace's column, which is masked itself.
  if ('column' in value) return value
  return value.base64.length > maxNumberChars ? hiddenMark : value
}
