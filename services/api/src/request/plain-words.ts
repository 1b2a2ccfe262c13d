// What valibot says of a wrong type, in our words. Rules of single fields have words of their own.

import type * as v from 'valibot'

const wordOf: Record<string, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
}

/** For the option `message` of valibot: "must be text", "must be one of a, b", "must be text or a list". */
export function plainWords({ expected }: v.BaseIssue<unknown>): string {
  const expectations = (expected ?? 'something else').replace(/^\(|\)$/g, '').split(' | ')
  const words = expectations.map((one) => wordOf[one] ?? one.replaceAll('"', ''))
  const areNames = expectations.length > 1 && expectations.every((one) => one.startsWith('"'))
  return areNames ? `must be one of ${words.join(', ')}` : `must be ${words.join(' or ')}`
}
