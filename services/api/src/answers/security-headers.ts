/** On every answer of the API, also to what is no request. Pages of the console have others. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // No cache between us and the client may keep payloads.
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  // No page of another origin may embed what the API answers; those of server.cors_origins read it all the same.
  'Cross-Origin-Resource-Policy': 'same-origin',
}
