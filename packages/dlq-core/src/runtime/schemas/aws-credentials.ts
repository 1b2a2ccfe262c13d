// AWS's credentials as its own SDKs find them, in this order: keys in the environment, a web identity (EKS), the
// container's endpoint (ECS, EKS pod identity). Files are read each time, and what expires is asked for again.

import { readFile } from 'node:fs/promises'
import type { AwsCredentials } from './sign-aws.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** There are none, or whoever gives them refuses. */
export class NoCredentials extends Error {}

type Expiring = AwsCredentials & { expiresAt: number }
/** They are asked for again so long before they expire. */
const earlyMs = 5 * 60_000

export function createAwsCredentials(
  env: Environment,
  { region, timeoutMs, now }: { region: string; timeoutMs: number; now: () => number },
): () => Promise<AwsCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (accessKeyId && secretAccessKey) {
    const sessionToken = env.AWS_SESSION_TOKEN || null
    return async () => ({ accessKeyId, secretAccessKey, sessionToken })
  }
  const ask = askerOf(env, { region, timeoutMs })
  let known: Expiring | null = null
  return async () => {
    if (known === null || known.expiresAt - earlyMs <= now()) known = await ask()
    return known
  }
}

function askerOf(
  env: Environment,
  { region, timeoutMs }: { region: string; timeoutMs: number },
): () => Promise<Expiring> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: role } = env
  if (tokenFile && role) {
    const url = env.AWS_ENDPOINT_URL_STS ?? `https://sts.${region}.amazonaws.com/`
    return () => assumeRole({ url, tokenFile, role, session: env.AWS_ROLE_SESSION_NAME ?? 'dlq-manager', timeoutMs })
  }
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
  const url = relative ? `http://169.254.170.2${relative}` : env.AWS_CONTAINER_CREDENTIALS_FULL_URI
  if (url) return () => askContainer(url, env, timeoutMs)
  return async () => {
    throw new NoCredentials(
      'no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the service a role',
    )
  }
}

type Given = { AccessKeyId: string; SecretAccessKey: string; Expiration: string | number }

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
async function assumeRole(asking: {
  url: string
  tokenFile: string
  role: string
  session: string
  timeoutMs: number
}): Promise<Expiring> {
  const { url, tokenFile, role, session, timeoutMs } = asking
  const body = new URLSearchParams({
    ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleArn: role, RoleSessionName: session },
    WebIdentityToken: (await readFile(tokenFile, 'utf8')).trim(),
  })
  const answer = await askJson<{
    AssumeRoleWithWebIdentityResponse: {
      AssumeRoleWithWebIdentityResult: { Credentials: Given & { SessionToken: string } }
    }
  }>(url, { method: 'POST', body, headers: { accept: 'application/json' } }, timeoutMs)
  const { Credentials } = answer.AssumeRoleWithWebIdentityResponse.AssumeRoleWithWebIdentityResult
  return credentialsOf(Credentials, Credentials.SessionToken)
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
async function askContainer(url: string, env: Environment, timeoutMs: number): Promise<Expiring> {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: token } = env
  const authorization = file ? (await readFile(file, 'utf8')).trim() : token
  const headers: Record<string, string> = authorization ? { authorization } : {}
  const given = await askJson<Given & { Token: string }>(url, { headers }, timeoutMs)
  return credentialsOf(given, given.Token)
}

function credentialsOf({ AccessKeyId, SecretAccessKey, Expiration }: Given, sessionToken: string): Expiring {
  const expiresAt = typeof Expiration === 'number' ? Expiration * 1000 : Date.parse(Expiration)
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken, expiresAt }
}

async function askJson<Answer>(url: string, init: RequestInit, timeoutMs: number): Promise<Answer> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  if (!answer.ok)
    throw new NoCredentials(`${new URL(url).host} answered ${answer.status} to the question for credentials`)
  return (await answer.json()) as Answer
}
