// AWS's Signature Version 4: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

import { createHash, createHmac } from 'node:crypto'

export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

type Signing = {
  method: 'GET' | 'POST'
  url: URL
  /** With names in lower case; all of them are signed. */
  headers: Readonly<Record<string, string>>
  body: string
  region: string
  service: string
  now: Date
}

/** The headers, with those that the signature adds. */
export function signAws(
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { method, url, headers, body, region, service, now }: Signing,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const signed: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-date': time,
    ...(sessionToken !== null && { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(signed).toSorted()
  const query = [...url.searchParams].map((pair) => pair.map(encode).join('=')).toSorted()
  const request = [
    ...[method, url.pathname, query.join('&')],
    ...names.map((name) => `${name}:${signed[name]!.trim().replace(/ +/g, ' ')}`),
    ...['', names.join(';'), sha256(body)],
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  const key = scope.split('/').reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...signed, authorization }
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
