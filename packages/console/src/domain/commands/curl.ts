// A request of the page as a curl command, with the caller's own address and token in the place of the session.

export type RequestFacts = { readonly method: string; readonly path: string; readonly body: string | null }

export function curlOf({ method, path, body }: RequestFacts): string {
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === null || body === '' ? [] : ["-H 'Content-Type: application/json'", '-d', quoted(body)]),
    `"$API"${quoted(path)}`,
  ]
  return parts.join(' ')
}

/** For a shell: nothing within single quotation marks means anything but itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
