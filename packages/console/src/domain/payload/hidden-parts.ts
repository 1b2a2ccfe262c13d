// What masks hide of a message, from the JSON Pointers that the API gives.

import { counted, listed } from '../words.ts'

export type HiddenParts = {
  /** Nothing of the value is shown. */
  readonly wholeValue: boolean
  /** The places in the value, as pointers into it. */
  readonly places: readonly string[]
  /** The value's bytes are not given out, whether or not a mask has found something in it. */
  readonly value: boolean
  readonly key: boolean
  readonly headers: boolean
}

export function hiddenParts(hidden: readonly string[] | undefined): HiddenParts {
  const pointers = hidden ?? []
  const places = pointers.filter((one) => one.startsWith('/payload/')).map((one) => one.slice('/payload'.length))
  const wholeValue = pointers.includes('/payload')
  return {
    ...{ wholeValue, places },
    value: wholeValue || places.length > 0 || pointers.includes('/value_bytes'),
    key: pointers.includes('/key'),
    headers: pointers.some((one) => one.startsWith('/headers/')),
  }
}

const names: Readonly<Record<string, string>> = {
  error_message: 'parts of the error',
  error_stacktrace: 'parts of the stack trace',
  key: 'the key',
  headers: 'values of headers',
  held_up_by: 'why it waits',
  decoding: 'why it is not decoded',
}

/** "the key, 2 places of the value and parts of the error"; null where nothing is hidden. */
export function hiddenWords(hidden: readonly string[] | undefined): string | null {
  if (hidden === undefined || hidden.length === 0) return null
  const { wholeValue, places, value } = hiddenParts(hidden)
  const ofValue = wholeValue
    ? ['the value']
    : places.length > 0
      ? [`${counted(places.length, 'place')} of the value`]
      : value
        ? ['the bytes of the value']
        : []
  const others = hidden.map((pointer) => names[pointer.split('/')[1] ?? '']).filter((name) => name !== undefined)
  const all = [...new Set([...ofValue, ...others])]
  return all.length === 0 ? 'parts of it' : listed(all)
}
