// Signing in at an identity provider: code flow with PKCE (RFC 6749, 7636; OpenID Connect Core). What has to be known
// again when the browser comes back is in a sealed cookie of five minutes, so that any replica may answer it.

import type { AuthConfig } from 'dlq-core/runtime/config/auth-schema.ts'
import * as oauth from 'oauth4webapi'
import * as v from 'valibot'
import type { Access } from '../access/access.ts'
import type { Seal } from './seal.ts'

export type Oidc = {
  /** Where the browser goes to sign in, and what it brings back sealed. @throws where the provider does not answer */
  begin(asked: { redirectUri: string; returnTo: string }): Promise<{ location: string; sealed: string }>
  /** Who has signed in, and where they were. */
  finish(came: { query: URLSearchParams; redirectUri: string; sealed: string | undefined }): Promise<SignedIn>
}

/** Why nobody has signed in, as `error` of the page's address has it. */
export type SignInFault = 'expired' | 'refused' | 'no-role' | 'provider'

export type SignedIn = { access: Access; returnTo: string } | { fault: SignInFault; returnTo: string; error?: unknown }

/** How long somebody may take at the provider. */
export const loginSeconds = 300

const purpose = 'login'
const askedSchema = v.object({ state: v.string(), nonce: v.string(), verifier: v.string(), returnTo: v.string() })

export type OidcDeps = {
  auth: AuthConfig
  seal: Seal
  /** From an ID token that was given to this client. @throws {ApiError} 401, 403, or 503 where the keys cannot be read */
  verifyIdToken: (token: string) => Promise<Access>
  now?: () => number
}

/** Null where it is not configured. */
export function createOidc({ auth, seal, verifyIdToken, now = Date.now }: OidcDeps): Oidc | null {
  const { client_id, client_secret, scopes } = auth.oidc
  const { issuer } = auth.jwt
  if (client_id === undefined || issuer === undefined) return null
  const client: oauth.Client = { client_id }
  // Only a provider on this machine, as in development, may do without TLS.
  const isLocal = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])([:/]|$)/i.test(issuer)
  const options = () => ({ [oauth.allowInsecureRequests]: isLocal, signal: AbortSignal.timeout(10_000) })

  // Asked for at the first sign-in: the API starts without the provider.
  let known: oauth.AuthorizationServer | undefined
  async function provider(): Promise<oauth.AuthorizationServer> {
    const url = new URL(issuer!)
    known ??= await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options()))
    return known
  }

  function clientAuth({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer): oauth.ClientAuth {
    if (client_secret === undefined) return oauth.None()
    const takesBasic = methods === undefined || methods.includes('client_secret_basic')
    return takesBasic ? oauth.ClientSecretBasic(client_secret) : oauth.ClientSecretPost(client_secret)
  }

  return {
    async begin({ redirectUri, returnTo }) {
      const server = await provider()
      const [state, nonce, verifier] = [
        oauth.generateRandomState(),
        oauth.generateRandomNonce(),
        oauth.generateRandomCodeVerifier(),
      ]
      const location = new URL(server.authorization_endpoint!)
      const parameters = {
        ...{ client_id, redirect_uri: redirectUri, response_type: 'code', scope: scopes.join(' '), state, nonce },
        ...{ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      }
      for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
      const times = { now: now(), expiresAt: now() + loginSeconds * 1000 }
      return {
        location: location.href,
        sealed: await seal.close(purpose, { state, nonce, verifier, returnTo }, times),
      }
    },

    async finish({ query, redirectUri, sealed }) {
      const asked = v.safeParse(askedSchema, sealed && (await seal.open(purpose, sealed, { now: now() })))
      if (!asked.success) return { fault: 'expired', returnTo: '' }
      const { state, nonce, verifier, returnTo } = asked.output
      try {
        const server = await provider()
        const code = oauth.validateAuthResponse(server, client, query, state)
        const response = await oauth.authorizationCodeGrantRequest(
          ...([server, client, clientAuth(server), code, redirectUri, verifier, options()] as const),
        )
        const { id_token } = await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        })
        return { access: await verifyIdToken(id_token!), returnTo }
      } catch (error) {
        return { fault: faultOf(error), returnTo, error }
      }
    },
  }
}

function faultOf(error: unknown): SignInFault {
  if (error instanceof oauth.AuthorizationResponseError) return 'refused'
  const code = (error as { code?: unknown }).code
  return code === 'SYS_DLQ_FORBIDDEN' ? 'no-role' : 'provider'
}
