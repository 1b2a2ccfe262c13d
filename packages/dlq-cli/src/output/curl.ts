// `--curl`: the request as a shell command, with $API and $TOKEN in the place of the address and the token.

import { plainJson } from './words.ts'

/** Thrown in the place of an answer; the command ends there. */
export class CurlPrinted extends Error {}

export async function curlOf(request: Request, api: string): Promise<string> {
  const words = ['curl -fsS']
  if (request.method !== 'GET') words.push(`-X ${request.method}`)
  words.push(`"$API"${quoted(request.url.slice(api.length))}`)
  for (const [name, value] of request.headers)
    words.push(name === 'authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`)
  const body = await request.text()
  if (body !== '') words.push(`--data-binary ${quoted(plainJson(body))}`)
  return words.join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
