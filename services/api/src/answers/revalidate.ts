// Answers that clients ask for again and again have an ETag; one that has not changed is answered by 304, without a body
// (RFC 9110, section 13.1.2).

import { hash } from 'node:crypto'

/** 304 where If-None-Match names the answer as it is; else the answer, with its ETag. */
export async function revalidate(answer: Response, ifNoneMatch: string | undefined): Promise<Response> {
  const body = await answer.text()
  const etag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  const headers = new Headers(answer.headers)
  headers.set('ETag', etag)
  // The comparison is weak: a proxy that compresses may have made a strong tag weak.
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  if (!known.includes(etag.slice(2)) && !known.includes('*')) return new Response(body, { status: 200, headers })
  headers.delete('Content-Type')
  return new Response(null, { status: 304, headers })
}
